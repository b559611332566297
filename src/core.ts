import { type Change, createChange } from './accounts/change.ts'
import { createOwnership } from './accounts/ownership.ts'
import type { UndoLinksDeps } from './links/undo-links.ts'
import { availableParallelism } from 'node:os'
import type { Notify } from './accounts/account-notice.ts'
import { createAccounts, type UserExport, type UserImport, type Accounts } from './accounts/accounts.ts'
import type { UserDirectory } from './accounts/directory/directory.ts'
import type { UserIndex } from './accounts/directory/user-index.ts'
import { createEmailDomains, createNames, type EmailDomains, type Names } from './accounts/fields.ts'
import { siteNames } from './accounts/passwords/password-names.ts'
import { createPasswordRules, type RequireGoodPassword } from './accounts/passwords/password-rules.ts'
import { createPasswords, type HashCost, type Passwords } from './accounts/passwords/passwords.ts'
import { createHasPassword, type HasPassword } from './accounts/authentication.ts'
import { type ApplySecurityEvent, createSecurityEvents } from './accounts/security-events.ts'
import { endPendingSignIns, endPendingSignInsAfter, findUserById, findUserId } from './accounts/user-store.ts'
import type { Administrators } from './administrators/administrators.ts'
import type { ApiKeys } from './api-keys/api-keys.ts'
import type { AuditType, RecordEvent, TallyEvent } from './audit/audit-event.ts'
import { type Audit, createAudit, type OwnActor } from './audit/audit.ts'
import type { Bootstrapped } from './bootstrap.ts'
import type { Clients, OnTokens } from './clients/clients.ts'
import { createGrantEndings, type GrantEndings } from './clients/grant-endings.ts'
import type { Config } from './config/config.ts'
import { settingsOfSubjects } from './config/subject-settings.ts'
import type { Languages } from './languages/languages.ts'
import type { RootSecret } from './lib/derived-keys.ts'
import type { Log } from './lib/log.ts'
import { loadedOnDemand, once } from './lib/on-demand.ts'
import { hmac } from './lib/secrets.ts'
import { type Clock, systemClock } from './lib/time.ts'
import { createAccountKey } from './limits/counter.ts'
import type { LimitName } from './limits/limit-table.ts'
import { createLimits, type Limits } from './limits/limits.ts'
import { createIssuedLinks } from './links/issued-links.ts'
import { createLinks, type Links } from './links/links.ts'
import { createMailLimits } from './links/mail-limits.ts'
import { createNotify } from './links/notices.ts'
import { createMail, type Mail, type MailOutcome } from './mail/mail.ts'
import { disconnectSince } from './oauth/disconnection.ts'
import { lockIdentity } from './oauth/identity-store.ts'
import { createOAuth, type OAuth } from './oauth/oauth.ts'
import type { OAuthDeps } from './oauth/oauth-deps.ts'
import { trustsFactor } from './oauth/provider-factor.ts'
import { deletePasskeysSince } from './passkeys/passkey-store.ts'
import type { Passkeys } from './passkeys/passkeys.ts'
import { createRecordRevocations } from './revocations/recording.ts'
import type { RevocationFeed } from './revocations/revocations.ts'
import { createFactorLookup } from './second-factor/account-factors.ts'
import type { CodeOutcome } from './second-factor/code-outcome.ts'
import { deleteCodesSince, deleteUselessRecoveryCodes } from './second-factor/second-factor-store.ts'
import { createSecondFactors, type SecondFactors } from './second-factor/second-factors.ts'
import { endRowAnywhere, forgetWrongCodes } from './second-factor/wrong-code-store.ts'
import type { SecretRotation } from './sessions/keys/secret-rotation.ts'
import { createSigningKeys, type SigningKeys } from './sessions/keys/signing-keys.ts'
import { createSessions, type Sessions } from './sessions/sessions.ts'
import { createAccessTokens } from './sessions/tokens/access-token.ts'
import { createSigner, type Sign } from './sessions/tokens/signer.ts'
import { deleteKnownBrowsers, endTrust } from './sign-in/known-browser-store.ts'
import { createKnownBrowsers, type KnownBrowsers } from './sign-in/known-browsers.ts'
import { createPendingSignIns, type PendingSignIns } from './sign-in/pending-sign-ins.ts'
import type { Queries } from './storage/database.ts'
import { createWebhooks, type DeliveryOutcome, type Webhooks } from './webhooks/webhooks.ts'

