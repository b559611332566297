import type { Caller } from '../lib/caller.ts'
import { AppError } from '../lib/errors.ts'
import type { SignInGrant } from '../sessions/sign-in-grant.ts'
import { findUserByEmail, findUserById, lockUser, lockUserToChange, type UserRecord } from '../accounts/user-store.ts'
import { amrOf } from '../sign-in/amr.ts'
import { emailProblem, isSignInProblem, type SignInProblem, signInProblem } from './errors.ts'
import type { ProvidersDeps } from './oauth-deps.ts'
import { createFirstSignIn, type FirstSigner, type FirstSignInDeps } from './first-sign-in.ts'
import { findIdentity, type Identity, lockIdentity, findIdentitiesOfUser } from './identity-store.ts'
import type { ProviderProfile } from './providers/profile.ts'
import { createVerifyIfSame, createLinking, type LinkingDeps } from './linking.ts'
import { proofOfProvider } from './provider-factor.ts'
import { decideSignIn, type SignInFacts } from './sign-in-policy.ts'
import { createOffer } from './connect.ts'

/** This account has the email of a user who comes from this provider for the first time. */
export interface ExistingAccount {
  userId: string
  email: string
  hasPassword: boolean
  /** The owner can prove by these providers that the account is theirs. */
  providers: string[]
  /** Nobody has ever proved to own the address: an attacker may have registered it before its owner came. */
  isEmailUnverified: boolean
}

type ExistingAccountsDeps = Pick<ProvidersDeps, 'db' | 'hasPassword' | 'providerNames'>

/** Finds the ways to prove that an account is a user's. */
const createExistingAccounts = ({ db, providerNames, hasPassword }: ExistingAccountsDeps) => {
  /** Throws `forbidden` when the account is disabled. */
  const describeAccount = async (account: UserRecord): Promise<ExistingAccount> => {
    if (account.disabled) throw signInProblem('disabled')
    const identities = await findIdentitiesOfUser(db, account.id)
    return {
      userId: account.id,
      email: account.email,
      hasPassword: hasPassword(account),
      providers: providerNames.filter((name) => identities.some(({ provider }) => provider === name)),
      isEmailUnverified: account.emailVerifiedAtMs === undefined,
    }
  }

  const requireAccount = async (userId: string): Promise<ExistingAccount> => {
    const account = await findUserById(db, userId)
    if (!account) throw signInProblem('no_proof')
    return describeAccount(account)
  }

  return {
    describeAccount,
    requireAccount,

    /** Throws `invalid_request` when this provider cannot prove the account. */
    async requireLinkedProvider(provider: string, userId: string): Promise<void> {
      const { providers } = await requireAccount(userId)
      if (!providers.includes(provider)) throw signInProblem('unreadable')
    },
  }
}

interface SignInDeps
  extends FirstSignInDeps,
    Pick<ProvidersDeps, 'emailDomains' | 'factorOf' | 'markVerified' | 'signupOpen'> {
  describeAccount: (account: UserRecord) => Promise<ExistingAccount>
}

/** `account` is set when the user must first prove that this account is theirs. */
export type SignInResult =
  | { grant: SignInGrant; event: 'login' | 'signup' | 'invitation_accept' }
  | { account: ExistingAccount }

/** Two sign-ins at the same time may get in each other's way this often. */
const MAX_TRIES = 3

/**
 * Signs users in by the claims of a provider about them. Refusals are `AppError`s with a `SignInProblem` as their
 * reason.
 */
