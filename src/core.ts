import type { Installation } from './bootstrap.ts'
import { type Config, defaultBaseUrl } from './config/config.ts'
import type { Log } from './lib/log.ts'
import { hmac } from './lib/secrets.ts'
import { type Clock, systemClock } from './lib/time.ts'
import { disconnectAllIn } from './oauth/disconnection.ts'
import { createOAuth } from './oauth/oauth.ts'
import { createAccessTokens } from './sessions/access-token.ts'
import { createSecretRotation } from './sessions/secret-rotation.ts'
import { createSessions } from './sessions/sessions.ts'
import { createSigningKeys } from './sessions/signing-keys.ts'
import { siteNames } from './users/password-names.ts'
import { createPasswordRules } from './users/password-rules.ts'
import { createPasswords } from './users/passwords.ts'
import { createUsers } from './users/users.ts'
import { createWebhooks, type WebhookSettings } from './webhooks/webhooks.ts'

interface Options {
  clock?: Clock
  /** Hears of each password hash. */
  onHash?: Parameters<typeof createPasswords>[0]['onHash']
  /** Hears of each attempt to deliver a webhook. */
  onDelivery?: Parameters<typeof createWebhooks>[0]['onOutcome']
}

const DEFAULT_AUDIENCE = 'app'

/** The rules without HTTP: what the service and the command line share. */
export const createCore = (
  config: Config,
  log: Log,
  { db, rootSecret }: Installation,
  { clock = systemClock, onHash, onDelivery }: Options = {},
) => {
  const baseUrl = config.baseUrl ?? defaultBaseUrl(config.port)
  const { audiences } = config

  const keys = createSigningKeys({ db, clock, rootSecret, accessTokenLifetimeMs: config.accessTokenLifetimeMs })
  const secretRotation = createSecretRotation({ db, clock, rootSecret, keys })
  const accessTokens = createAccessTokens({ clock, issuer: baseUrl, audiences })
  const sessions = createSessions({
    db,
    log,
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
    onOutcome: onDelivery,
  })
  const passwords = createPasswords({
    atOnce: config.hashesAtOnce,
    waiting: config.hashQueue,
    onHash,
  })
  /** What accounts have to do with sessions, in the transaction of an action. */
  const sessionRules = {
    endSessions: sessions.endAllIn,
    requireSession: sessions.requireIn,
    requireFreshSession: sessions.requireFreshIn,
    userChanged: sessions.userChanged,
  }
  const users = createUsers({
    db,
    clock,
    passwords,
    announce: webhooks.announce,
    requireGoodPassword: createPasswordRules(siteNames(baseUrl, config.appName)),
    disconnectProviders: disconnectAllIn,
    ...sessionRules,
  })
  const oauth = createOAuth({
    db,
    clock,
    rootSecret,
    baseUrl,
    users,
    signupOpen: config.signup,
    providers: config.oauthProviders,
    timeoutMs: config.oauthTimeoutMs,
    ...sessionRules,
  })
  /** Sixteen hexadecimal digits that stand for an email in the log: only the root secret leads from one to the other. */
  const pseudonymOf = (email: string): string =>
    hmac(rootSecret.keys.for('emails in the log'), email.trim().toLowerCase(), 'hex').slice(0, 16)
  return { baseUrl, clock, db, keys, oauth, passwords, pseudonymOf, secretRotation, sessions, users, webhooks }
}

export type Core = ReturnType<typeof createCore>

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