export interface CoreDeps extends Pick<Bootstrapped, 'db' | 'rootSecret'>, Partial<Pick<Bootstrapped, 'sideThread'>> {
  config: Config
  log: Log
  clock?: Clock | undefined
  /** This actor acts where no request does; the service itself, if left out. */
  actor?: OwnActor | undefined
  /** Records become lines of this log, if it is another one. */
  auditLog?: Log | undefined
  /** Tests that are not about hashes lower it. */
  hashCost?: HashCost | undefined
  /** It is called after each password hash with the seconds that it took, its wait not counted. */
  onHash?: ((seconds: number) => void) | undefined
  /** It is called after each attempt to deliver a webhook. */
  onDelivery?: ((outcome: DeliveryOutcome) => void) | undefined
  /** It is called with the outcome of each message. */
  onMail?: ((outcome: MailOutcome) => void) | undefined
  /** It is called with the outcome of each check of a one-time or recovery code. */
  onCode?: ((outcome: CodeOutcome) => void) | undefined
  /** It is called with the type of each record, and how often it was written. */
  onRecord?: ((type: AuditType, count: number) => void) | undefined
  /** It is called with the limit that has refused a try. */
  onLimited?: ((limit: LimitName) => void) | undefined
  /** It is called after each response to a client that has tokens. */
  onTokens?: OnTokens | undefined
  /** It is aborted when the service stops. */
  stopping?: AbortSignal | undefined
  /** It is called with the number of readers of revocations that wait, when that has changed. */
  onReaders?: ((count: number) => void) | undefined
  /** It is called with the seconds after which readers of revocations were told of one. */
  onLag?: ((seconds: number) => void) | undefined
  /** Answers for a provider that is in this process. */
  fetchFrom?: OAuthDeps['fetchFrom']
}

/** The core has the rules without HTTP, which a service and the command line share. */
export interface Core extends Pick<Bootstrapped, 'db'>, LoadedOnDemand {
  clock: Clock
  audit: Audit
  /** This is the public origin of the service, such as `https://example.com`. */
  baseUrl: string
  users: Accounts
  emailDomains: EmailDomains
  languages: Languages
  passwords: Passwords
  sessions: Sessions
  signingKeys: SigningKeys
  oauth: OAuth
  secondFactors: SecondFactors
  limits: Limits
  mail: Mail
  links: Links
  notify: Notify
  knownBrowsers: KnownBrowsers
  pendingSignIns: PendingSignIns
  webhooks: Webhooks
  /**
   * Makes sixteen hexadecimal digits that stand for an email in the log: the root secret alone leads from one to the
   * other.
   */
  pseudonymOf(email: string): string
}

/** No start needs these subjects: each is loaded with the first call of one of its functions. */
interface LoadedOnDemand {
  apiKeys: ApiKeys
  loadDirectory: () => Promise<UserDirectory>
  loadUserIndex: () => Promise<UserIndex>
  loadClients: () => Promise<Clients>
  loadRevocationFeed: () => Promise<RevocationFeed>
  loadAdministrators: () => Promise<Administrators>
  passkeys: Passkeys
  secretRotation: SecretRotation
  userImport(): Promise<UserImport>
  userExport(): Promise<UserExport>
}

