import { type Email, findAsciiForm, readEmail } from '../lib/email-address.ts'
import { AppError } from '../lib/errors.ts'
import { isUniqueViolation } from '../storage/database.ts'

/** Reads the field `email`; `unprocessable` when it is no email address. */
export const requireEmail = (entered: string): Email => {
  if (entered.trim() === '') throw refusedEmail('email_missing', 'Enter an email address.')
  const email = readEmail(entered)
  if (email) return email
  const asciiForm = findAsciiForm(entered)
  if (asciiForm !== undefined)
    throw refusedEmail(EMAIL_NOT_ASCII, `Enter this email address as ${asciiForm}.`, [asciiForm])
  throw refusedEmail('email_invalid', 'Enter an email address such as name@example.com.')
}

/** This reason of a refusal has a value: the address that would be accepted. */
export const EMAIL_NOT_ASCII = 'email_not_ascii'

const refusedEmail = (reason: string, message: string, values: readonly string[] = []): AppError =>
  new AppError('unprocessable', message, { field: 'email', reason, values })

const USERNAME = /^[a-z0-9_-]{3,30}$/

/** Reads a username, lower-cased; undefined for any other text, such as each with an `@`. */
export const readUsername = (entered: string): string | undefined => {
  // Checked before as well as after: some letters outside ASCII become ASCII when lower-cased (the Kelvin sign).
  const lower = /^[\x20-\x7e]*$/.test(entered) ? entered.toLowerCase() : ''
  return USERNAME.test(lower) ? lower : undefined
}

/** Reads a username, lower-cased: 3 to 30 of `a-z 0-9 _ -`; `unprocessable` on field `username`. */
export const requireUsername = (entered: string): string => {
  const username = readUsername(entered)
  if (username !== undefined) return username
  throw new AppError('unprocessable', 'A username has 3 to 30 of the characters a-z, 0-9, _ and -.', {
    field: 'username',
    reason: 'username_invalid',
  })
}

// Roles are part of the access token, and a browser drops a cookie of more than 4,096 bytes (RFC 6265bis section 5.6).
const MAX_ROLES_LENGTH = 2048
const ROLE = /^[a-z0-9_:.-]{1,64}$/

/** Checks role names: each 1 to 64 of `a-z 0-9 _ : . -`; duplicates are dropped. */
export const requireRoles = (names: string[]): string[] => {
  const refused = names.find((name) => !ROLE.test(name))
  if (refused !== undefined)
    throw refusedRoles(`"${refused}" is no role: 1 to 64 of the characters a-z, 0-9, _ : . and -.`)
  const roles = [...new Set(names)]
  if (JSON.stringify(roles).length <= MAX_ROLES_LENGTH) return roles
  throw refusedRoles(`These are too many roles: as JSON they have at most ${MAX_ROLES_LENGTH} characters.`)
}

const refusedRoles = (message: string): AppError => new AppError('unprocessable', message, { field: 'roles' })

const taken = (field: 'email' | 'username', message: string, cause?: unknown): AppError =>
  new AppError('conflict', message, { field, reason: `${field}_taken`, cause })

export const usernameTaken = (cause?: unknown): AppError => taken('username', 'This username is taken.', cause)

export const emailTaken = (cause?: unknown): AppError =>
  taken('email', 'There is an account with this email address.', cause)

/** Turns an error that says that the email or the username is taken into `conflict`; any other stays. */
export const takenError = (error: unknown): unknown => {
  if (isUniqueViolation(error, 'users.email_lower')) return emailTaken(error)
  return isUniqueViolation(error, 'users.username') ? usernameTaken(error) : error
}

/** Runs a change of address; `conflict` where it belongs to another account, or could be put back to it. */
export const orEmailTaken = async <T>(work: () => Promise<T>): Promise<T> => {
  try {
    return await work()
  } catch (error) {
    if (!isUniqueViolation(error, 'users.email_lower')) throw error
    throw taken('email', 'Another account has this email address. Nothing was changed.', error)
  }
}

export const isOwnAlready = (): AppError =>
  new AppError('unprocessable', 'This is the email address of the account already.', {
    field: 'email',
    reason: 'email_same',
  })

/** The rule counts for emails that users bring: at signup, from a provider, and at a change. */
export interface EmailDomains {
  /** The domains are in lower case. Any is accepted where there are none. A subdomain is a domain of its own. */
  accepted: readonly string[]
  accepts(email: Email): boolean
  /** `unprocessable` on field `email` when it is no address, or its domain is not accepted. */
  requireEmail(entered: string): Email
}

/** This reason of a refusal has values: the accepted domains. */
export const DOMAIN_REFUSED = 'email_domain_not_accepted'

export const createEmailDomains = (accepted: readonly string[]): EmailDomains => {
  const accepts = ({ lower }: Email): boolean =>
    accepted.length === 0 || accepted.includes(lower.slice(lower.indexOf('@') + 1))

  return {
    accepted,
    accepts,

    requireEmail(entered) {
      const email = requireEmail(entered)
      if (accepts(email)) return email
      throw new AppError(
        'unprocessable',
        `Only email addresses of these domains are accepted: ${accepted.join(', ')}.`,
        {
          field: 'email',
          reason: DOMAIN_REFUSED,
          values: accepted,
        },
      )
    },
  }
}