export const createSignIn = (deps: SignInDeps) => {
  const { db, clock, signupOpen, emailDomains, describeAccount } = deps
  const verifyIfSame = createVerifyIfSame(deps.markVerified)

  const findConnection = async (profile: ProviderProfile): Promise<Connection | undefined> => {
    const identity = await findIdentity(db, profile)
    const user = identity && (await findUserById(db, identity.userId))
    return identity && { identity, user, account: stateOf(user) }
  }

  /** The user has proved the account by its connection, and the email by the word of the provider. */
  const verifyEmail = async (profile: ProviderProfile, { user }: Connection, caller: Caller): Promise<void> => {
    if (!user || user.emailVerifiedAtMs !== undefined || !profile.emailVerified) return
    await db.inTransaction(async (transaction) => {
      await lockUserToChange(transaction, user.id)
      await verifyIfSame(transaction, profile, user.id, caller)
    })
  }

  const findAccountWithEmail = async ({ email, emailVerified }: ProviderProfile): Promise<UserRecord | undefined> =>
    email && emailVerified ? findUserByEmail(db, email.lower) : undefined

  const find = async (profile: ProviderProfile) => {
    const earlier = await findConnection(profile)
    const account = earlier ? undefined : await findAccountWithEmail(profile)
    // The account is looked for again: the same user may have created it in another tab since the first query.
    const connection = account ? await findConnection(profile) : earlier
    const facts: SignInFacts = {
      connectedAccount: connection?.account ?? 'none',
      email: emailStateOf(profile),
      accountWithEmail: accountWithEmailOf(account),
      signup: signupOpen ? 'open' : 'closed',
      domain: profile.email && !emailDomains.accepts(profile.email) ? 'refused' : 'accepted',
    }
    return { outcome: decideSignIn(facts), connection, account }
  }

  const grantOf = (profile: ProviderProfile, { identity }: Connection) => ({
    ...grantBy(identity),
    amr: amrOf(proofOfProvider(deps.factorOf(profile))),
  })

  const { tryToCreateAccount, tryToEnter } = createFirstSignIn(deps)

  return {
    async signIn(profile: ProviderProfile, signer: FirstSigner): Promise<SignInResult> {
      let event: 'login' | 'signup' | 'invitation_accept' = 'login'
      for (let tries = 1; ; tries += 1) {
        const { outcome, connection, account } = await find(profile)
        if (isSignInProblem(outcome)) throw refusal(outcome, profile, emailDomains.accepted)
        if (outcome === 'create_account') {
          if (await tryToCreateAccount(profile, signer, tries === MAX_TRIES)) event = 'signup'
        } else if (outcome === 'enter_invited' && account) {
          if (await tryToEnter(profile, account, signer.caller)) event = 'invitation_accept'
        } else if (outcome === 'sign_in' && connection) {
          await verifyEmail(profile, connection, signer.caller)
          // A new account holds nothing yet that a re-authentication would have to protect.
          const authenticatedAtMs = event === 'login' ? profile.signedInAtMs : clock.now()
          return { grant: { ...grantOf(profile, connection), authenticatedAtMs }, event }
        } else if (account) {
          return { account: await describeAccount(account) }
        }
      }
    },

    async signInAs(profile: ProviderProfile, userId: string): Promise<SignInGrant> {
      const connection = await findConnection(profile)
      if (connection?.account === 'disabled') throw signInProblem('disabled')
      if (connection?.identity.userId !== userId) throw signInProblem('other_account')
      return { ...grantOf(profile, connection), authenticatedAtMs: profile.signedInAtMs }
    },
  }
}

interface Connection {
  identity: Identity
  user: UserRecord | undefined
  account: 'active' | 'disabled'
}

const stateOf = (user: UserRecord | undefined): Connection['account'] =>
  user && !user.disabled ? 'active' : 'disabled'

const accountWithEmailOf = (user: UserRecord | undefined): SignInFacts['accountWithEmail'] => {
  if (!user) return 'none'
  return user.invitedAtMs === undefined || user.disabled ? stateOf(user) : 'invited'
}

const emailStateOf = ({ email, emailVerified }: ProviderProfile): SignInFacts['email'] => {
  if (!email) return 'missing'
  return emailVerified ? 'verified' : 'unverified'
}

const refusal = (problem: SignInProblem, { email }: ProviderProfile, accepted: readonly string[]): AppError => {
  if (problem === 'email_domain_not_accepted') return emailProblem(problem, email?.shown, accepted)
  return problem === 'email_unverified' ? emailProblem(problem, email?.shown) : signInProblem(problem)
}

/** The grant holds while the account is active and connected to this provider account. */
const grantBy = ({ id, userId, provider }: Identity): Omit<SignInGrant, 'authenticatedAtMs' | 'amr'> => ({
  userId,
  provider,
  identityId: id,
  async isStillValid(transaction) {
    const user = await lockUser(transaction, userId)
    return user !== undefined && !user.disabled && (await lockIdentity(transaction, id, userId))
  },
})

type ProviderSignInsDeps = ExistingAccountsDeps & Omit<SignInDeps, 'describeAccount'> & Omit<LinkingDeps, 'signInAs'>

/** Serves users who come back from a provider. */
export const createProviderSignIns = (deps: ProviderSignInsDeps) => {
  const existingAccounts = createExistingAccounts(deps)
  const signIns = createSignIn({ ...deps, ...existingAccounts })
  const linking = createLinking({ ...deps, ...signIns })
  return { ...existingAccounts, ...signIns, ...linking, offer: createOffer(deps) }
}
