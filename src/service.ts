import { type Config, defaultBaseUrl } from './config.ts'
import { createHousekeeping } from './housekeeping.ts'
import { createRateLimits } from './http/rate-limit.ts'
import type { Installation } from './installation.ts'
import { AppError } from './lib/errors.ts'
import type { Log } from './lib/log.ts'
import { createNetworkCheck } from './lib/network.ts'
import { randomToken } from './lib/secrets.ts'
import { type Clock, systemClock } from './lib/time.ts'
import type { Metrics } from './metrics/metrics.ts'
import type { Snapshot } from './metrics/registry.ts'
import { createAccessTokens } from './sessions/access-token.ts'
import { deleteExpiredSessions } from './sessions/expiry.ts'
import { createSessions } from './sessions/sessions.ts'
import { createSigningKeys } from './sessions/signing-keys.ts'
import { takeLease } from './storage/leases.ts'
import { createPasswords } from './users/passwords.ts'
import { createUsers } from './users/users.ts'
import { readVersion } from './version.ts'
import { createWebhooks, type WebhookSettings } from './webhooks/webhooks.ts'

/** What tests replace. */
export interface Overrides {
  clock?: Clock
}

interface Observed {
  /** Undefined: nobody counts. */
  metrics?: Metrics | undefined
}

const DEFAULT_AUDIENCE = 'app'
/** How long a stop waits for requests and deliveries that are under way. */
const STOP_PATIENCE_MS = 7000

/** The rules without HTTP: what the service and the command line share. */
export const createDomain = (
  config: Config,
  log: Log,
  { db, rootSecret }: Installation,
  { clock = systemClock, metrics }: Overrides & Observed = {},
) => {
  const baseUrl = config.baseUrl ?? defaultBaseUrl(config.port)
  const { audiences } = config

  const keys = createSigningKeys({ db, clock, rootSecret, accessTokenLifetimeMs: config.accessTokenLifetimeMs })
  const accessTokens = createAccessTokens({ clock, issuer: baseUrl, audiences })
  const sessions = createSessions({
    db,
    clock,
    keys,
    accessTokens,
    rootSecret,
    defaultAudience: audiences[0] ?? DEFAULT_AUDIENCE,
    lifetimes: {
      accessTokenMs: config.accessTokenLifetimeMs,
      sessionMs: config.sessionLifetimeMs,
      idleMs: config.sessionIdleMs,
      graceMs: config.refreshGraceMs,
    },
  })
  const webhooks = createWebhooks({
    db,
    clock,
    log,
    settings: webhookSettings(config),
    retentionMs: config.webhookRetentionMs,
    onOutcome: metrics?.countDelivery,
  })
  const passwords = createPasswords({
    atOnce: config.hashesAtOnce,
    waiting: config.hashQueue,
    onHash: metrics?.observeHash,
  })
  const users = createUsers({
    db,
    clock,
    passwords,
    announce: webhooks.announce,
    endSessions: async (transaction, userId, exceptId) => {
      await sessions.endAllIn(transaction, userId, exceptId)
    },
    requireSession: sessions.requireIn,
    userChanged: sessions.userChanged,
  })
  return { baseUrl, clock, db, keys, passwords, sessions, users, webhooks }
}

export type Domain = ReturnType<typeof createDomain>

/** The whole service, not yet listening. */
export const createService = async (
  config: Config,
  log: Log,
  installation: Installation,
  overrides: Overrides = {},
) => {
  const metrics = await loadMetrics(config, log)
  const domain = createDomain(config, log, installation, { ...overrides, metrics })
  const { baseUrl, clock, db, keys, webhooks } = domain
  let isStopping = false

  await keys.prepare()
  // Only now: the command line, which never serves, starts twice as fast without.
  const [{ createServer }, { createClosing }, { createPages }] = await Promise.all([
    import('./http/server.ts'),
    import('./http/closing.ts'),
    import('./pages/pages.ts'),
  ])
  const server = createServer({
    ...domain,
    audiences: config.audiences,
    signupOpen: config.signup,
    isTrustedProxy: createNetworkCheck(config.trustProxy),
    log,
    pages: createPages({
      appName: config.appName ?? new URL(baseUrl).hostname,
      logoUrl: config.logoUrl,
      accentColor: config.accentColor,
    }),
    limits: createRateLimits({ clock, enabled: config.rateLimit, onRefusal: metrics?.countLimited }),
    meter: metrics,
    version: readVersion(),
    isStopping: () => isStopping,
    async requireReady() {
      if (isStopping) throw new AppError('unavailable', 'The service is stopping.', { retryAfterSeconds: 1 })
      await db.requireHealthy()
    },
  })
  const closing = createClosing(server)
  const housekeeping = createHousekeeping({
    log,
    intervalMs: config.cleanupIntervalMs,
    reserve: createReservation(db, clock),
    ...(metrics && { onDeleted: metrics.countDeleted }),
    chores: [
      {
        name: 'sessions',
        run: () =>
          deleteExpiredSessions({ db, clock, shortestMs: Math.min(config.sessionIdleMs, config.sessionLifetimeMs) }),
      },
      { name: 'webhook events', run: webhooks.deleteOld },
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
      const address = await server.listen(placeOf(config, sharesPort))
      webhooks.start()
      housekeeping.start()
      return address
    },

    /** What this process has counted; undefined where nobody counts. */
    measure: async (): Promise<Snapshot | undefined> => metrics?.snapshot(),

    /** Says that it is not ready, finishes what was begun, closes the database. */
    async stop(drainMs = config.drainMs): Promise<void> {
      isStopping = true
      await closing.drain(drainMs)
      await Promise.all([closing.close(STOP_PATIENCE_MS), webhooks.stop(STOP_PATIENCE_MS), housekeeping.stop()])
      await metrics?.stop()
      await db.close()
    },
  }
}

/** Nothing of it is loaded where nobody asks for it. */
const loadMetrics = async ({ host, metricsPort }: Config, log: Log): Promise<Metrics | undefined> => {
  if (metricsPort === undefined) return undefined
  const { createMetrics } = await import('./metrics/metrics.ts')
  return createMetrics({ version: readVersion(), log, host, port: metricsPort })
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

const webhookSettings = (config: Config): WebhookSettings | undefined =>
  config.webhookUrl && config.webhookSecret
    ? {
        url: config.webhookUrl,
        secret: config.webhookSecret,
        enabledEvents: config.webhookEvents,
        timeoutMs: config.webhookTimeoutMs,
        maxAttempts: config.webhookMaxAttempts,
      }
    : undefined
