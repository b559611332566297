import type { ApiKeys } from './api-keys/api-keys.ts'
import type { RecordEvent } from './audit/audit-event.ts'
import type { Bootstrapped } from './bootstrap.ts'
import { appNameOf, type Config } from './config/config.ts'
import { foreignHashBytes } from './config/hash-memory.ts'
import type { UserDirectory } from './accounts/directory/directory.ts'
import { once, onDemand } from './lib/on-demand.ts'
import type { Clock } from './lib/time.ts'
import type { OAuth } from './oauth/oauth.ts'
import type { Passkeys } from './passkeys/passkeys.ts'
import type { Recovery } from './links/links.ts'
import { deleteUselessRecoveryCodes } from './second-factor/second-factor-store.ts'
import { endRowAnywhere } from './second-factor/wrong-code-store.ts'
import type { SecondFactors } from './second-factor/second-factors.ts'
import type { SecretRotation } from './sessions/keys/secret-rotation.ts'
import type { SigningKeys } from './sessions/keys/signing-keys.ts'
import type { Sessions } from './sessions/sessions.ts'
import type { Notify } from './accounts/account-notice.ts'
import type { AnnounceUpdate } from './accounts/announcement.ts'
import type { NewUserRules } from './accounts/new-user.ts'
import type { Passwords } from './accounts/passwords/passwords.ts'
import type { ApplySecurityEvent } from './accounts/security-events.ts'
import type { HasPassword } from './accounts/passwords/usable-password.ts'
import type { UserExport, UserImport, Users } from './accounts/accounts.ts'
import type { Webhooks } from './webhooks/webhooks.ts'

interface OnDemandDeps extends Pick<Bootstrapped, 'db' | 'rootSecret'>, NewUserRules {
  config: Config
  clock: Clock
  baseUrl: string
  users: Users
  passwords: Passwords
  hasPassword: HasPassword
  oauth: OAuth
  recovery: Recovery
  secondFactors: SecondFactors
  sessions: Sessions
  signingKeys: SigningKeys
  webhooks: Webhooks
  applySecurityEvent: ApplySecurityEvent
  announceUpdate: AnnounceUpdate
  notify: Notify
  recordEvent: RecordEvent
}

/** The subjects that no start needs: each is loaded with the first call of one of its functions. */
export interface CoreOnDemand {
  apiKeys: ApiKeys
  /** Loaded with the first request of the server API. */
  loadDirectory: () => Promise<UserDirectory>
  passkeys: Passkeys
  secretRotation: SecretRotation
  /** Loaded when they are needed, which is by commands alone. */
  userImport(): Promise<UserImport>
  userExport(): Promise<UserExport>
}

/** Wires them together. */
export const createCoreOnDemand = (deps: OnDemandDeps): CoreOnDemand => ({
  apiKeys: apiKeysOnDemand(deps),
  loadDirectory: once(() => loadDirectory(deps)),
  passkeys: passkeysOnDemand(deps),
  secretRotation: secretRotationOnDemand(deps),
  userImport: () => loadUserImport(deps),
  userExport: () => loadUserExport(deps),
})

const apiKeysOnDemand = (deps: OnDemandDeps): ApiKeys =>
  onDemand(
    async () => (await import('./api-keys/api-keys.ts')).createApiKeys(deps),
    'create',
    'list',
    'revoke',
    'authenticate',
  )

const loadDirectory = async ({ config, sessions, ...deps }: OnDemandDeps): Promise<UserDirectory> => {
  const { createUserDirectory } = await import('./accounts/directory/directory.ts')
  return createUserDirectory({
    ...deps,
    acceptsPasswords: config.passwords,
    accepts: { codes: config.secondFactor !== 'off', passkeys: config.relyingPartyId !== undefined },
    userChanged: sessions.rules.userChanged,
  })
}

const passkeysOnDemand = ({ config, baseUrl, oauth, secondFactors, sessions, ...deps }: OnDemandDeps): Passkeys => {
  const load = async () => {
    const { createPasskeys } = await import('./passkeys/passkeys.ts')
    return createPasskeys({
      ...deps,
      baseUrl,
      relyingParty: { id: config.relyingPartyId ?? '', name: appNameOf(config, baseUrl) },
      hasProvider: oauth.hasConnection,
      prepareRecoveryCodes: secondFactors.prepareRecoveryCodes,
      deleteUselessRecoveryCodes,
      endWrongCodes: endRowAnywhere,
      ...sessions.rules,
    })
  }
  return {
    isOn: config.relyingPartyId !== undefined,
    ...onDemand(
      load,
      'loginOptions',
      'signIn',
      'checkAssertion',
      'registrationOptions',
      'checkRegistration',
      'add',
      'addAtSignIn',
      'list',
      'accepted',
      'rename',
      'remove',
    ),
  }
}

const secretRotationOnDemand = ({ db, clock, rootSecret, signingKeys, recordEvent }: OnDemandDeps): SecretRotation =>
  onDemand(
    async () => {
      const [{ createSecretRotation }, { createSecretResealing }, { createSecretSealing }] = await Promise.all([
        import('./sessions/keys/secret-rotation.ts'),
        import('./second-factor/secret-resealing.ts'),
        import('./second-factor/secret-sealing.ts'),
      ])
      const appSecrets = createSecretResealing({ db, sealing: createSecretSealing(rootSecret) })
      return createSecretRotation({ db, clock, rootSecret, signingKeys, appSecrets, recordEvent })
    },
    'status',
    'rotate',
    'reseal',
  )

const loadUserImport = async ({ config, webhooks, oauth, ...deps }: OnDemandDeps): Promise<UserImport> => {
  const [{ createUserImport }, { parsePasswordHash }, { findConnected, insertIdentities }, { assignAllPositions }] =
    await Promise.all([
      import('./accounts/import/import.ts'),
      import('./accounts/passwords/foreign-hashes/foreign-hashes.ts'),
      import('./oauth/identity-transfer-store.ts'),
      import('./accounts/directory/user-list.ts'),
    ])
  const { announceAll } = webhooks
  const { issuerOf } = oauth
  const userImport = createUserImport({
    ...deps,
    hashesAtOnce: config.hashesAtOnce,
    parsePasswordHash: (text) => parsePasswordHash(text, foreignHashBytes()),
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
