import { type Email, readEmail } from '../lib/email-address.ts'
import { AppError } from '../lib/errors.ts'

/** Reads the field `email`; `unprocessable` when it is no email address. */
export const requireEmail = (entered: string): Email => {
  if (entered.trim() === '') throw refusal('email_missing', 'Enter an email address.')
  const email = readEmail(entered)
  if (!email) throw refusal('email_invalid', 'Enter an email address such as name@example.com.')
  return email
}

const refusal = (reason: string, message: string): AppError =>
  new AppError('unprocessable', message, { field: 'email', reason })
