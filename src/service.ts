import { setTimeout } from 'node:timers/promises'
import { promisify } from 'node:util'
import { type Config, defaultBaseUrl } from './config.ts'
import { createHousekeeping } from './housekeeping.ts'
import { createRateLimits } from './http/rate-limit.ts'
import type { Installation } from './installation.ts'
import { AppError } from './lib/errors.ts'
import type { Log } from './lib/log.ts'
import { createNetworkCheck } from './lib/network.ts'
import { type Clock, systemClock } from './lib/time.ts'
import { createAccessTokens } from './sessions/access-token.ts'
import { deleteExpiredSessions } from './sessions/expiry.ts'
import { createSessions } from './sessions/sessions.ts'
import { createSigningKeys } from './sessions/signing-keys.ts'
import { createPasswords } from './users/passwords.ts'
import { createUsers } from './users/users.ts'
import { readVersion } from './version.ts'
import { createWebhooks, type WebhookSettings } from './webhooks/webhooks.ts'

/** What tests replace. */
export interface Overrides {
  clock?: Clock
}

const DEFAULT_AUDIENCE = 'app'
/** How long a stop waits for requests and deliveries that are under way. */
const STOP_PATIENCE_MS = 7000

type HttpServer = ReturnType<typeof import('./http/server.ts').createServer>

/** The rules without HTTP: what the service and the command line share. */
export const createDomain = (
  config: Config,
  log: Log,
  { db, rootSecret }: Installation,
  { clock = systemClock }: Overrides = {},
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
  })
  const users = createUsers({
    db,
    clock,
    passwords: createPasswords({ atOnce: config.hashesAtOnce, waiting: config.hashQueue }),
    announce: webhooks.announce,
    endSessions: async (transaction, userId, exceptId) => {
      await sessions.endAllIn(transaction, userId, exceptId)
    },
    requireSession: sessions.requireIn,
    userChanged: sessions.userChanged,
  })
  return { baseUrl, clock, db, keys, sessions, users, webhooks }
}

export type Domain = ReturnType<typeof createDomain>

/** The whole service, not yet listening. */
export const createService = async (
  config: Config,
  log: Log,
  installation: Installation,
  overrides: Overrides = {},
) => {
  const domain = createDomain(config, log, installation, overrides)
  const { baseUrl, clock, db, keys, webhooks } = domain
  let isStopping = false

  await keys.prepare()
  // Only now: the command line, which never serves, starts twice as fast without.
  const [{ createServer }, { createPages }] = await Promise.all([
    import('./http/server.ts'),
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
    limits: createRateLimits({ clock, enabled: config.rateLimit }),
    version: readVersion(),
    isStopping: () => isStopping,
    async requireReady() {
      if (isStopping) throw new AppError('unavailable', 'The service is stopping.', { retryAfterSeconds: 1 })
      await db.requireHealthy()
    },
  })
  const housekeeping = createHousekeeping({
    log,
    intervalMs: config.cleanupIntervalMs,
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

  return {
    /** Resolves to the address it listens on, as a URL. */
    async start(): Promise<string> {
      const address = await server.listen({ host: config.host, port: config.port })
      webhooks.start()
      housekeeping.start()
      return address
    },

    /** Says that it is not ready, finishes what was begun, closes the database. */
    async stop(): Promise<void> {
      isStopping = true
      await drain(server, config.drainMs)
      await Promise.all([closeServer(server), webhooks.stop(STOP_PATIENCE_MS), housekeeping.stop()])
      await db.close()
    },
  }
}

/** Whoever has a connection may use it once more, and learns that it was the last time. */
const drain = async ({ server }: HttpServer, drainMs: number): Promise<void> => {
  const connections = await promisify(server.getConnections.bind(server))()
  if (connections > 0) await setTimeout(drainMs)
}

const closeServer = async (app: HttpServer): Promise<void> => {
  const impatience = AbortSignal.timeout(STOP_PATIENCE_MS)
  const cutOff = () => app.server.closeAllConnections()
  impatience.addEventListener('abort', cutOff)
  await app.close()
  impatience.removeEventListener('abort', cutOff)
}

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
