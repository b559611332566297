import { availableParallelism } from 'node:os'
import type { AuditType } from './audit/audit-event.ts'
import { type Audit, createAudit, type OwnActor } from './audit/audit.ts'
import type { Bootstrapped } from './bootstrap.ts'
import { deleteKnownBrowsers, endTrust } from './sign-in/known-browser-store.ts'
import { createKnownBrowsers, type KnownBrowsers } from './sign-in/known-browsers.ts'
import { appNameOf, type Config, defaultBaseUrl } from './config/config.ts'
import { foreignHashBytes } from './config/hash-memory.ts'
import { type CoreOnDemand, createCoreOnDemand } from './core-on-demand.ts'
import { loginAudience } from './lib/audience.ts'
import type { Log } from './lib/log.ts'
import { onDemand } from './lib/on-demand.ts'
import { hmac } from './lib/secrets.ts'
import { type Clock, systemClock } from './lib/time.ts'
import type { LimitName } from './limits/limit-table.ts'
import { createAccountKey } from './limits/account-key.ts'
import { createLimits, type Limits } from './limits/limits.ts'
import { createMail, type Mail, type MailOutcome } from './mail/mail.ts'
import type { MailSettings } from './mail/mail-settings.ts'
import { disconnectSince } from './oauth/disconnection.ts'
import { lockIdentity } from './oauth/identity-store.ts'
import { createOAuth, type OAuth } from './oauth/oauth.ts'
import { createLinks } from './links/issued-links.ts'
import { createMailLimits } from './links/mail-limits.ts'
import { createNotify } from './links/notices.ts'
import { createRecovery, type Recovery } from './links/links.ts'
import { createPendingSignIns, type PendingSignIns } from './sign-in/pending-sign-ins.ts'
import type { CodeOutcome } from './second-factor/code-outcome.ts'
import { deletePasskeysSince } from './passkeys/passkey-store.ts'
import { deleteCodesSince } from './second-factor/second-factor-store.ts'
import { createFactorLookup } from './second-factor/account-factors.ts'
import { trustsFactor } from './oauth/provider-factor.ts'
import { createSecondFactors, type SecondFactors } from './second-factor/second-factors.ts'
import { forgetWrongCodes } from './second-factor/wrong-code-store.ts'
import { createSigningKeys, type SigningKeys } from './sessions/keys/signing-keys.ts'
import { createSessions, type Sessions } from './sessions/sessions.ts'
import { createAccessTokens } from './sessions/tokens/access-token.ts'
import { createSigner } from './sessions/tokens/signer.ts'
import { createEmailDomains, type EmailDomains } from './accounts/email-domains.ts'
import type { Notify } from './accounts/account-notice.ts'
import { createMakeInvited } from './accounts/invitable-account.ts'
import { createEnterInvited } from './accounts/invited-account.ts'
import { createSecurityEvents } from './accounts/security-events.ts'
import { createTakeOver } from './accounts/take-over.ts'
import { endPendingSignIns, endPendingSignInsAfter } from './accounts/sign-in-generation-store.ts'
import { siteNames } from './accounts/passwords/password-names.ts'
import { createPasswordRules } from './accounts/passwords/password-rules.ts'
import { createPasswords, type HashCost, type Passwords } from './accounts/passwords/passwords.ts'
import { createHasPassword } from './accounts/passwords/usable-password.ts'
import { findUserId } from './accounts/user-store.ts'
import { createUsers, type Users } from './accounts/accounts.ts'
import { createMarkVerified } from './accounts/verified-email.ts'
import { createWebhooks, type DeliveryOutcome, type WebhookSettings, type Webhooks } from './webhooks/webhooks.ts'

export interface CoreDeps extends Pick<Bootstrapped, 'db' | 'rootSecret'>, Partial<Pick<Bootstrapped, 'sideThread'>> {
  config: Config
  log: Log
  clock?: Clock | undefined
  /** Who acts where no request does; the service itself, if left out. */
  actor?: OwnActor | undefined
  /** Where records become lines, if it is another log. */
  auditLog?: Log | undefined
  /** Tests that are not about hashes lower it. */
  hashCost?: HashCost | undefined
  /** Called after each password hash with the seconds that it took, its wait not counted. */
  onHash?: ((seconds: number) => void) | undefined
  /** Called after each attempt to deliver a webhook. */
  onDelivery?: ((outcome: DeliveryOutcome) => void) | undefined
  /** Called with what became of each message. */
  onMail?: ((outcome: MailOutcome) => void) | undefined
  /** Called with how each check of a one-time or recovery code has ended. */
  onCode?: ((outcome: CodeOutcome) => void) | undefined
  /** Called with what was recorded, and how often. */
  onRecord?: ((type: AuditType, count: number) => void) | undefined
  /** Called with the limit that has refused a try. */
  onLimited?: ((limit: LimitName) => void) | undefined
}

