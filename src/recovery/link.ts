import { createHash } from 'node:crypto'

/** What a link is good for; it is refused everywhere else. */
export type LinkPurpose = 'reset' | 'verify' | 'signup' | 'new_email' | 'undo' | 'invite' | 'not_me'

/** Why a link is no longer good: it was used, a newer one took its place, or an event ended it. */
export type LinkEnd = 'used' | 'replaced' | 'ended'

/** A link that was handed out. Times in milliseconds since 1970. */
export interface Link {
  /** UUID of version 7, so that ids are in order of creation. */
  id: string
  purpose: LinkPurpose
  /** Undefined for a signup that waits for its confirmation. */
  userId: string | undefined
  /** The address that the link is about, in the form that is compared. */
  emailLower: string
  /** What the purpose needs. */
  details: Record<string, string | undefined>
  createdAtMs: number
  expiresAtMs: number
}

/** What a token leads to. */
export type LinkReading = { state: 'live'; link: Link } | { state: LinkEnd | 'expired' | 'unknown' }

/** What is stored of a token. The token is random, so that a plain hash cannot be guessed backwards. */
export const hashToken = (token: string): string => createHash('sha256').update(token).digest('base64url')
