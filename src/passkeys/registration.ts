import { randomUUIDv7 } from 'node:crypto'
import type { RecordEvent } from '../audit/audit-event.ts'
import type { Caller } from '../lib/caller.ts'
import { randomToken } from '../lib/secrets.ts'
import type { Clock } from '../lib/time.ts'
import type { Proof } from '../sign-in/amr.ts'
import { type Database, isUniqueViolation, type Transaction } from '../storage/database.ts'
import type { Notify } from '../accounts/account-notice.ts'
import { requireUserById } from '../accounts/user-store.ts'
import type { Ceremonies } from './ceremonies.ts'
import type { Challenges } from './challenge.ts'
import { type CreationOptions, creationOptions } from './options.ts'
import { defaultName, requireName } from './passkey-name.ts'
import { proofOfPasskey, type Passkey } from './passkey.ts'
import { findPasskeysOfUser, findUserHandle, insertPasskey, setUserHandle } from './passkey-store.ts'
import { passkeyExists, requireRoom } from './problems.ts'

export interface PasskeyRegistrationDeps {
  db: Database
  clock: Clock
  challenges: Challenges
  ceremonies: Ceremonies
  /** The browser shows it as the site. */
  relyingParty: { id: string; name: string }
  notify: Notify
  recordEvent: RecordEvent
  /** Prepares codes for an account that has none; they are hashed already. */
  prepareRecoveryCodes: (userId: string, caller?: Caller) => Promise<PreparedCodes | undefined>
}

interface PreparedCodes {
  codes: string[]
  /** It resolves to false when another request has given the account some. */
  insert: (transaction: Transaction) => Promise<boolean>
}

export interface NewPasskeyRequest {
  userId: string
  response: unknown
  browserSecret: string | undefined
  /** The user has written it; if undefined, the kind of authenticator gives the name. */
  name?: unknown
  /** This name, such as browser and system, is used if that kind is not known. */
  otherwise: string
  caller: Caller
}

export interface AddedPasskey {
  passkey: Passkey
  /** These new codes came with the first passkey, and are shown once. */
  recoveryCodes: string[] | undefined
}

/** The passkey can be used. Nothing was stored yet. */
export interface CheckedRegistration {
  /** The user has proved this by making the passkey. */
  proof: Proof
  /**
   * Spends the challenge, stores the passkey, and tells the user. It runs in the transaction of what allows it, after
   * the user's row was locked. The caller applies the security event. It throws `invalid_request` when the challenge
   * was used before, and `conflict` when an account has the passkey already or the user has too many.
   */
  apply: (transaction: Transaction) => Promise<AddedPasskey>
}

/** Adds passkeys to accounts. The caller decides if that is allowed, again in the transaction that stores it. */
export const createPasskeyRegistration = (deps: PasskeyRegistrationDeps) => {
  const { db, clock, challenges, ceremonies, relyingParty, notify, recordEvent } = deps

  const requireHandle = async (userId: string): Promise<string> => {
    const handle = await findUserHandle(db, userId)
    if (handle !== undefined) return handle
    await setUserHandle(db, userId, randomToken(32))
    return (await findUserHandle(db, userId)) ?? ''
  }

  return {
    async options(userId: string, browserSecret: string, email?: string): Promise<CreationOptions> {
      const user = await requireUserById(db, userId)
      const existing = await findPasskeysOfUser(db, userId)
      requireRoom(existing)
      const name = email ?? user.email
      return creationOptions({
        challenge: challenges.make('register', browserSecret, userId),
        rp: relyingParty,
        user: { id: await requireHandle(userId), name, displayName: name },
        existing,
      })
    },

    async check(request: NewPasskeyRequest): Promise<CheckedRegistration> {
      const { userId, response, browserSecret, name, otherwise, caller } = request
      const chosenName = name === undefined || name === null ? undefined : requireName(name)
      const { verified, transports, challenge } = await ceremonies.checkNew(response, { userId, browserSecret })
      const isFirst = (await findPasskeysOfUser(db, userId)).length === 0
      const prepared = isFirst ? await deps.prepareRecoveryCodes(userId, caller) : undefined
      return {
        proof: proofOfPasskey(verified),
        async apply(transaction) {
          await challenge.spend(transaction)
          const others = await findPasskeysOfUser(transaction, userId)
          requireRoom(others)
          const passkey: Passkey = {
            ...verified,
            id: randomUUIDv7(),
            userId,
            name: chosenName ?? defaultName(verified.aaguid, otherwise, others),
            transports,
            createdAtMs: clock.now(),
            lastUsedAtMs: undefined,
          }
          await store(transaction, passkey)
          const { id: passkeyId, createdAtMs: addedAtMs } = passkey
          await notify(transaction, userId, { kind: 'passkey_added', passkeyId, addedAtMs }, caller)
          await recordEvent(transaction, { type: 'passkey.added', userId, details: { passkeyId } }, caller)
          return { passkey, recoveryCodes: (await prepared?.insert(transaction)) ? prepared?.codes : undefined }
        },
      }
    },
  }
}

const store = async (transaction: Transaction, passkey: Passkey): Promise<void> => {
  try {
    await insertPasskey(transaction, passkey)
  } catch (error) {
    throw isUniqueViolation(error, 'passkeys.credential_id') ? passkeyExists(error) : error
  }
}
