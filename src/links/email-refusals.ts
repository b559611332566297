import { AppError } from '../lib/errors.ts'
import { isUniqueViolation } from '../storage/database.ts'

export const isOwnAlready = (): AppError =>
  new AppError('unprocessable', 'This is the email address of the account already.', {
    field: 'email',
    reason: 'email_same',
  })

/** Runs the work; `conflict` where the address belongs to another account, or could be put back to it. */
export const orTaken = async <T>(work: () => Promise<T>): Promise<T> => {
  try {
    return await work()
  } catch (error) {
    if (!isUniqueViolation(error, 'users.email_lower')) throw error
    const details = { field: 'email', reason: 'email_taken', cause: error }
    throw new AppError('conflict', 'Another account has this email address. Nothing was changed.', details)
  }
}