/** Lists the subjects of the domain, in the order of their needs. It starts nothing: no timer, no connection. */
export const createCore = (given: CoreDeps): Core => {
  const { config, log, db, rootSecret, clock = systemClock, actor = 'system', auditLog = log } = given
  const settings = settingsOfSubjects(config)
  const pseudonymOf = createPseudonyms(rootSecret)
  const recorded = { actor, log: auditLog, findAccount: findUserId, pseudonymOf, onRecord: given.onRecord }
  const audit = createAudit({ db, clock, ...recorded, ...settings.audit })
  const base = { db, clock, log, rootSecret, baseUrl: settings.baseUrl, recordEvent: audit.record }

  const factors = createFactorLookup({ db, ...settings.factors })
  const signingKeys = createSigningKeys({ ...base, ...settings.keys })
  // A thread would merely take its time from the event loop on one core.
  const sign = createSigner(availableParallelism() > 1 ? given.sideThread : undefined)
  const accessTokens = createAccessTokens({ clock, sign, ...settings.tokens })
  const isTrustedProvider = trustsFactor(config.oauthProviders)
  const hasPassword = createHasPassword(config.passwords)
  const rules = {
    hasFactors: factors.has,
    hasPassword: async (queries: Queries, userId: string) => {
      const user = await findUserById(queries, userId)
      return user !== undefined && hasPassword(user)
    },
    isTrustedProvider,
  }
  const endings = { endPendingSignIns, endPendingSignInsAfter, ...rules }
  const revocations = createRecordRevocations({ clock, ...settings.revocations })
  const clientGrants = createGrantEndings({ ...base, revocations, hasClients: config.clients })
  const keys = { signingKeys, accessTokens }
  const ended = { clientGrants, revocations }
  const sessions = createSessions({ ...base, ...settings.sessions, ...endings, ...keys, ...ended })
  const webhooks = createWebhooks({ ...base, ...settings.webhooks, onOutcome: given.onDelivery })
  const issued = createIssuedLinks(base)
  const prepare: Links['prepare'] = (transaction, request) => links.prepare(transaction, request)
  const mail = createMail({ ...base, ...settings.mail, prepare, isLinkLive: issued.isLive, onOutcome: given.onMail })
  const limits = createLimits({ ...base, ...settings.limits, onRefusal: given.onLimited })
  const mailLimits = createMailLimits({ clock, ...settings.limits, accountOf: createAccountKey(rootSecret) })
  const messages = { mail, issued, limits: mailLimits }
  const notify = createNotify({ ...base, ...settings.notices, ...messages, hadFactor: factors.hadAny })

  const endLinks = issued.endAll
  const { endSessions } = sessions.rules
  const { endGrants } = clientGrants
  const applySecurityEvent = createSecurityEvents({ ...base, ...endingsOf(clock), endSessions, endGrants, endLinks })
  const { announce, announceUpdate } = webhooks
  const { claimsChanged } = revocations
  const account = { ...base, ...sessions.rules, applySecurityEvent, announceUpdate, notify, claimsChanged }
  const change = createChange({ ...account, leaveEmail: leaveEmailOf({ ...base, mail, issued }) })
  const passwords = createPasswords({
    ...settings.passwords,
    ...(given.hashCost && { cost: given.hashCost }),
    onHash: given.onHash,
  })
  const emailDomains = createEmailDomains(config.emailDomains)
  const shared = {
    ...account,
    passwords,
    emailDomains,
    names: createNames(config.names),
    hasPassword,
    signsInByMail: config.emailSignIn,
    requireGoodPassword: passwordRulesOf(config, settings.baseUrl),
    change,
    ...createOwnership(change),
  }
  const users = createAccounts({
    ...shared,
    announce,
    endGrants,
    forgetMessages: mail.forget,
    unlockLogins: limits.unlock,
  })
  const { has: hasFactors, hasPasskey, findAsked } = factors
  const found = { hasFactors, hasPasskey, findAsked, unlockLogins: limits.unlock }
  const links = createLinks({ ...shared, ...settings.links, ...messages, ...found, users })
  const oauth = createOAuth({
    ...shared,
    ...settings.oauth,
    users,
    hasPasskey: factors.hasPasskey,
    fetchFrom: given.fetchFrom,
  })
  const secondFactors = createSecondFactors({ ...shared, ...settings.secondFactors, factors, onCode: given.onCode })
  const pendingSignIns = createPendingSignIns({ ...base, lockIdentity })
  const knownBrowsers = createKnownBrowsers({ ...base, ...settings.browsers })

  const subjects = { users, sessions, signingKeys, links, oauth, secondFactors, webhooks }
  const ways = { knownBrowsers, pendingSignIns, limits, mail, notify, emailDomains, passwords }
  const onDemand = subjectsOnDemand({
    ...shared,
    ...subjects,
    config,
    sign,
    limits,
    mail,
    tallyEvent: audit.tally,
    clientGrants,
    onTokens: given.onTokens,
    onReaders: given.onReaders,
    onLag: given.onLag,
    stopping: given.stopping ?? new AbortController().signal,
  })
  return {
    ...subjects,
    ...ways,
    languages: settings.languages,
    ...onDemand,
    db,
    clock,
    audit,
    pseudonymOf,
    baseUrl: settings.baseUrl,
  }
}

