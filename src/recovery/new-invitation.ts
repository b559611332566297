import type { Email } from '../lib/email-address.ts'
import { checkAll } from '../lib/errors.ts'
import { requireEmail } from '../accounts/email.ts'
import { requireRoles } from '../accounts/roles.ts'
import { requireUsername } from '../accounts/username.ts'

/** Whom an operator invites. */
export interface NewInvitation {
  email: string
  /** Made from the email when left out. */
  username?: string | undefined
  /** The user keeps them. Left out for an account that was invited before: its roles stay. */
  roles?: string[] | undefined
  /** Whether the link is sent by mail. */
  isMailed: boolean
}

/** The same, checked. */
export interface CheckedInvitation {
  email: Email
  username: string | undefined
  roles: string[] | undefined
}

/** `unprocessable` for each field that breaks a rule. */
export const requireInvitation = ({ email, username, roles }: NewInvitation): CheckedInvitation =>
  checkAll({
    email: () => requireEmail(email),
    username: () => (username === undefined ? undefined : requireUsername(username)),
    roles: () => roles && requireRoles(roles),
  })