/** The rules without HTTP: what a service and the command line share. */
export interface Core extends Pick<Bootstrapped, 'db'>, CoreOnDemand {
  clock: Clock
  audit: Audit
  /** The public origin of the service, such as `https://example.com`. */
  baseUrl: string
  users: Users
  emailDomains: EmailDomains
  passwords: Passwords
  sessions: Sessions
  signingKeys: SigningKeys
  oauth: OAuth
  secondFactors: SecondFactors
  limits: Limits
  mail: Mail
  recovery: Recovery
  notify: Notify
  knownBrowsers: KnownBrowsers
  pendingSignIns: PendingSignIns
  webhooks: Webhooks
  /**
   * Sixteen hexadecimal digits that stand for an email in the log: only the root secret leads from one to the other.
   */
  pseudonymOf(email: string): string
}

/** Wires the subjects of the domain together. Starts nothing: no timer, no connection. */
export const createCore = (deps: CoreDeps): Core => {
  const {
    config,
    log,
    db,
    rootSecret,
    sideThread,
    clock = systemClock,
    actor = 'system',
    auditLog = log,
    hashCost,
    onHash,
    onDelivery,
    onMail,
    onCode,
    onRecord,
    onLimited,
  } = deps
  const baseUrl = config.baseUrl ?? defaultBaseUrl(config.port)
  const { audiences } = config
  const pseudonymOf = (email: string): string =>
    hmac(rootSecret.keys.for('emails in the log'), email.trim().toLowerCase(), 'hex').slice(0, 16)
  const audit = createAudit({
    db,
    clock,
    log: auditLog,
    actor,
    retentionMs: config.auditRetentionMs,
    isLogged: config.auditLog,
    findAccount: findUserId,
    pseudonymOf,
    onRecord,
  })
  const recordEvent = audit.record

  const { accessTokenLifetimeMs } = config
  const signingKeys = createSigningKeys({ db, clock, rootSecret, accessTokenLifetimeMs, recordEvent })
  // On one core, a thread would only take its time from the event loop.
  const sign = createSigner(availableParallelism() > 1 ? sideThread : undefined)
  const accessTokens = createAccessTokens({ clock, issuer: baseUrl, audiences, sign })
  const factors = createFactorLookup({
    db,
    acceptsCodes: config.secondFactor !== 'off',
    acceptsPasskeys: config.relyingPartyId !== undefined,
  })
  const sessions = createSessions({
    db,
    log,
    clock,
    signingKeys,
    accessTokens,
    rootSecret,
    defaultAudience: loginAudience(audiences),
    hasFactors: factors.has,
    endPendingSignIns,
    endPendingSignInsAfter,
    isTrustedProvider: trustsFactor(config.oauthProviders),
    lifetimes: {
      accessTokenMs: accessTokenLifetimeMs,
      sessionMs: config.sessionLifetimeMs,
      idleMs: config.sessionIdleMs,
      graceMs: config.refreshGraceMs,
    },
    recordEvent,
  })
  const webhooks = createWebhooks({
    db,
    clock,
    log,
    settings: webhookSettings(config),
    retentionMs: config.webhookRetentionMs,
    onOutcome: onDelivery,
    recordEvent,
  })
  const links = createLinks({ db, clock })
  const mail = createMail({
    db,
    clock,
    log,
    rootSecret,
    settings: mailSettings(config, baseUrl),
    prepare: (transaction, request) => recovery.prepare(transaction, request),
    isLinkLive: links.isLive,
    onOutcome: onMail,
  })
  const limits = createLimits({ db, clock, rootSecret, enabled: config.rateLimit, onRefusal: onLimited })
  const mailLimits = createMailLimits({
    clock,
    enabled: config.rateLimit,
    accountOf: createAccountKey(rootSecret),
  })
  const tellsOfNewBrowsers = config.mailNotices
  const notify = createNotify({
    clock,
    mail,
    links,
    limits: mailLimits,
    baseUrl,
    tellsOfNewBrowsers,
    usernames: config.usernames,
    hadFactor: factors.hadAny,
  })
  const applySecurityEvent = createSecurityEvents({
    endSessions: sessions.rules.endSessions,
    endPendingSignIns,
    endLinks: links.endAll,
    forgetBrowsers: deleteKnownBrowsers,
    endTrust,
    disconnectProviders: (transaction, userId, sinceMs) =>
      disconnectSince(transaction, { userId, sinceMs, nowMs: clock.now() }),
    removePasskeys: (transaction, userId, sinceMs) =>
      deletePasskeysSince(transaction, { userId, sinceMs, nowMs: clock.now() }),
    removeCodes: (transaction, userId, sinceMs) =>
      deleteCodesSince(transaction, { userId, sinceMs, nowMs: clock.now() }),
    forgetWrongCodes,
    recordEvent,
  })
  const { announceUpdate } = webhooks
  const takeOver = createTakeOver({ clock, applySecurityEvent, announceUpdate, recordEvent })
  const { userChanged } = sessions.rules
  const accountDeps = { clock, applySecurityEvent, announceUpdate, userChanged, recordEvent }
  const enterInvited = createEnterInvited(accountDeps)
  const markVerified = createMarkVerified(accountDeps)
  const passwords = createPasswords({
    atOnce: config.hashesAtOnce,
    waiting: config.hashQueue,
    cost: hashCost ?? config.argon2,
    foreignBytes: foreignHashBytes(),
    onHash,
  })
  const requireGoodPassword = createPasswordRules({
    siteNames: siteNames(baseUrl, config.appName),
    minLength: config.passwordMinLength,
    blocklist: blocklistOnDemand(config),
  })
  const emailDomains = createEmailDomains(config.emailDomains)
  const hasPassword = createHasPassword(config.passwords)
  const users = createUsers({
    db,
    clock,
    passwords,
    emailDomains,
    hasPassword,
    announce: webhooks.announce,
    announceUpdate,
    requireGoodPassword,
    applySecurityEvent,
    notify,
    recordEvent,
    forgetMessages: mail.forget,
    ...sessions.rules,
  })
  const recovery = createRecovery({
    db,
    clock,
    hasFactors: factors.has,
    findAsked: factors.findAsked,
    baseUrl,
    mail,
    links,
    limits: mailLimits,
    unlockLogins: limits.unlock,
    lifetimes: linkLifetimes(config),
    acceptsPasswords: config.passwords,
    notify,
    recordEvent,
    users,
    passwords,
    requireGoodPassword,
    applySecurityEvent,
    takeOver,
    markVerified,
    mode: config.emailVerification,
    ...sessions.rules,
    enterInvited,
    makeInvited: createMakeInvited(accountDeps),
    announceUpdate,
  })
  const oauth = createOAuth({
    db,
    clock,
    rootSecret,
    baseUrl,
    users,
    emailDomains,
    hasPassword,
    hasPasskey: factors.hasPasskey,
    signupOpen: config.signup !== 'off',
    providers: config.oauthProviders,
    timeoutMs: config.oauthTimeoutMs,
    applySecurityEvent,
    notify,
    recordEvent,
    takeOver,
    enterInvited,
    markVerified,
    ...sessions.rules,
  })
  const secondFactors = createSecondFactors({
    db,
    clock,
    rootSecret,
    passwords,
    applySecurityEvent,
    appName: appNameOf(config, baseUrl),
    acceptsCodes: config.secondFactor !== 'off',
    factors,
    isRequired: config.secondFactor === 'required',
    onCode,
    rateLimit: config.rateLimit,
    notify,
    recordEvent,
    ...sessions.rules,
  })
  const pendingSignIns = createPendingSignIns({ db, clock, rootSecret, lockIdentity })
  return {
    ...createCoreOnDemand({
      db,
      rootSecret,
      config,
      clock,
      baseUrl,
      users,
      passwords,
      requireGoodPassword,
      emailDomains,
      hasPassword,
      oauth,
      recovery,
      secondFactors,
      sessions,
      signingKeys,
      webhooks,
      applySecurityEvent,
      announceUpdate,
      notify,
      recordEvent,
    }),
    audit,
    baseUrl,
    clock,
    db,
    emailDomains,
    signingKeys,
    knownBrowsers: createKnownBrowsers({ db, clock, trustMs: config.trustedBrowserMs, recordEvent }),
    pendingSignIns,
    limits,
    mail,
    notify,
    oauth,
    passwords,
    pseudonymOf,
    recovery,
    secondFactors,
    sessions,
    users,
    webhooks,
  }
}

