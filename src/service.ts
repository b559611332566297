import { randomUUIDv7 } from 'node:crypto'
import { hostname } from 'node:os'
import type { Server } from 'node:http'
import type { Idempotency } from './api-keys/idempotency.ts'
import type { Bootstrapped } from './bootstrap.ts'
import type { Config } from './config/config.ts'
import { frameSettings } from './config/subject-settings.ts'
import type { Inspection } from './config/shown-settings.ts'
import { type Core, type CoreDeps, createCore } from './core.ts'
import type { OriginAdmin } from './admin/origin-admin.ts'
import type { ServerDeps } from './http/services.ts'
import { AppError } from './lib/errors.ts'
import type { Log } from './lib/log.ts'
import { createJobs, createUpkeep, type Serving } from './jobs.ts'
import { createNetworkCheck } from './lib/network.ts'
import { type Clock, withTimeout } from './lib/time.ts'
import { readVersion } from './lib/version.ts'
import type { Metrics } from './metrics/metrics.ts'
import { onDemand } from './lib/on-demand.ts'
import type { SiteFrame } from './web/site/frame.ts'
import type { Layout } from './web/site/layout.ts'
import { forgetReplica, noteReplica } from './storage/replicas.ts'

interface ServiceDeps extends Bootstrapped, Pick<CoreDeps, 'hashCost' | 'fetchFrom'> {
  config: Config
  log: Log
  /** Administrators see this; the pages are without it where svc does not run as a command. */
  inspection?: Inspection | undefined
  /** Tests turn it. */
  clock?: Clock | undefined
}

/** The service is a process that serves: the core with HTTP, metrics and cleanup around it. */
export interface Service {
  core: Core
  /** All pages have this layout. */
  layout: Layout
  /** Handles requests: those of its own connections, and those that are handed to it. */
  server: Server
  /** Begins to serve, and to listen unless something else hands it requests; resolves to the address as a URL. */
  start(begin?: () => Promise<string>): Promise<string>
  /** Reports that it is not ready, finishes the requests under way, and closes the database. */
  stop(drainMs?: number): Promise<void>
}

/**
 * The file with the root secret is looked at this often, and when a token comes that no known root secret has made.
 */
const POLL_SECRET_EVERY_MS = 5000

/** A stop waits so long for requests and deliveries that are under way. */
const STOP_PATIENCE_MS = 7000

/** A stop waits so long for a message: one that is cut off is stored, so that another process sends it at once. */
const MAIL_PATIENCE_MS = 5000

/** Operators see how long ago each process has said that it serves. */
const NOTE_REPLICA_EVERY_MS = 60_000

/** This long after the start, the modules that it has left out are loaded. */
const PRELOAD_AFTER_MS = 1000

/** Creates the whole service, which does not listen yet. */
export const createService = async ({
  config,
  log,
  clock,
  hashCost,
  fetchFrom,
  inspection,
  ...bootstrapped
}: ServiceDeps): Promise<Service> => {
  const { db, rootSecret } = bootstrapped
  const metrics = await loadMetrics(config, log)
  const stopping = new AbortController()
  const isStopping = (): boolean => stopping.signal.aborted
  const core = createCore({
    config,
    log,
    ...bootstrapped,
    stopping: stopping.signal,
    clock,
    hashCost,
    fetchFrom,
    onHash: metrics?.observeHash,
    onDelivery: metrics?.countDelivery,
    onMail: metrics?.countMail,
    onCode: metrics?.countCode,
    onRecord: metrics?.countRecord,
    onLimited: metrics?.countLimited,
    onTokens: metrics?.countTokens,
    onReaders: metrics?.showReaders,
    onLag: metrics?.observeLag,
  })
  await core.signingKeys.prepare()
  // They are loaded only now: the command line, which never serves, starts twice as fast without them.
  const [{ createServer }, { createApplication }, { listen }, { createGracefulShutdown }, { createFrame }] =
    await Promise.all([
      import('./http/server.ts'),
      import('./web/routes.ts'),
      import('./http/transport/listen.ts'),
      import('./http/transport/graceful-shutdown.ts'),
      import('./web/site/frame.ts'),
    ])
  const idempotency: Idempotency = onDemand(
    async () => {
      const { createIdempotency } = await import('./api-keys/idempotency.ts')
      return createIdempotency({ db, clock: core.clock, rootSecret })
    },
    'begin',
    'deleteExpired',
  )
  const serving = { config, log, core, metrics, idempotency }
  const frame = createFrame({ ...frameSettings(config, core.baseUrl), languages: core.languages })
  let secretTimer: NodeJS.Timeout | undefined
  let preloadTimer: NodeJS.Timeout | undefined
  const replica = createReplicaMark({ db, clock: core.clock })
  let resealing = Promise.resolve()
  const { server, preload } = createServer(
    {
      ...serverDeps(serving, frame),
      rootSecret,
      isStopping,
      async requireReady() {
        if (isStopping())
          throw new AppError('unavailable', 'The service is stopping.', { reason: 'stopping', retryAfterSeconds: 1 })
        await db.requireHealthy()
      },
    },
    createApplication(frame),
  )

  const admin = await loadAdmin({ config, log, core, inspection, isStopping })
  const shutdowns = [createGracefulShutdown(server), ...(admin ? [admin] : [])]
  const cleanup = createJobs(serving)
  const upkeep = createUpkeep(serving, isStopping)
  metrics?.readFrom({
    hashQueue: core.passwords.load,
    requireHealthy: () => db.requireHealthy(),
    poolLoad: () => db.poolLoad?.(),
    outbox: core.webhooks.load,
    mail: core.mail.load,
  })

  const stopClients = async (): Promise<void> => {
    if (config.clients) await (await core.loadClients()).logoutSender.stop(STOP_PATIENCE_MS)
  }

  return {
    core,
    layout: frame.layout,
    server,

    async start(begin = () => listen(server, config)) {
      await metrics?.start()
      const address = await begin()
      await admin?.start()
      secretTimer = setInterval(rootSecret.refresh, POLL_SECRET_EVERY_MS).unref()
      // The request that needs a module tries again if it could not be loaded.
      preloadTimer = setTimeout(() => preload().catch(() => {}), PRELOAD_AFTER_MS).unref()
      replica.start()
      if (rootSecret.hasPrevious) resealing = resealSecrets(core, log)
      await core.webhooks.start()
      await core.mail.start()
      if (config.clients) await startClients(core)
      cleanup.start()
      upkeep.start()
      return address
    },

    async stop(drainMs = config.drainMs) {
      stopping.abort()
      clearInterval(secretTimer)
      clearTimeout(preloadTimer)
      await Promise.all(shutdowns.map((shutdown) => shutdown.drain(drainMs)))
      // A database that does not answer must not hold up the end for as long as its own timeouts allow.
      const ends = [
        ...shutdowns.map((shutdown) => shutdown.close(STOP_PATIENCE_MS)),
        core.webhooks.stop(STOP_PATIENCE_MS),
        core.mail.stop(MAIL_PATIENCE_MS),
        stopClients(),
        cleanup.stop(),
        replica.stop(),
        upkeep.stop(),
        core.audit.flush(),
        resealing,
      ]
      await withTimeout(STOP_PATIENCE_MS, Promise.all(ends), undefined)
      await metrics?.stop()
      await db.close()
    },
  }
}