const createPseudonyms =
  (rootSecret: RootSecret) =>
  (email: string): string =>
    hmac(rootSecret.keys.for('emails in the log'), email.trim().toLowerCase(), 'hex').slice(0, 16)

/** Security events end these, each in the subject that has it. */
const endingsOf = (clock: Clock) => {
  const since =
    <Result>(remove: (queries: Queries, which: Since) => Promise<Result>) =>
    (transaction: Queries, userId: string, sinceMs: number): Promise<Result> =>
      remove(transaction, { userId, sinceMs, nowMs: clock.now() })
  return {
    endPendingSignIns,
    endTrust,
    forgetBrowsers: deleteKnownBrowsers,
    forgetWrongCodes,
    disconnectProviders: since(disconnectSince),
    removePasskeys: since(deletePasskeysSince),
    removeCodes: since(deleteCodesSince),
  }
}

interface Since {
  userId: string
  sinceMs: number
  nowMs: number
}

/** The links that undo a change of address are loaded with the first one. */
const leaveEmailOf = (deps: UndoLinksDeps) =>
  loadedOnDemand(async () => (await import('./links/undo-links.ts')).createUndoLinks(deps)).sendAtChange

/** The list of known passwords is loaded with the first password that is set. */
const passwordRulesOf = (config: Config, baseUrl: string): RequireGoodPassword => {
  const { passwordBlocklistFile: file, passwordMinLength: minLength } = config
  const load = async (path: string) =>
    (await import('./accounts/passwords/blocklist/blocklist.ts')).createBlocklist({ file: path, minLength })
  return createPasswordRules({
    siteNames: siteNames(baseUrl, config.appName),
    minLength,
    blocklist: file === undefined ? undefined : loadedOnDemand(() => load(file)),
  })
}

interface OnDemandDeps
  extends Pick<Core, 'db' | 'clock' | 'baseUrl' | 'users' | 'passwords' | 'emailDomains'>,
    Pick<CoreDeps, 'onLag' | 'onReaders' | 'onTokens'> {
  log: Log
  sign: Sign
  limits: Limits
  mail: Mail
  tallyEvent: TallyEvent
  clientGrants: GrantEndings
  stopping: AbortSignal
  rootSecret: RootSecret
  config: Config
  sessions: Sessions
  signingKeys: SigningKeys
  links: Links
  oauth: OAuth
  secondFactors: SecondFactors
  webhooks: Webhooks
  hasPassword: HasPassword
  signsInByMail: boolean
  names: Names
  requireGoodPassword: RequireGoodPassword
  applySecurityEvent: ApplySecurityEvent
  change: Change
  notify: Notify
  recordEvent: RecordEvent
}

