import { randomUUIDv7 } from 'node:crypto'
import type { AuditDetails } from '../audit/audit-event.ts'
import type { Caller } from '../lib/caller.ts'
import { AppError } from '../lib/errors.ts'
import { randomToken } from '../lib/secrets.ts'
import { counterWentBack, createCeremonies } from '../passkeys/ceremonies.ts'
import { createChallenges } from '../passkeys/challenge.ts'
import { type CreationOptions, type RequestOptions, requestOptions } from '../passkeys/options.ts'
import type { Passkey } from '../passkeys/passkey.ts'
import { UnknownPasskeyError, wrongPasskey } from '../passkeys/problems.ts'
import type { Transaction } from '../storage/database.ts'
import {
  type Administrator,
  administratorLinkOver,
  administratorSecretHash,
  type AdministratorSession,
  administratorSessionOver,
} from './administrator.ts'
import type { AdministratorsDeps, NotifyAdministrator } from './administrator-notices.ts'
import { createAdministratorPasskeys, type NewPasskeyResponse } from './administrator-passkeys.ts'
import {
  deleteAdministratorSession,
  deleteEndedAdministratorSessions,
  findAdministratorSession,
  insertAdministratorSession,
  noteSeen,
  updateProved,
} from './administrator-session-store.ts'
import {
  type AdministratorRecord,
  findAdministratorByInvite,
  findAdministratorPasskey,
  lockAdministrator,
  lockAdministratorByInvite,
  setInvite,
  updateAdministratorPasskey,
} from './administrator-store.ts'

/** The secret goes into the cookie of the browser, and is stored nowhere. */
interface Admitted {
  secret: string
  administrator: Administrator
}

/** A browser sends this to prove who uses it. */
interface ProofResponse {
  response: unknown
  browserSecret: string | undefined
}

/**
 * Administrators come in by this. `browserSecret`, in a cookie, binds each challenge to one browser. A function throws
 * `invalid_request` for a response that cannot be read, or whose challenge is not good, and `unauthorized` for one that
 * proves nothing.
 */
export interface Entrance {
  /** Finds out for whom a link is. Throws `gone` for one that is not good any more, as the next two do. */
  requireInvited(token: string | undefined): Promise<Administrator>
  joinOptions(token: string | undefined, browserSecret: string): Promise<CreationOptions>
  /** Makes the first passkey, uses the link up, and lets the administrator in. */
  join(given: NewPasskeyResponse & { token: string | undefined }, caller: Caller): Promise<Admitted>
  signInOptions(browserSecret: string): RequestOptions
  signIn(given: ProofResponse, caller: Caller): Promise<Admitted>
  /** Finds the session of a cookie, as it is now: a session that has ended is undefined. */
  findSession(secret: string): Promise<AdministratorSession | undefined>
  signOut(session: AdministratorSession, caller: Caller): Promise<void>
  /** The administrator shows a passkey of theirs before a change. Throws `unauthorized` if the session has ended. */
  prove(session: AdministratorSession, given: ProofResponse, caller: Caller): Promise<void>

  passkeys(session: AdministratorSession): Promise<Passkey[]>
  /** Throws `conflict` for an administrator who has as many as they may. */
  passkeyOptions(session: AdministratorSession, browserSecret: string): Promise<CreationOptions>
  /** Throws `forbidden` unless a passkey was shown in the last ten minutes, as the next one does. */
  addPasskey(session: AdministratorSession, given: NewPasskeyResponse, caller: Caller): Promise<Passkey>
  /** Ends all other sessions. Throws `conflict` for the last one. */
  removePasskey(session: AdministratorSession, id: string, caller: Caller): Promise<Passkey>
}

/** A session ends at this age. */
const LONGEST_MS = 8 * 3_600_000

/** A session ends after this time without a request. */
const IDLE_MS = 30 * 60_000

/** A change needs a passkey that was shown so long ago at most. */
const PROOF_MS = 10 * 60_000

/** The time of the last request is so exact. */
const SEEN_EVERY_MS = 10_000

const FAILURES: ReadonlySet<string | undefined> = new Set(['passkey_wrong', 'passkey_unknown'])

