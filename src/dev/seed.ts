import { randomUUIDv7 } from 'node:crypto'
import type { AlsoInsert } from '../accounts/accounts.ts'
import { hashOf, SCOPES } from '../api-keys/api-key.ts'
import { insertApiKey } from '../api-keys/api-key-store.ts'
import type { Core } from '../core.ts'
import { randomToken } from '../lib/secrets.ts'
import type { Clock } from '../lib/time.ts'
import { insertIdentity } from '../oauth/identity-store.ts'
import { DEV_PROVIDER, DEV_USERS, type DevUser, ISSUER } from './given.ts'

export const newApiKey = (): string => `svc_sk_${randomToken(32)}`

const KEY_NAME = 'svc-dev'

/** Makes the users that are missing, and the API key in place of that of an earlier start. */
export const seed = async (core: Core, apiKey: string): Promise<void> => {
  for (const user of DEV_USERS) if (!(await core.users.find(user.email))) await createUser(core, user)
  await putApiKey(core, apiKey)
}

/** The rules for new passwords do not apply to a hash: the settings may want longer ones. */
const createUser = async ({ users, passwords, clock }: Core, { email, password, roles }: DevUser): Promise<void> => {
  const passwordHash = await passwords.hash(password)
  const user = { email, passwordHash, roles, emailVerified: true, isNamedLater: true }
  await users.create(user, undefined, connectTo(email, clock))
}

/** Connects the new account to that of the same email at the provider of `svc dev`. */
export const connectTo =
  (email: string, clock: Clock): AlsoInsert =>
  (transaction, userId) => {
    const ofProvider = { provider: DEV_PROVIDER.name, issuer: ISSUER, subject: email, email }
    return insertIdentity(transaction, { id: randomUUIDv7(), userId, ...ofProvider, createdAtMs: clock.now() })
  }

const putApiKey = async ({ db, clock, apiKeys }: Core, text: string): Promise<void> => {
  const keys = await apiKeys.list()
  const key = {
    id: randomUUIDv7(),
    name: KEY_NAME,
    scopes: [...SCOPES],
    createdAtMs: clock.now(),
    expiresAtMs: undefined,
    revokedAtMs: undefined,
    lastUsedAtMs: undefined,
  }
  for (const { name, revokedAtMs } of keys)
    if (name === KEY_NAME && revokedAtMs === undefined) await apiKeys.revoke(KEY_NAME)
  await db.inTransaction((transaction) => insertApiKey(transaction, key, hashOf(text)))
}

/** Tells whether the password of a user is still that of the start: a kept folder may have another one. */
export const hasOwnPassword = async ({ users }: Core, { email, password }: DevUser): Promise<boolean> =>
  !('refusal' in (await users.authenticate(email, password)))