const subjectsOnDemand = (deps: OnDemandDeps): LoadedOnDemand => {
  const { config, sessions, oauth, links, secondFactors } = deps
  const settings = settingsOfSubjects(config)
  return {
    apiKeys: loadedOnDemand(async () => (await import('./api-keys/api-keys.ts')).createApiKeys(deps)),
    passkeys: loadedOnDemand(
      async () =>
        (await import('./passkeys/passkeys.ts')).createPasskeys({
          ...deps,
          ...settings.passkeys,
          ...sessions.rules,
          hasProvider: oauth.hasConnection,
          prepareRecoveryCodes: secondFactors.prepareRecoveryCodes,
          deleteUselessRecoveryCodes,
          endWrongCodes: endRowAnywhere,
        }),
      { isOn: settings.factors.acceptsPasskeys },
    ),
    secretRotation: loadedOnDemand(() => loadSecretRotation(deps)),
    // The first request of the server API loads it.
    loadDirectory: once(async () =>
      (await import('./accounts/directory/directory.ts')).createUserDirectory({
        ...deps,
        ...settings.directory,
        createLink: { reset: links.reset.createIn, invite: links.invitations.inviteIn },
      }),
    ),
    loadUserIndex: once(async () => (await import('./accounts/directory/user-index.ts')).createUserIndex(deps)),
    loadClients: once(async () =>
      (await import('./clients/clients.ts')).createClients({ ...deps, ...settings.clients, ...sessions.rules }),
    ),
    loadRevocationFeed: once(async () =>
      (await import('./revocations/revocations.ts')).createRevocationFeed({ ...deps, ...settings.revocations }),
    ),
    loadAdministrators: once(async () =>
      (await import('./administrators/administrators.ts')).createAdministrators({
        ...deps,
        ...settings.administrators,
      }),
    ),
    // Commands alone load these.
    userImport: () => loadUserImport(deps),
    userExport: () => loadUserExport(deps),
  }
}

const loadSecretRotation = async (deps: OnDemandDeps): Promise<SecretRotation> => {
  const [{ createSecretRotation }, { createSecretResealing }] = await Promise.all([
    import('./sessions/keys/secret-rotation.ts'),
    import('./second-factor/secret-sealing.ts'),
  ])
  return createSecretRotation({ ...deps, appSecrets: createSecretResealing(deps) })
}

const loadUserImport = async ({ config, webhooks, oauth, ...deps }: OnDemandDeps): Promise<UserImport> => {
  const [{ createUserImport }, { parsePasswordHash }, { findConnected, insertIdentities }, { assignAllPositions }] =
    await Promise.all([
      import('./accounts/import/import.ts'),
      import('./accounts/passwords/foreign-hashes/foreign-hashes.ts'),
      import('./oauth/identity-transfer-store.ts'),
      import('./accounts/directory/user-list.ts'),
    ])
  const { atOnce: hashesAtOnce, foreignBytes } = settingsOfSubjects(config).passwords
  const { announceAll } = webhooks
  const { issuerOf } = oauth
  const userImport = createUserImport({
    ...deps,
    ...deps.sessions.rules,
    ...deps.clientGrants,
    hashesAtOnce,
    parsePasswordHash: (text) => parsePasswordHash(text, foreignBytes),
    issuerOf,
    findConnected,
    connect: insertIdentities,
    announceAll,
  })
  return { ...userImport, place: () => assignAllPositions(deps.db) }
}

const loadUserExport = async ({ db, clock }: OnDemandDeps): Promise<UserExport> => {
  const [{ createUserExport }, { findIdentitiesBetween }, { findFactorsBetween }, { countUsersWithSessions }] =
    await Promise.all([
      import('./accounts/export/export.ts'),
      import('./oauth/identity-transfer-store.ts'),
      import('./second-factor/second-factor-store.ts'),
      import('./sessions/all-sessions-store.ts'),
    ])
  return createUserExport({
    db,
    findConnections: findIdentitiesBetween,
    findFactors: findFactorsBetween,
    countUsersWithSessions: (snapshot) => countUsersWithSessions(snapshot, clock.now()),
  })
}