export const createEntrance = (deps: AdministratorsDeps & { notify: NotifyAdministrator }): Entrance => {
  const { db, clock, recordEvent, tallyEvent, notify, adminUrl = 'https://unset.invalid' } = deps
  const { origin, hostname: relyingPartyId } = new URL(adminUrl)
  const challenges = createChallenges({ ...deps, purpose: 'administrator challenge' })
  const ceremonies = createCeremonies({ challenges, origin, relyingPartyId })
  const passkeys = createAdministratorPasskeys({ ...deps, challenges, ceremonies, relyingPartyId })

  /** Lets a browser in. */
  const admit = async (
    transaction: Transaction,
    { readAtMs: nowMs = clock.now(), ...administrator }: AdministratorRecord,
    details: AuditDetails,
    caller: Caller,
  ): Promise<Admitted> => {
    const secret = randomToken(32)
    const { id: administratorId, name } = administrator
    const session = { id: randomUUIDv7(), administratorId, secretHash: administratorSecretHash(secret), nowMs }
    await deleteEndedAdministratorSessions(transaction, {
      beganBeforeMs: nowMs - LONGEST_MS,
      seenBeforeMs: nowMs - IDLE_MS,
    })
    await insertAdministratorSession(transaction, session)
    const event = { type: 'administrator.signed_in', details: { ...details, administrator: name } } as const
    await recordEvent(transaction, event, ownCaller(administrator, caller))
    return { secret, administrator }
  }

  /** Finds out by a response whose passkey it is. Nothing was changed yet. */
  const checkProof = async ({ response, browserSecret }: ProofResponse, isKnown: boolean) => {
    const { assertion, challenge, requireUnframed, verify } = ceremonies.readProof(response, browserSecret)
    const passkey = await findAdministratorPasskey(db, assertion.id)
    if (!passkey) throw new UnknownPasskeyError({ isGone: false })
    requireUnframed()
    const use = await verify(passkey)
    return {
      passkey,
      hasReturned: counterWentBack(passkey, use),
      async apply(transaction: Transaction): Promise<AdministratorRecord> {
        const administrator = await lockAdministrator(transaction, passkey.userId)
        if (!administrator) throw new UnknownPasskeyError({ isGone: false })
        // The administrator must be the one that the authenticator names (WebAuthn section 7.2, step 6).
        const { userHandle } = assertion
        if (userHandle === undefined ? !isKnown : userHandle !== administrator.userHandle)
          throw wrongPasskey(new Error('the user handle is another'))
        await challenge.spend(transaction)
        const usedAtMs = administrator.readAtMs ?? clock.now()
        const changes = await updateAdministratorPasskey(transaction, { ...use, id: passkey.id, usedAtMs })
        if (changes === 0) throw wrongPasskey(new Error('the passkey was removed in the meantime'))
        return administrator
      },
    }
  }

  /** What proves nothing is counted. */
  const counted = async <T>(caller: Caller, work: () => Promise<T>, administrator?: string): Promise<T> => {
    try {
      return await work()
    } catch (error) {
      if (error instanceof AppError && FAILURES.has(error.reason)) {
        const details = { method: 'passkey', reason: error.reason, administrator }
        tallyEvent({ type: 'administrator.sign_in_failed', details }, { ...caller, actor: 'user' })
      }
      throw error
    }
  }

  /** Finds whom a link is for, if it is good. */
  const orOver = (found: AdministratorRecord | undefined): AdministratorRecord => {
    const { readAtMs = clock.now(), inviteExpiresAtMs = 0 } = found ?? {}
    if (found && inviteExpiresAtMs > readAtMs) return found
    throw administratorLinkOver()
  }

  const requireInvited = async (token: string | undefined): Promise<AdministratorRecord> =>
    orOver(token === undefined ? undefined : await findAdministratorByInvite(db, administratorSecretHash(token)))

  return {
    requireInvited,

    async joinOptions(token, browserSecret) {
      return passkeys.options(db, await requireInvited(token), browserSecret)
    },

    async join({ token, ...given }, caller) {
      const { id } = await requireInvited(token)
      const checked = await passkeys.check(id, given)
      return db.inTransaction(async (transaction) => {
        const hash = administratorSecretHash(token ?? '')
        const administrator = orOver(await lockAdministratorByInvite(transaction, hash))
        await setInvite(transaction, administrator.id, { hash: null, expiresAtMs: null })
        await checked.apply(transaction, administrator, ownCaller(administrator, caller))
        return admit(transaction, administrator, { method: 'invitation' }, caller)
      })
    },

    signInOptions: (browserSecret) => requestOptions(challenges.make('sign_in', browserSecret), relyingPartyId),

    signIn: (given, caller) =>
      counted(caller, async () => {
        const { apply, hasReturned } = await checkProof(given, false)
        return db.inTransaction(async (transaction) => {
          const administrator = await apply(transaction)
          const details = { method: 'passkey', ...(hasReturned && { reason: 'counter_went_back' }) }
          const admitted = await admit(transaction, administrator, details, caller)
          await notify(transaction, administrator, 'signed_in', caller)
          return admitted
        })
      }),

    async findSession(secret) {
      const found = await findAdministratorSession(db, administratorSecretHash(secret))
      if (!found) return undefined
      const { id, administrator, createdAtMs, seenAtMs, provedAtMs, readAtMs: nowMs = clock.now() } = found
      if (nowMs - createdAtMs >= LONGEST_MS || nowMs - seenAtMs >= IDLE_MS) return undefined
      if (nowMs - seenAtMs >= SEEN_EVERY_MS) await noteSeen(db, id, nowMs)
      return { id, administrator, mustProve: nowMs - provedAtMs >= PROOF_MS }
    },

    signOut: ({ id, administrator }, caller) =>
      db.inTransaction(async (transaction) => {
        if ((await deleteAdministratorSession(transaction, id)) === 0) return
        const event = { type: 'administrator.signed_out', details: { administrator: administrator.name } } as const
        await recordEvent(transaction, event, ownCaller(administrator, caller))
      }),

    prove: ({ id, administrator: { id: ownerId, name } }, given, caller) =>
      counted(
        caller,
        async () => {
          const { passkey, apply } = await checkProof(given, true)
          if (passkey.userId !== ownerId) throw wrongPasskey(new Error('the passkey is of another administrator'))
          await db.inTransaction(async (transaction) => {
            const { readAtMs = clock.now() } = await apply(transaction)
            if ((await updateProved(transaction, id, readAtMs)) === 0) throw administratorSessionOver()
          })
        },
        name,
      ),

    passkeys: ({ administrator }) => passkeys.list(administrator.id),
    passkeyOptions: passkeys.optionsOf,
    addPasskey: passkeys.add,
    removePasskey: passkeys.remove,
  }
}

/** Records name the administrator, who has proved to be themselves. */
const ownCaller = ({ name }: Pick<Administrator, 'name'>, caller: Caller): Caller => ({
  ...caller,
  actor: `admin:${name}`,
})
