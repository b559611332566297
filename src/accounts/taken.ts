import { AppError } from '../lib/errors.ts'
import { isUniqueViolation } from '../storage/database.ts'

export const emailTaken = (cause?: unknown): AppError =>
  new AppError('conflict', 'There is an account with this email address.', {
    field: 'email',
    reason: 'email_taken',
    cause,
  })

export const usernameTaken = (cause?: unknown): AppError =>
  new AppError('conflict', 'This username is taken.', { field: 'username', reason: 'username_taken', cause })

/** The same error, or `conflict` where it says that the email or the username is taken. */
export const takenError = (error: unknown): unknown => {
  if (isUniqueViolation(error, 'users.email_lower')) return emailTaken(error)
  return isUniqueViolation(error, 'users.username') ? usernameTaken(error) : error
}
