import { type Email, findAsciiForm, readEmail } from '../lib/email-address.ts'
import { AppError } from '../lib/errors.ts'

/** Reads the field `email`; `unprocessable` when it is no email address. */
export const requireEmail = (entered: string): Email => {
  if (entered.trim() === '') throw refusal('email_missing', 'Enter an email address.')
  const email = readEmail(entered)
  if (email) return email
  const asciiForm = findAsciiForm(entered)
  if (asciiForm !== undefined) throw refusal(EMAIL_NOT_ASCII, `Enter this email address as ${asciiForm}.`, [asciiForm])
  throw refusal('email_invalid', 'Enter an email address such as name@example.com.')
}

/** The reason of the refusal, whose value is the address that would be accepted. */
export const EMAIL_NOT_ASCII = 'email_not_ascii'

const refusal = (reason: string, message: string, values: readonly string[] = []): AppError =>
  new AppError('unprocessable', message, { field: 'email', reason, values })
