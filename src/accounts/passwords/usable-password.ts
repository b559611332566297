import type { UserRecord } from '../user-store.ts'

/** Whether a user can sign in with a password: they have one, and the service accepts passwords. */
export type HasPassword = (user: Pick<UserRecord, 'passwordHash'>) => boolean

/** Hashes from before passwords were turned off stay where they are, and open nothing. */
export const createHasPassword =
  (acceptsPasswords: boolean): HasPassword =>
  ({ passwordHash }) =>
    acceptsPasswords && passwordHash !== null
