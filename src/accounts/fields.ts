import { type Email, findAsciiForm, readEmail } from '../lib/email-address.ts'
import { AppError } from '../lib/errors.ts'
import { canonicalTag } from '../lib/language-tag.ts'
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

/** `SVC_NAMES`: whether people give their name, and whether they must. */
export type NamesMode = 'off' | 'optional' | 'required'

const MAX_NAME_LENGTH = 100

/** A name is shown in a line of other texts: none of these may end the line, or turn what stands beside it. */
const UNFIT_FOR_NAMES = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Bidi_Control}]/u
const INVISIBLE = /^[\p{Default_Ignorable_Code_Point}\p{C}\p{Z}]*$/u

/** Reads the name of a person, in NFC and without spaces around it; undefined for one that is not accepted. */
const readName = (entered: string): string | undefined => {
  const name = entered.trim().normalize('NFC')
  const isAccepted = [...name].length <= MAX_NAME_LENGTH && !UNFIT_FOR_NAMES.test(name) && !INVISIBLE.test(name)
  return isAccepted ? name : undefined
}

const refusedName = (reason: string, message: string): AppError =>
  new AppError('unprocessable', message, { field: 'name', reason })

/** The rules for names of people. Two people may have the same name, so that none is ever taken. */
export interface Names {
  mode: NamesMode
  /**
   * Reads the name that is given for an account; null is none, and undefined leaves the one that the account has.
   * `unprocessable` on field `name` for one that is not accepted, for none where one is required, and for any where
   * there are no names.
   */
  require(given: string | null | undefined, current?: string | null): string | null
  /** Reads a name as another system has it; null for one that is not accepted here. */
  accept(given: string | undefined): string | null
}

export const createNames = (mode: NamesMode): Names => ({
  mode,

  require(given, current = null) {
    if (mode === 'off' && given === undefined) return current
    if (mode === 'off') throw refusedName('names_off', 'There are no names here (SVC_NAMES=off): leave it out.')
    const wanted = given === undefined ? current : given
    if (wanted === null && mode === 'required') throw refusedName('name_missing', 'Enter a name.')
    const name = wanted === null ? null : readName(wanted)
    if (name !== undefined) return name
    const rule = `A name has 1 to ${MAX_NAME_LENGTH} characters, in one line, and none that turns the direction of text.`
    throw refusedName('name_invalid', rule)
  },

  accept: (given) => (mode === 'off' || given === undefined ? null : (readName(given) ?? null)),
})

// Roles are part of the access token, and a browser drops a cookie of more than 4,096 bytes (RFC 6265bis section 5.6).
const MAX_ROLES_LENGTH = 2048
const ROLE = /^[a-z0-9_:.-]{1,64}$/

/** Reads the language of a user, which need not be one of ours: messages have the one that suits it best. */
export const requireLanguage = (entered: string): string => {
  const tag = canonicalTag(entered)
  if (tag !== undefined) return tag
  throw new AppError('unprocessable', 'A language is a tag (BCP 47), such as de or pt-BR.', { field: 'language' })
}

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
