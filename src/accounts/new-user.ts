import { randomUUIDv7 } from 'node:crypto'
import type { Email } from '../lib/email-address.ts'
import { checkAllInTurn } from '../lib/errors.ts'
import { requireEmail } from './email.ts'
import type { EmailDomains } from './email-domains.ts'
import type { RequireGoodPassword } from './passwords/password-rules.ts'
import { requireRoles } from './roles.ts'
import type { UserRecord } from './user-store.ts'
import { localPart, requireUsername, usernamesFor } from './username.ts'

export interface NewUser {
  email: string
  /** Left out where the service accepts none. */
  password?: string | undefined
  /** In place of a password, of svc or of another system; by an operator. */
  passwordHash?: string | undefined
  /** Made from the email's local part when left out or empty. */
  username?: string | undefined
  roles?: string[] | undefined
  /** Whether the address is known to be the user's. An operator vouches for it; a user who signs up does not. */
  emailVerified?: boolean | undefined
  /** Whether the user signs up, and no operator vouches for the domain of the email. */
  isSelfMade?: boolean
}

/** What a user has entered to sign up, checked and hashed. There is no account yet. */
export interface CheckedSignup {
  email: Email
  /** Undefined: made from the email. */
  username: string | undefined
  passwordHash: string
}

/** What an account is made from when a provider says who the user is. */
export interface ProviderUser {
  /** Verified by the provider. */
  email: Email
  /** A name of any kind, from which a username is made. */
  name: string
  /** The provider's name in the settings. */
  provider: string
}

/** What an account is made from when an operator invites its user. All of it is checked. */
export interface InvitedUser {
  email: Email
  /** Made from the email's local part when left out. */
  username: string | undefined
  roles: string[]
}

/** The rules about what is entered. */
export interface NewUserRules {
  requireGoodPassword: RequireGoodPassword
  emailDomains: Pick<EmailDomains, 'requireEmail'>
}

interface Account {
  email: Email
  username: string | undefined
  password: string | undefined
  roles: string[]
}

/** An account that a user has made, without a name or a way to sign in. */
export const newRecord = ({ shown, lower }: Email, nowMs: number): UserRecord => ({
  id: randomUUIDv7(),
  email: shown,
  emailLower: lower,
  emailVerifiedAtMs: undefined,
  isSelfMade: true,
  invitedAtMs: undefined,
  username: '',
  passwordHash: null,
  roles: [],
  disabled: false,
  createdAtMs: nowMs,
})

/** Checks what a new account is made from; `unprocessable` for each field that breaks a rule. */
export const requireNewUser = async (
  { email, password, username, roles = [], isSelfMade }: NewUser,
  { requireGoodPassword, emailDomains }: NewUserRules,
): Promise<Account> => {
  // A user who chooses no username most likely gets the first one that is generated.
  const [generated = ''] = usernamesFor(localPart(email.trim().toLowerCase()))
  return checkAllInTurn({
    email: () => (isSelfMade ? emailDomains.requireEmail(email) : requireEmail(email)),
    username: () => (username ? requireUsername(username) : undefined),
    password: () =>
      password === undefined ? undefined : requireGoodPassword(password, [email.trim(), username ?? '', generated]),
    roles: () => requireRoles(roles),
  })
}
