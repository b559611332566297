import type { Installation } from './bootstrap.ts'
import { createCleanup } from './cleanup.ts'
import type { Config } from './config/config.ts'
import { createCore } from './core.ts'
import { createRateLimits } from './http/rate-limit.ts'
import { AppError } from './lib/errors.ts'
import type { Log } from './lib/log.ts'
import { createNetworkCheck } from './lib/network.ts'
import { randomToken } from './lib/secrets.ts'
import { type Clock, monotonicClock, within } from './lib/time.ts'
import { readVersion } from './lib/version.ts'
import type { Metrics } from './metrics/metrics.ts'
import type { Snapshot } from './metrics/registry.ts'
import { deleteExpiredSessions } from './sessions/expiry.ts'
import { takeLease } from './storage/leases.ts'

/** What tests replace. */
export interface Overrides {
  clock?: Clock
}

/** How often a file with the root secret is looked at; besides, it is when something comes that nobody here has made. */
const POLL_SECRET_EVERY_MS = 5000

/** How long a stop waits for requests and deliveries that are under way. */
const STOP_PATIENCE_MS = 7000

/** The whole service, not yet listening. */
export const createService = async (
  config: Config,
  log: Log,
  installation: Installation,
  overrides: Overrides = {},
) => {
  const metrics = await loadMetrics(config, log)
  const domain = createCore(config, log, installation, {
    ...overrides,
    onHash: metrics?.observeHash,
    onDelivery: metrics?.countDelivery,
  })
  const { baseUrl, clock, db, keys, webhooks } = domain
  let isStopping = false
  let secretTimer: NodeJS.Timeout | undefined

  await keys.prepare()
  // Only now: the command line, which never serves, starts twice as fast without.
  const [{ createServer }, { listen }, { createGracefulShutdown: createClosing }, { createPages }] = await Promise.all([
    import('./http/server.ts'),
    import('./http/transport/listen.ts'),
    import('./http/transport/graceful-shutdown.ts'),
    import('./pages/pages.ts'),
  ])
  const pages = createPages({
    appName: config.appName ?? new URL(baseUrl).hostname,
    logoUrl: config.logoUrl,
    accentColor: config.accentColor,
    providers: providerTargets(config, baseUrl),
  })
  const server = createServer({
    ...domain,
    rootSecret: installation.rootSecret,
    cookiePrefix: config.cookiePrefix,
    isBaseUrlSet: config.baseUrl !== undefined,
    audiences: config.audiences,
    signupOpen: config.signup,
    isTrustedProxy: createNetworkCheck(config.trustProxy),
    log,
    pages,
    providers: domain.oauth.providers.map((it) => ({ ...it, iconUrl: it.iconUrl ?? pages.iconOf(it.name) })),
    limits: createRateLimits({ clock: monotonicClock, enabled: config.rateLimit, onRefusal: metrics?.countLimited }),
    hstsMs: config.hstsMs,
    maxConnections: config.maxConnections,
    requestMetrics: metrics,
    isStopping: () => isStopping,
    async requireReady() {
      if (isStopping)
        throw new AppError('unavailable', 'The service is stopping.', { reason: 'stopping', retryAfterSeconds: 1 })
      await db.requireHealthy()
    },
  })
  const closing = createClosing(server)
  const housekeeping = createCleanup({
    log,
    intervalMs: config.cleanupIntervalMs,
    reserve: createReservation(db, clock),
    ...(metrics && { onDeleted: metrics.countDeleted }),
    jobs: [
      {
        name: 'sessions',
        run: () =>
          deleteExpiredSessions({ db, clock, shortestMs: Math.min(config.sessionIdleMs, config.sessionLifetimeMs) }),
      },
      { name: 'replaced sessions', run: domain.sessions.deleteReplaced },
      { name: 'webhook events', run: webhooks.deleteOld },
      { name: 'provider sign-ins', run: domain.oauth.deleteOldStates },
      { name: 'signing keys', run: keys.deleteRetired },
    ],
  })
  metrics?.readFrom({
    hashQueue: domain.passwords.load,
    database: {
      requireHealthy: () => db.requireHealthy(),
      poolLoad: () => db.poolLoad?.(),
      outbox: webhooks.load,
    },
  })

  return {
    /** Resolves to the address it listens on, as a URL. A worker of a supervisor shares its port with the others. */
    async start({ sharesPort = false } = {}): Promise<string> {
      // Of several workers, the supervisor answers for all.
      if (!sharesPort) await metrics?.start()
      const address = await listen(server, placeOf(config, sharesPort))
      secretTimer = setInterval(installation.rootSecret.refresh, POLL_SECRET_EVERY_MS).unref()
      webhooks.start()
      housekeeping.start()
      return address
    },

    /** What this process has counted; undefined where nobody counts. */
    measure: async (): Promise<Snapshot | undefined> => metrics?.snapshot(),

    /** Says that it is not ready, finishes what was begun, closes the database. */
    async stop(drainMs = config.drainMs): Promise<void> {
      isStopping = true
      clearInterval(secretTimer)
      await closing.drain(drainMs)
      // A database that answers nobody must not hold up the end for as long as its own limits allow.
      const ends = [closing.close(STOP_PATIENCE_MS), webhooks.stop(STOP_PATIENCE_MS), housekeeping.stop()]
      await within(STOP_PATIENCE_MS, Promise.all(ends), undefined)
      await metrics?.stop()
      await db.close()
    },
  }
}

/**
 * Where a button that leads to a provider may end. Providers send browsers on to hosts that nobody here knows; over plain
 * http there are only those for trying things out, and the way back to a page that was opened under another name.
 */
const providerTargets = ({ oauthProviders }: Config, baseUrl: string) => {
  const plainOrigins = [baseUrl, ...oauthProviders.map(({ issuer }) => new URL(issuer).origin)].filter(isPlain)
  return {
    iconUrls: oauthProviders.flatMap(({ iconUrl }) => iconUrl ?? []),
    formActions: oauthProviders.length === 0 ? [] : ['https:', ...new Set(plainOrigins)],
  }
}

const isPlain = (origin: string): boolean => origin.startsWith('http:')

/** Nothing of it is loaded where nobody asks for it. */
const loadMetrics = async (
  { metricsHost, metricsPort, oauthProviders }: Config,
  log: Log,
): Promise<Metrics | undefined> => {
  if (metricsPort === undefined) return undefined
  const { createMetrics } = await import('./metrics/metrics.ts')
  const providers = oauthProviders.map(({ name }) => name)
  return createMetrics({ version: readVersion(), log, host: metricsHost, port: metricsPort, providers })
}

/** Reserves chores for this process, under a name that no other has. */
const createReservation = (db: Installation['db'], clock: Clock) => {
  const holder = randomToken(9)
  return (name: string, forMs: number): Promise<boolean> =>
    takeLease(db, { name, holder, nowMs: clock.now(), untilMs: clock.now() + forMs })
}

/** On Linux each worker has a socket of its own, and the kernel deals out connections; elsewhere all have one socket. */
const placeOf = ({ host, port }: Config, sharesPort: boolean) =>
  sharesPort && process.platform === 'linux' ? { host, port, reusePort: true } : { host, port }
