import { AppError } from '../lib/errors.ts'
import type { Clock } from '../lib/time.ts'
import type { SignInGrant } from '../sessions/sign-in-grant.ts'
import { type Database, isUniqueViolation } from '../storage/database.ts'
import { findUserByEmail, findUserById, lockUser, type UserRecord } from '../users/user-store.ts'
import type { EmailDomains } from '../users/email-domains.ts'
import type { Users } from '../users/users.ts'
import { emailProblem, isSignInProblem, type SignInProblem, signInProblem } from './errors.ts'
import type { ExistingAccount } from './existing-account.ts'
import { findIdentity, type Identity, insertIdentity, lockIdentity } from './identity-store.ts'
import { newIdentity, type ProviderProfile, requireVerifiedEmail } from './profile.ts'
import { decideSignIn, type SignInFacts } from './sign-in-policy.ts'

interface SignInDeps {
  db: Database
  clock: Clock
  users: Pick<Users, 'createFromProfile'>
  signupOpen: boolean
  emailDomains: Pick<EmailDomains, 'accepts' | 'accepted'>
  /** What can prove that an account is the user's. */
  describeAccount: (account: UserRecord) => Promise<ExistingAccount>
}

/** `account`: the user must first prove that this account is theirs. */
export type SignInResult = { grant: SignInGrant; isNew: boolean } | { account: ExistingAccount }

/** Creates an account under the limit of signups, or throws `rate_limited`. */
export type LimitSignup = (signUp: () => Promise<void>) => Promise<void>

/** How often two sign-ins at the same time may get in each other's way. */
const MAX_TRIES = 3

/**
 * Signs users in by what a provider says about them. Refusals are `AppError`s with a `SignInProblem` as their reason.
 */
export const createSignIn = ({ db, clock, users, signupOpen, emailDomains, describeAccount }: SignInDeps) => {
  const findConnection = async (profile: ProviderProfile): Promise<Connection | undefined> => {
    const identity = await findIdentity(db, profile)
    return identity && { identity, account: stateOf(await findUserById(db, identity.userId)) }
  }

  const findAccountWithEmail = async ({ email, emailVerified }: ProviderProfile): Promise<UserRecord | undefined> =>
    email && emailVerified ? findUserByEmail(db, email.lower) : undefined

  const find = async (profile: ProviderProfile) => {
    const earlier = await findConnection(profile)
    const account = earlier ? undefined : await findAccountWithEmail(profile)
    // Again: the same user may have created this account in another tab since the first query.
    const connection = account ? await findConnection(profile) : earlier
    const facts: SignInFacts = {
      connectedAccount: connection?.account ?? 'none',
      email: emailStateOf(profile),
      accountWithEmail: account ? stateOf(account) : 'none',
      signup: signupOpen ? 'open' : 'closed',
      domain: profile.email && !emailDomains.accepts(profile.email) ? 'refused' : 'accepted',
    }
    return { outcome: decideSignIn(facts), identity: connection?.identity, account }
  }

  const createAccount = async (profile: ProviderProfile): Promise<void> => {
    const email = requireVerifiedEmail(profile)
    await users.createFromProfile({ email, name: profile.name }, (transaction, userId) =>
      insertIdentity(transaction, newIdentity(profile, userId, clock.now())),
    )
  }

  /** Whether an account was created; false when another sign-in was first, whose account is found by the next try. */
  const tryToCreateAccount = async (profile: ProviderProfile, limitSignup: LimitSignup, isLastTry: boolean) => {
    try {
      await limitSignup(() => createAccount(profile))
      return true
    } catch (error) {
      if (!isCreatedByAnother(error) || isLastTry) throw error
      return false
    }
  }

  return {
    async signIn(profile: ProviderProfile, limitSignup: LimitSignup): Promise<SignInResult> {
      let isNew = false
      for (let tries = 1; ; tries += 1) {
        const { outcome, identity, account } = await find(profile)
        if (isSignInProblem(outcome)) throw refusal(outcome, profile, emailDomains.accepted)
        if (outcome === 'create_account') {
          isNew = await tryToCreateAccount(profile, limitSignup, tries === MAX_TRIES)
        } else if (outcome === 'sign_in' && identity) {
          // A new account holds nothing yet that a re-authentication would have to protect.
          const authenticatedAtMs = isNew ? clock.now() : profile.signedInAtMs
          return { grant: { ...grantBy(identity), authenticatedAtMs }, isNew }
        } else if (account) {
          return { account: await describeAccount(account) }
        }
      }
    },

    async signInAs(profile: ProviderProfile, userId: string): Promise<SignInGrant> {
      const connection = await findConnection(profile)
      if (connection?.account === 'disabled') throw signInProblem('disabled')
      if (connection?.identity.userId !== userId) throw signInProblem('other_account')
      return { ...grantBy(connection.identity), authenticatedAtMs: profile.signedInAtMs }
    },
  }
}

interface Connection {
  identity: Identity
  account: 'active' | 'disabled'
}

const stateOf = (user: UserRecord | undefined): Connection['account'] =>
  user && !user.disabled ? 'active' : 'disabled'

const emailStateOf = ({ email, emailVerified }: ProviderProfile): SignInFacts['email'] => {
  if (!email) return 'missing'
  return emailVerified ? 'verified' : 'unverified'
}

const refusal = (problem: SignInProblem, { email }: ProviderProfile, accepted: readonly string[]): AppError => {
  if (problem === 'email_domain_not_accepted') return emailProblem(problem, email?.shown, accepted)
  return problem === 'email_unverified' ? emailProblem(problem, email?.shown) : signInProblem(problem)
}

/** The grant holds while the account is active and connected to this provider account. */
const grantBy = ({ id, userId }: Identity): Pick<SignInGrant, 'userId' | 'isStillValid'> => ({
  userId,
  async isStillValid(transaction) {
    const user = await lockUser(transaction, userId)
    return user !== undefined && !user.disabled && (await lockIdentity(transaction, id, userId))
  },
})

const isCreatedByAnother = (error: unknown): boolean =>
  isUniqueViolation(error, 'identities.subject') || (error instanceof AppError && error.reason === 'email_taken')
