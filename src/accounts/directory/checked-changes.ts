import type { Email } from '../../lib/email-address.ts'
import { AppError, checkAll } from '../../lib/errors.ts'
import { requireEmail } from '../email.ts'
import { requireRoles } from '../roles.ts'
import { requireUsername } from '../username.ts'

/** What an operator changes of a user. What is undefined stays. */
export interface UserChanges {
  email?: string | undefined
  /** Whether the operator vouches for the address. A new address is not verified unless it says so. */
  emailVerified?: boolean | undefined
  /** Whether the other addresses of the account may be a thief's; by default where it is disabled. With `email` alone. */
  stolen?: boolean | undefined
  username?: string | undefined
  /** In place of those that the user has. */
  roles?: string[] | undefined
  disabled?: boolean | undefined
}

/** The changes, checked. */
export interface CheckedChanges extends Omit<UserChanges, 'email'> {
  email: Email | undefined
}

/** `unprocessable` for each field that is not accepted. */
export const requireChanges = ({ email, username, roles, stolen, ...flags }: UserChanges): CheckedChanges => ({
  ...checkAll({
    stolen: () => {
      if (stolen === undefined || email !== undefined) return stolen
      throw new AppError('unprocessable', 'The field "stolen" goes with "email" only.', { field: 'stolen' })
    },
    email: () => (email === undefined ? undefined : requireEmail(email)),
    username: () => (username === undefined ? undefined : requireUsername(username)),
    roles: () => roles && requireRoles(roles),
  }),
  ...flags,
})
