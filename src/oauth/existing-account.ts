import type { Database } from '../storage/database.ts'
import type { HasPassword } from '../accounts/passwords/usable-password.ts'
import { findUserById, type UserRecord } from '../accounts/user-store.ts'
import { signInProblem } from './errors.ts'
import { findIdentitiesOfUser } from './identity-store.ts'

/** An account with the email of a user who comes from this provider for the first time. */
export interface ExistingAccount {
  userId: string
  email: string
  hasPassword: boolean
  /** The providers by which the owner can prove that the account is theirs. */
  providers: string[]
  /** Nobody has ever proved to own the address: an attacker may have registered it before its owner came. */
  isEmailUnverified: boolean
}

export interface ExistingAccountsDeps {
  db: Database
  /** Names of the providers that are configured now. */
  providerNames: readonly string[]
  hasPassword: HasPassword
}

/** Finds what can prove that an account is a user's. */
export const createExistingAccounts = ({ db, providerNames, hasPassword }: ExistingAccountsDeps) => {
  /** `forbidden` when the account is disabled. */
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

    /** `invalid_request` when this provider cannot prove the account. */
    async requireLinkedProvider(provider: string, userId: string): Promise<void> {
      const { providers } = await requireAccount(userId)
      if (!providers.includes(provider)) throw signInProblem('unreadable')
    },
  }
}
