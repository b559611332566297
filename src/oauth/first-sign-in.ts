import type { Caller } from '../lib/caller.ts'
import { AppError } from '../lib/errors.ts'
import { isUniqueViolation, type Transaction } from '../storage/database.ts'
import type { UserRecord } from '../accounts/user-store.ts'
import { linkedEvent } from './connect.ts'
import { emailProblem } from './errors.ts'
import type { ProvidersDeps } from './oauth-deps.ts'
import { insertIdentity } from './identity-store.ts'
import { newIdentity, type ProviderProfile, requireVerifiedEmail } from './providers/profile.ts'

export type FirstSignInDeps = Pick<ProvidersDeps, 'clock' | 'db' | 'enterInvited' | 'names' | 'recordEvent' | 'users'>

/** Creates an account under the limit of signups, or throws `rate_limited`. */
type LimitSignup = (signUp: () => Promise<void>) => Promise<void>

export interface FirstSigner {
  limitSignup: LimitSignup
  caller: Caller
}

/** Gives users of a provider their account when they come for the first time. */
export const createFirstSignIn = ({ db, clock, users, enterInvited, recordEvent, names }: FirstSignInDeps) => {
  const connect = async (transaction: Transaction, profile: ProviderProfile, userId: string, caller: Caller) => {
    const identity = newIdentity(profile, userId, clock.now())
    await insertIdentity(transaction, identity)
    await recordEvent(transaction, linkedEvent(identity), caller)
  }

  const createAccount = async (profile: ProviderProfile, caller: Caller): Promise<void> => {
    const { name, fullName, provider } = profile
    const email = requireVerifiedEmail(profile)
    await users.createFromProfile(
      { email, name, fullName, provider },
      (transaction, userId) => connect(transaction, profile, userId, caller),
      caller,
    )
  }

  return {
    /**
     * Tells whether an account was created; it is false when another sign-in was first: the next try finds that
     * account.
     */
    async tryToCreateAccount(
      profile: ProviderProfile,
      { limitSignup, caller }: FirstSigner,
      isLastTry: boolean,
    ): Promise<boolean> {
      try {
        await limitSignup(() => createAccount(profile, caller))
        return true
      } catch (error) {
        if (!isCreatedByAnother(error)) throw error
        // No account has the email, and none can get it: it is reserved for the account that had it.
        if (isLastTry) throw emailProblem('email_reserved', profile.email?.shown)
        return false
      }
    },

    /**
     * Tells whether the user has entered the account; it is false when another request was first, which the next try
     * finds.
     */
    async tryToEnter(
      profile: ProviderProfile,
      { id: userId, emailLower, name: given }: UserRecord,
      caller: Caller,
    ): Promise<boolean> {
      try {
        return await db.inTransaction(async (transaction) => {
          const name = given ?? names.accept(profile.fullName)
          if (!(await enterInvited(transaction, { userId, emailLower, name, caller }))) return false
          await connect(transaction, profile, userId, caller)
          return true
        })
      } catch (error) {
        if (!isCreatedByAnother(error)) throw error
        return false
      }
    },
  }
}

const isCreatedByAnother = (error: unknown): boolean =>
  isUniqueViolation(error, 'identities.subject') || (error instanceof AppError && error.reason === 'email_taken')