const NO_INSPECTION: Inspection = { listSettings: () => Promise.resolve([]), examine: () => Promise.resolve([]) }

interface AdminGiven extends Pick<ServiceDeps, 'config' | 'log' | 'inspection'> {
  core: Core
  isStopping: () => boolean
}

/** Loads the pages of administrators, unless they are off. */
const loadAdmin = async ({ inspection = NO_INSPECTION, ...given }: AdminGiven): Promise<OriginAdmin | undefined> => {
  const { adminUrl, adminPort: port } = given.config
  if (adminUrl === undefined || port === undefined) return undefined
  const { createOriginAdmin } = await import('./admin/origin-admin.ts')
  return createOriginAdmin({ ...given, inspection, adminUrl, port })
}

/** Leaves the mark of this process in the database, for as long as it serves. A failure is told by other things. */
const createReplicaMark = ({ db, clock }: Pick<Core, 'db' | 'clock'>) => {
  const mark = { id: randomUUIDv7(), version: readVersion(), host: hostname(), startedAtMs: clock.now() }
  const note = (): void => void noteReplica(db, mark, clock.now()).catch(() => {})
  let timers: NodeJS.Timeout[] = []
  return {
    start() {
      timers = [setTimeout(note, PRELOAD_AFTER_MS).unref(), setInterval(note, NOTE_REPLICA_EVERY_MS).unref()]
    },
    async stop() {
      for (const timer of timers) clearTimeout(timer)
      await forgetReplica(db, mark).catch(() => {})
    },
  }
}

const startClients = async ({ loadClients }: Core): Promise<void> => {
  const { logoutSender, registry } = await loadClients()
  await registry.disableLeft()
  logoutSender.start()
}

/** Seals the values under the previous root secret with that of today, while the service answers requests. */
const resealSecrets = async ({ secretRotation }: Core, log: Log): Promise<void> => {
  try {
    const count = await secretRotation.reseal()
    if (count > 0) log.info({ count }, 'secrets of authenticator apps were sealed with the new root secret')
  } catch (error) {
    log.warn({ err: error }, 'secrets of authenticator apps are not sealed with the new root secret yet')
  }
}

/** Collects the parts that HTTP is handed, and those that change while the service runs. */
const serverDeps = ({ config, log, core, metrics, idempotency }: Serving, frame: SiteFrame) =>
  ({
    ...core,
    idempotency,
    cookiePrefix: config.cookiePrefix,
    isBaseUrlSet: config.baseUrl !== undefined,
    homeUrl: config.homeUrl,
    afterSignupUrl: config.afterSignupUrl,
    audiences: config.audiences,
    clientResources: config.clientResources,
    hasClients: config.clients,
    clientsRegister: config.clientRegistration,
    signup: config.signup,
    usernames: config.usernames,
    loginWith: config.loginWith,
    names: config.names,
    passwords: config.passwords,
    emailSignIn: config.emailSignIn,
    secondFactorMode: config.secondFactor,
    isTrustedProxy: createNetworkCheck(config.trustProxy),
    log,
    frame,
    providers: core.oauth.providers.map((it) => ({ ...it, iconUrl: it.iconUrl ?? frame.iconOf(it.name) })),
    hstsMs: config.hstsMs,
    maxConnections: config.maxConnections,
    requestMetrics: metrics,
  }) satisfies Omit<ServerDeps, 'rootSecret' | 'isStopping' | 'requireReady'>

/** Loads the library, unless metrics are off. */
const loadMetrics = async (
  { metricsHost, metricsPort, oauthProviders, clients, adminPort }: Config,
  log: Log,
): Promise<Metrics | undefined> => {
  if (metricsPort === undefined) return undefined
  const { createMetrics } = await import('./metrics/metrics.ts')
  const providers = oauthProviders.map(({ name }) => name)
  const has = { clients, administration: adminPort !== undefined }
  return createMetrics({ version: readVersion(), log, host: metricsHost, port: metricsPort, providers, ...has })
}
