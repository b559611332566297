import { createHash } from 'node:crypto'
import type { UserRecord } from '../accounts/user-store.ts'
import { type Email, readEmail } from '../lib/email-address.ts'
import { AppError } from '../lib/errors.ts'

/**
 * A link is good for one purpose, and refused everywhere else. `confirm` is that of a code alone, by which the user of a
 * session signs in again.
 */
export type LinkPurpose =
  | 'reset'
  | 'verify'
  | 'signup'
  | 'new_email'
  | 'undo'
  | 'invite'
  | 'first_factor'
  | 'sign_in'
  | 'confirm'
  | NotMePurpose

/** Links that say "This wasn't me" have a purpose for each kind of notice; `not_me` is about a provider. */
export const NOT_ME_PURPOSES = [
  'not_me',
  'not_my_browser',
  'not_my_passkey',
  'not_my_second_factor',
  'not_my_application',
] as const
export type NotMePurpose = (typeof NOT_ME_PURPOSES)[number]

/** A user enters an account by these links, and chooses what they sign in with from now on. */
const ENTRY_PURPOSES = ['reset', 'undo', 'invite'] as const satisfies LinkPurpose[]
export type EntryPurpose = (typeof ENTRY_PURPOSES)[number]

/** The links of these purposes lead into an account. By the last one a user signs in, and chooses nothing. */
export type EnteringPurpose = EntryPurpose | 'sign_in'

export const isEntryPurpose = (text: string | undefined): text is EntryPurpose =>
  ENTRY_PURPOSES.some((purpose) => purpose === text)

/** A code that signs in is good for this long, and so is its link. */
export const SIGN_IN_MS = 600_000

/** The log of a user who has entered by a link has this event. */
export const ENTRY_EVENTS = { reset: 'password_reset', undo: 'email_undo', invite: 'invitation_accept' } as const

/** It says why a link is no longer good: it was used, a newer one took its place, or an event ended it. */
export type LinkEnd = 'used' | 'replaced' | 'ended'

/** The link was handed out. Times are in milliseconds since 1970. */
export interface Link {
  /** It is a UUID of version 7, so that ids are in order of creation. */
  id: string
  purpose: LinkPurpose
  /** It is undefined for a signup that waits for its confirmation. */
  userId: string | undefined
  /** The link is about this address, in the form that is compared. */
  emailLower: string
  /** The purpose needs these values. */
  details: Record<string, string | undefined>
  createdAtMs: number
  expiresAtMs: number
}

/** A link in any state: `endedBy` says why it is over, unless its time is. */
export interface IssuedLink extends Link {
  endedBy: LinkEnd | undefined
}

/** Gives the address that a link is about, as it was entered. */
export const emailOfLink = ({ details }: Link): Email => {
  const email = readEmail(details.email ?? '')
  if (!email) throw new TypeError('The link names no address')
  return email
}

/** The pages that links lead to. */
const PAGES: Record<LinkPurpose, string> = {
  reset: '/auth/password/reset',
  verify: '/auth/email/verify',
  signup: '/auth/email/verify',
  new_email: '/auth/email/verify',
  undo: '/auth/email/undo',
  invite: '/auth/invite',
  first_factor: '/auth/account/first-factor',
  sign_in: '/auth/login/email/link',
  confirm: '/auth/account/confirm',
  not_me: '/auth/account/not-me',
  not_my_browser: '/auth/account/not-me',
  not_my_passkey: '/auth/account/not-me',
  not_my_second_factor: '/auth/account/not-me',
  not_my_application: '/auth/account/not-me',
}

export const urlOfLink = (baseUrl: string, purpose: LinkPurpose, token: string): string =>
  `${baseUrl}${PAGES[purpose]}?token=${token}`

/** A link is good for the account as it was when it was made: with its address, and not disabled. */
export const isAccountOf = (user: UserRecord | undefined, { emailLower }: Link): user is UserRecord =>
  user !== undefined && !user.disabled && user.emailLower === emailLower

/** Tells whether the link can have come by the account's mail alone. */
export const provesEmail = ({ details }: Link): boolean => details.provesEmail !== 'no'

/** A link that is not good has ended, or is `unknown`: it was never made, or was over for more than a week. */
type DeadLinkState = LinkEnd | 'expired' | 'unknown'

/** A link that is not good (`gone`). The page about it says what became of it, and where there is a new one. */
export class DeadLinkError extends AppError {
  readonly purpose: LinkPurpose
  readonly state: DeadLinkState

  constructor(purpose: LinkPurpose, state: DeadLinkState) {
    super('gone', 'This link is no longer good.', { field: 'token', reason: `link_${state}` })
    this.name = 'DeadLinkError'
    this.purpose = purpose
    this.state = state
  }
}

/** Hashes a token for the database. The token is random, so that a plain hash cannot be guessed backwards. */
export const hashToken = (token: string): string => createHash('sha256').update(token).digest('base64url')
