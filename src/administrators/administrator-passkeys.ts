import { randomUUIDv7 } from 'node:crypto'
import type { Caller } from '../lib/caller.ts'
import { AppError } from '../lib/errors.ts'
import type { Ceremonies } from '../passkeys/ceremonies.ts'
import type { Challenges } from '../passkeys/challenge.ts'
import { type CreationOptions, creationOptions } from '../passkeys/options.ts'
import { defaultName } from '../passkeys/passkey-name.ts'
import type { Passkey } from '../passkeys/passkey.ts'
import { passkeyExists, requireRoom } from '../passkeys/problems.ts'
import { isUniqueViolation, type Queries, type Transaction } from '../storage/database.ts'
import { type Administrator, type AdministratorSession, administratorSessionOver } from './administrator.ts'
import type { AdministratorsDeps, NotifyAdministrator } from './administrator-notices.ts'
import { deleteOtherAdministratorSessions, lockAdministratorSession } from './administrator-session-store.ts'
import {
  type AdministratorRecord,
  deleteAdministratorPasskey,
  findAdministratorPasskeys,
  insertAdministratorPasskey,
  lockAdministrator,
} from './administrator-store.ts'

/** A browser has made a passkey. */
export interface NewPasskeyResponse {
  response: unknown
  browserSecret: string | undefined
  /** This name, such as browser and system, is used if the kind of authenticator is not known. */
  otherwise: string
}

interface AdministratorPasskeysDeps extends AdministratorsDeps {
  notify: NotifyAdministrator
  challenges: Challenges
  ceremonies: Ceremonies
  relyingPartyId: string
}

/** The passkeys of administrators. They belong to the host of the administration, and open nothing of the application. */
export const createAdministratorPasskeys = (deps: AdministratorPasskeysDeps) => {
  const { db, clock, challenges, ceremonies, relyingPartyId, appName, recordEvent, notify } = deps

  const options = async (
    queries: Queries,
    { id, name, userHandle }: AdministratorRecord,
    browserSecret: string,
  ): Promise<CreationOptions> => {
    const existing = await findAdministratorPasskeys(queries, id)
    requireRoom(existing)
    return creationOptions({
      challenge: challenges.make('register', browserSecret, id),
      rp: { id: relyingPartyId, name: `${appName} administration` },
      user: { id: userHandle, name, displayName: name },
      existing,
    })
  }

  const check = async (administratorId: string, { response, browserSecret, otherwise }: NewPasskeyResponse) => {
    const account = { userId: administratorId, browserSecret }
    const { verified, transports, challenge } = await ceremonies.checkNew(response, account)
    return {
      /** Stores it, in the transaction that has locked the administrator. */
      async apply(transaction: Transaction, administrator: Administrator, caller: Caller): Promise<Passkey> {
        await challenge.spend(transaction)
        const others = await findAdministratorPasskeys(transaction, administratorId)
        requireRoom(others)
        const passkey: Passkey = {
          ...verified,
          id: randomUUIDv7(),
          userId: administratorId,
          name: defaultName(verified.aaguid, otherwise, others),
          transports,
          createdAtMs: clock.now(),
          lastUsedAtMs: undefined,
        }
        await store(transaction, passkey)
        await recordEvent(transaction, eventOf('administrator.passkey_added', administrator, passkey), caller)
        await notify(transaction, administrator, 'passkey_added', caller)
        return passkey
      },
    }
  }

  /** A session may change what lets its administrator in, as long as it lives and a passkey was shown. */
  const change = async <T>(
    { id, administrator, mustProve }: AdministratorSession,
    work: (transaction: Transaction, administrator: AdministratorRecord) => Promise<T>,
  ): Promise<T> => {
    if (mustProve) throw unproved()
    return db.inTransaction(async (transaction) => {
      const locked = await lockAdministrator(transaction, administrator.id)
      if (!locked || !(await lockAdministratorSession(transaction, id))) throw administratorSessionOver()
      return work(transaction, locked)
    })
  }

  return {
    options,
    check,
    list: (administratorId: string): Promise<Passkey[]> => findAdministratorPasskeys(db, administratorId),

    optionsOf: (session: AdministratorSession, browserSecret: string): Promise<CreationOptions> =>
      change(session, (transaction, administrator) => options(transaction, administrator, browserSecret)),

    async add(session: AdministratorSession, given: NewPasskeyResponse, caller: Caller): Promise<Passkey> {
      if (session.mustProve) throw unproved()
      const { apply } = await check(session.administrator.id, given)
      return change(session, (transaction, administrator) => apply(transaction, administrator, caller))
    },

    remove: (session: AdministratorSession, passkeyId: string, caller: Caller): Promise<Passkey> =>
      change(session, async (transaction, administrator) => {
        const { id } = administrator
        const passkeys = await findAdministratorPasskeys(transaction, id)
        const passkey = passkeys.find((each) => each.id === passkeyId)
        if (!passkey) throw new AppError('not_found', 'You do not have this passkey any more.')
        if (passkeys.length === 1) throw lastOne()
        await deleteAdministratorPasskey(transaction, id, passkeyId)
        await deleteOtherAdministratorSessions(transaction, id, session.id)
        await recordEvent(transaction, eventOf('administrator.passkey_removed', administrator, passkey), caller)
        await notify(transaction, administrator, 'passkey_removed', caller)
        return passkey
      }),
  }
}

const eventOf = (
  type: 'administrator.passkey_added' | 'administrator.passkey_removed',
  { name: administrator }: Administrator,
  { id: passkeyId }: Passkey,
) => ({ type, details: { administrator, passkeyId } })

const store = async (transaction: Transaction, passkey: Passkey): Promise<void> => {
  try {
    await insertAdministratorPasskey(transaction, passkey)
  } catch (error) {
    throw isUniqueViolation(error, 'administrator_passkeys.credential_id') ? passkeyExists(error) : error
  }
}

const unproved = (): AppError =>
  new AppError('forbidden', 'Show a passkey first: the last time is more than ten minutes ago.', { reason: 'unproved' })

const lastOne = (): AppError =>
  new AppError('conflict', 'This is your only passkey. Add another one before you remove it.', { reason: 'last_way' })
