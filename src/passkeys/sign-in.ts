import type { AuditEvent, RecordEvent } from '../audit/audit-event.ts'
import type { Caller } from '../lib/caller.ts'
import type { Clock } from '../lib/time.ts'
import type { SignInGrant } from '../sessions/sign-in-grant.ts'
import { amrOf, type Proof } from '../sign-in/amr.ts'
import type { Database, Transaction } from '../storage/database.ts'
import { findUserById, lockUser } from '../accounts/user-store.ts'
import { type Ceremonies, counterWentBack } from './ceremonies.ts'
import type { OpenedChallenge } from './challenge.ts'
import { type Passkey, proofOfPasskey } from './passkey.ts'
import { findPasskeyByCredential, findUserHandle, hasUserHandle, lockPasskey, updateUse } from './passkey-store.ts'
import { accountDisabled, UnknownPasskeyError, wrongPasskey } from './problems.ts'
import type { Assertion } from './response.ts'
import type { Use } from './verification.ts'

export interface PasskeySignInDeps {
  db: Database
  clock: Clock
  ceremonies: Ceremonies
  recordEvent: RecordEvent
  /** Ends the row of wrong codes over all places. */
  endWrongCodes: (transaction: Transaction, userId: string) => Promise<unknown>
}

/** A passkey has proved this. Nothing was changed yet. */
export interface PasskeyProof {
  /** The grant is valid while the account is active and has the passkey. */
  grant: SignInGrant
  proof: Proof
  passkey: Passkey
  /** A copy of the authenticator may be in use (section 6.1.1), or it was restored from a backup. */
  counterWentBack: boolean
  /**
   * Spends the challenge and notes the use. It runs in the transaction of what the proof allows, after the user's row
   * was locked. It throws `invalid_request` when the challenge was used before, and `unauthorized` when the passkey has
   * gone.
   */
  apply: (transaction: Transaction) => Promise<void>
}

/** The passkey must be one of this user. */
export interface RequiredPasskey {
  userId: string
  /** A passkey that was added at this time or later proves nothing: it may be an attacker's. */
  madeBeforeMs?: number | undefined
}

/** Checks the responses of passkeys that sign in, or that prove once more who the user is. */
export const createPasskeySignIn = (deps: PasskeySignInDeps) => {
  const { db, clock, ceremonies, recordEvent } = deps

  /** The account must be the one that the authenticator names (section 7.2, step 6). */
  const requireOwner = async ({ userHandle }: Assertion, { userId }: Passkey, isUserKnown: boolean): Promise<void> => {
    if (userHandle === undefined && isUserKnown) return
    const expected = await findUserHandle(db, userId)
    if (userHandle === undefined || userHandle !== expected) throw wrongPasskey(new Error('the user handle is another'))
  }

  /**
   * Another installation may have the same relying party ID, and this database may be empty: the browser is to forget
   * only a passkey of an account that is here.
   */
  const unknownPasskey = async ({ userHandle }: Assertion): Promise<UnknownPasskeyError> =>
    new UnknownPasskeyError({ isGone: userHandle !== undefined && (await hasUserHandle(db, userHandle)) })

  const requireActive = async (userId: string): Promise<void> => {
    const user = await findUserById(db, userId)
    if (!user) throw new UnknownPasskeyError({ isGone: false })
    if (user.disabled) throw accountDisabled()
  }

  const provedBy = (passkey: Passkey, use: Use, { challenge, caller }: ProofOrigin): PasskeyProof => ({
    passkey,
    proof: proofOfPasskey(passkey),
    counterWentBack: counterWentBack(passkey, use),
    grant: {
      userId: passkey.userId,
      authenticatedAtMs: clock.now(),
      amr: amrOf(proofOfPasskey(passkey)),
      async isStillValid(transaction) {
        const user = await lockUser(transaction, passkey.userId)
        return user !== undefined && !user.disabled && (await lockPasskey(transaction, passkey.id)) !== undefined
      },
    },
    async apply(transaction) {
      await challenge.spend(transaction)
      const changes = await updateUse(transaction, { ...use, id: passkey.id, lastUsedAtMs: clock.now() })
      if (changes === 0) throw wrongPasskey(new Error('the passkey was removed in the meantime'))
      await deps.endWrongCodes(transaction, passkey.userId)
      if (counterWentBack(passkey, use)) await recordEvent(transaction, counterEvent(passkey), caller)
    },
  })

  return async (
    response: unknown,
    { browserSecret, caller, limited = (_, check) => check() }: Presenter,
    required?: RequiredPasskey,
  ): Promise<PasskeyProof> => {
    const { assertion, challenge, requireUnframed, verify } = ceremonies.readProof(response, browserSecret)
    const passkey = await findPasskeyByCredential(db, assertion.id)
    if (!passkey) throw await unknownPasskey(assertion)
    requireUnframed()
    if (required) requireOne(passkey, required)
    await requireOwner(assertion, passkey, required !== undefined)
    const use = await limited(passkey.userId, () => verify(passkey))
    await requireActive(passkey.userId)
    return provedBy(passkey, use, { challenge, caller })
  }
}

/** Runs the check of a signature within the limits of the user who owns the passkey that is claimed. */
export type LimitedCheck = <T>(userId: string, check: () => Promise<T>) => Promise<T>

interface Presenter {
  browserSecret: string | undefined
  caller: Caller
  limited?: LimitedCheck | undefined
}

interface ProofOrigin {
  challenge: OpenedChallenge
  caller: Caller
}

const counterEvent = ({ userId, id: passkeyId }: Passkey): AuditEvent => ({
  type: 'passkey.counter_went_back',
  userId,
  details: { passkeyId },
})

const requireOne = ({ userId, createdAtMs }: Passkey, { userId: ownerId, madeBeforeMs }: RequiredPasskey): void => {
  if (userId !== ownerId) throw wrongPasskey(new Error('the passkey is of another account'))
  if (madeBeforeMs !== undefined && createdAtMs >= madeBeforeMs) {
    throw wrongPasskey(new Error('the passkey was added too late'))
  }
}
