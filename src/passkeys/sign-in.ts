import type { AuditEvent, RecordEvent } from '../audit/audit-event.ts'
import type { Caller } from '../lib/caller.ts'
import type { Clock } from '../lib/time.ts'
import type { SignInGrant } from '../sessions/sign-in-grant.ts'
import { amrOf, type Proof } from '../sign-in/amr.ts'
import type { Database, Transaction } from '../storage/database.ts'
import { findUserById, lockUser } from '../accounts/user-store.ts'
import type { Challenges, OpenedChallenge } from './challenge.ts'
import { type Passkey, proofOfPasskey } from './passkey.ts'
import { findPasskeyByCredential, findUserHandle, hasUserHandle, lockPasskey, updateUse } from './passkey-store.ts'
import { accountDisabled, UnknownPasskeyError, wrongPasskey } from './problems.ts'
import { type Assertion, readAssertion, readClientData } from './response.ts'
import { type Use, verifyAssertion } from './verification.ts'

export interface PasskeySignInDeps {
  db: Database
  clock: Clock
  challenges: Challenges
  origin: string
  relyingPartyId: string
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
  const { db, clock, challenges, origin, relyingPartyId, recordEvent } = deps

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
    counterWentBack: wentBack(passkey, use),
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
      if (wentBack(passkey, use)) await recordEvent(transaction, counterEvent(passkey), caller)
    },
  })

  return async (
    response: unknown,
    { browserSecret, caller, limited = (_, check) => check() }: Presenter,
    required?: RequiredPasskey,
  ): Promise<PasskeyProof> => {
    const assertion = readAssertion(response)
    const { challenge, isFramed } = readClientData(assertion.clientDataJSON)
    const opened = challenges.require(challenge, 'sign_in', browserSecret)
    const passkey = await findPasskeyByCredential(db, assertion.id)
    if (!passkey) throw await unknownPasskey(assertion)
    if (isFramed) throw wrongPasskey(new Error('the page was inside one of another site'))
    if (required) requireOne(passkey, required)
    await requireOwner(assertion, passkey, required !== undefined)
    const use = await limited(passkey.userId, () =>
      verifyAssertion(assertion, passkey, { challenge, origin, relyingPartyId }).catch((cause) => {
        throw wrongPasskey(cause)
      }),
    )
    await requireActive(passkey.userId)
    return provedBy(passkey, use, { challenge: opened, caller })
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

const wentBack = (passkey: Passkey, use: Use): boolean =>
  (use.signCount > 0 || passkey.signCount > 0) && use.signCount <= passkey.signCount

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