/** Loaded with the first password that is set. */
const blocklistOnDemand = ({ passwordBlocklistFile: file, passwordMinLength: minLength }: Config) =>
  file === undefined
    ? undefined
    : onDemand(
        async () => (await import('./accounts/passwords/blocklist/blocklist.ts')).createBlocklist({ file, minLength }),
        'has',
      )

const linkLifetimes = ({ resetTtlMs, verifyTtlMs, inviteTtlMs }: Config) => ({
  resetMs: resetTtlMs,
  verifyMs: verifyTtlMs,
  inviteMs: inviteTtlMs,
})

const mailSettings = (config: Config, baseUrl: string): MailSettings | undefined => {
  const { smtp: server, mailFrom: from, mailTimeoutMs: timeoutMs, accentColor, supportUrl, passwords } = config
  if (!server || !from) return undefined
  const branding = { appName: appNameOf(config, baseUrl), accentColor, baseUrl, supportUrl, passwords }
  return { server, from, timeoutMs, branding }
}

const webhookSettings = (config: Config): WebhookSettings | undefined =>
  config.webhookUrl && config.webhookSecret
    ? {
        url: config.webhookUrl,
        secret: config.webhookSecret,
        previousSecret: config.previousWebhookSecret,
        enabledEvents: config.webhookEvents,
        timeoutMs: config.webhookTimeoutMs,
        maxAttempts: config.webhookMaxAttempts,
      }
    : undefined
