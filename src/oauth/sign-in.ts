import { AppError } from '../lib/errors.ts'
import type { Clock } from '../lib/time.ts'
import type { SignInGrant } from '../sessions/sign-in-grant.ts'
import { type Database, isUniqueViolation } from '../storage/database.ts'
import { findUserByEmail, findUserById, lockUser, type UserRecord } from '../users/user-store.ts'
import type { Users } from '../users/users.ts'
import { signInProblem } from './errors.ts'
import { findIdentitiesOfUser, findIdentity, type Identity, insertIdentity, lockIdentity } from './identity-store.ts'
import { type ProviderProfile, requireVerifiedEmail, toIdentity } from './profile.ts'

interface SignInDeps {
  db: Database
  clock: Clock
  users: Pick<Users, 'createVouched'>
  signupOpen: boolean
  /** Names of the providers that can be used now. */
  providerNames: readonly string[]
}

/** An account that has the email of somebody who has not been seen here before. */
export interface TakenEmail {
  userId: string
  email: string
  hasPassword: boolean
  /** Providers by which its owner can prove that it is his. */
  providers: string[]
  /** Nobody has ever proved that the address is his: whoever made the account may have lain in wait for its owner. */
  isUnproven: boolean
}

/** How often two who come at once may be in each other's way. */
const TRIES = 3

/** Who is let in by what a provider says of him. Refusals are `AppError`s with a `SignInProblem` as their reason. */
export const createSignIn = ({ db, clock, users, signupOpen, providerNames }: SignInDeps) => {
  const enterIfLinked = async (vouched: ProviderProfile): Promise<SignInGrant | undefined> => {
    const identity = await findIdentity(db, vouched)
    if (!identity) return undefined
    const user = await findUserById(db, identity.userId)
    if (user?.disabled) throw signInProblem('disabled')
    return { ...entranceBy(identity), authenticatedAtMs: vouched.signedInAtMs }
  }

  const describeTaken = async (user: UserRecord): Promise<TakenEmail> => {
    if (user.disabled) throw signInProblem('disabled')
    const linked = await findIdentitiesOfUser(db, user.id)
    return {
      userId: user.id,
      email: user.email,
      hasPassword: user.passwordHash !== null,
      providers: providerNames.filter((name) => linked.some(({ provider }) => provider === name)),
      isUnproven: user.emailVerifiedAtMs === undefined,
    }
  }

  const register = async (vouched: ProviderProfile): Promise<void> => {
    const email = requireVerifiedEmail(vouched)
    await users.createVouched({ email, name: vouched.name }, (transaction, userId) =>
      insertIdentity(transaction, toIdentity(vouched, userId, clock.now())),
    )
  }

  const requireTaken = async (userId: string): Promise<TakenEmail> => {
    const user = await findUserById(db, userId)
    if (!user) throw signInProblem('no_proof')
    return describeTaken(user)
  }

  return {
    /**
     * Lets in who is known, makes an account for who is not, and otherwise says whose email it is: that account is
     * never linked before somebody has proved that it is his. `limitSignup` makes a new account, or refuses to.
     */
    async signIn(
      vouched: ProviderProfile,
      limitSignup: (signUp: () => Promise<void>) => Promise<void>,
    ): Promise<(SignInGrant & { isNew: boolean }) | { taken: TakenEmail }> {
      let isNew = false
      for (let tries = 1; ; tries += 1) {
        const entrance = await enterIfLinked(vouched)
        // Whose account is this new has nothing yet that he would have to be asked again for.
        if (entrance) return { ...entrance, ...(isNew && { authenticatedAtMs: clock.now() }), isNew }
        // Nothing that is wrong with an email can be mended where there will be no account.
        if (!signupOpen && !vouched.emailVerified) throw signInProblem('signup_closed')
        const user = await findUserByEmail(db, requireVerifiedEmail(vouched).lower)
        // Asked again: he may have been made in between, by the same person in another tab.
        if (user) {
          const overtaken = await enterIfLinked(vouched)
          return overtaken ? { ...overtaken, isNew } : { taken: await describeTaken(user) }
        }
        if (!signupOpen) throw signInProblem('signup_closed')
        try {
          await limitSignup(() => register(vouched))
          isNew = true
        } catch (error) {
          // Somebody with this email, or the same person in another tab, was first: he is there the next time round.
          if (!isOvertaken(error) || tries === TRIES) throw error
        }
      }
    },

    /** Lets in who is this user; `forbidden` when somebody else came. */
    async signInAs(vouched: ProviderProfile, userId: string): Promise<SignInGrant> {
      const entrance = await enterIfLinked(vouched)
      if (entrance?.userId !== userId) throw signInProblem('other_account')
      return entrance
    },

    /** What can prove that an account is somebody's; `conflict` when it is gone. */
    requireTaken,

    /** `invalid_request` when this provider is none by which the owner of the account can prove that it is theirs. */
    async requireProvableBy(provider: string, userId: string): Promise<void> {
      const { providers } = await requireTaken(userId)
      if (!providers.includes(provider)) throw signInProblem('unreadable')
    },
  }
}

export type SignIn = ReturnType<typeof createSignIn>

const entranceBy = ({ id, userId }: Identity): Pick<SignInGrant, 'userId' | 'isStillValid'> => ({
  userId,
  async isStillValid(transaction) {
    const user = await lockUser(transaction, userId)
    return user !== undefined && !user.disabled && (await lockIdentity(transaction, id, userId))
  },
})

const isOvertaken = (error: unknown): boolean =>
  isUniqueViolation(error, 'identities.subject') || (error instanceof AppError && error.reason === 'email_taken')
