import type { User } from '../user.ts'

/**
 * The user of a request behind `requireUser()`: the property `user`, which types cannot promise. Throws a `TypeError`
 * where `requireUser()` did not run.
 */
export const userOf = ({ user }: { user?: User | undefined }): User => {
  if (user) return user
  throw new TypeError('No user is known of this request: put requireUser() in front of its handler.')
}
