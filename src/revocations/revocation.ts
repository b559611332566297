/** Why sessions and grants have ended. The names are public (CONTRACT.md 10.8). */
export const REASONS = [
  'logout',
  'ended',
  'replaced',
  'reused',
  'limit',
  'expired',
  'security',
  'disabled',
  'deleted',
  'client',
] as const

export type Reason = (typeof REASONS)[number]

/** It is the identifier of an event of CAEP 1.0 where there is one. */
type RevocationType = 'session-revoked' | 'sessions-revoked' | 'token-claims-change'

/** An entry that has no number yet. */
export interface NewRevocation {
  id: string
  type: RevocationType
  userId?: string
  sessionIds?: readonly string[]
  replacedBy?: string | undefined
  reason?: Reason
}

/** A place in the feed. The mark tells it from the same number in another state of the database. */
export interface Position {
  seq: number
  /** It is the id of the entry with this number; before the first entry, it is that of the feed itself. */
  mark: string
}
