/** Sessions and grants of one user have ended. */
export interface SessionsEnded {
  type: 'session-revoked'
  userId: string
  sessionIds: readonly string[]
  /** The session that took their place, of the same user. */
  replacedBy: string | undefined
  reason: string
  atS: number
  expiresAtS: number
}

/** Tokens of one user, or of all where there is no user, may be worth nothing, or say what is true no longer. */
export interface TokensInDoubt {
  type: 'sessions-revoked' | 'token-claims-change'
  userId: string | undefined
  /** In seconds since 1970, as the claim `iat` of the latest such token. */
  notBefore: number
  atS: number
  expiresAtS: number
}

export type Entry = SessionsEnded | TokensInDoubt

/** An answer of the feed. */
export interface Page {
  entries: Entry[]
  cursor: string
  /** Whether there is more behind the cursor already. */
  more: boolean
  /** False: the cursor that was asked with leads nowhere any more. */
  complete: boolean
}

type Fields = Partial<Record<string, unknown>>

const refuse = (what: string): never => {
  throw new TypeError(`an answer has ${what}`)
}

const fieldsOf = (value: unknown): Fields =>
  typeof value === 'object' && value !== null ? value : refuse('a value that is no object')

const textOf = (fields: Fields, name: string): string => {
  const text = fields[name]
  return typeof text === 'string' && text !== '' ? text : refuse(`no ${name}`)
}

const secondsOf = (fields: Fields, name: string): number => {
  const seconds = Date.parse(textOf(fields, name)) / 1000
  return Number.isNaN(seconds) ? refuse(`a wrong ${name}`) : Math.ceil(seconds)
}

const readEnded = (fields: Fields): Omit<SessionsEnded, 'atS' | 'expiresAtS'> => {
  const { session_ids: ids, replaced_by: replacedBy, reason } = fields
  if (!Array.isArray(ids) || ids.length === 0 || !ids.every((id): id is string => typeof id === 'string'))
    return refuse('no session_ids')
  return {
    type: 'session-revoked',
    userId: textOf(fields, 'user_id'),
    sessionIds: ids,
    // A connection never goes on after an end of another kind.
    replacedBy: reason === 'replaced' && typeof replacedBy === 'string' ? replacedBy : undefined,
    reason: textOf(fields, 'reason'),
  }
}

const readDoubt = (type: TokensInDoubt['type'], fields: Fields): Omit<TokensInDoubt, 'atS' | 'expiresAtS'> => {
  const { not_before: notBefore } = fields
  if (typeof notBefore !== 'number' || !Number.isFinite(notBefore)) return refuse('no not_before')
  return { type, userId: type === 'token-claims-change' ? textOf(fields, 'user_id') : undefined, notBefore }
}

/**
 * Reads an entry; undefined for one of a type that is not known, of a newer svc. Throws a `TypeError` for one that is
 * damaged: what cannot be read may be an end.
 */
export const readEntry = (value: unknown): Entry | undefined => {
  const fields = fieldsOf(value)
  const type = textOf(fields, 'type')
  const times = { atS: secondsOf(fields, 'at'), expiresAtS: secondsOf(fields, 'expires_at') }
  if (type === 'session-revoked') return { ...readEnded(fields), ...times }
  if (type === 'sessions-revoked' || type === 'token-claims-change') return { ...readDoubt(type, fields), ...times }
  return undefined
}

/** Reads an answer of the feed. Throws a `TypeError` for anything else. */
export const readPage = (value: unknown): Page => {
  const fields = fieldsOf(value)
  const { events, more, complete } = fields
  if (!Array.isArray(events) || typeof more !== 'boolean' || typeof complete !== 'boolean')
    return refuse('another form: is this the address of svc?')
  return {
    entries: events.flatMap((event) => readEntry(event) ?? []),
    cursor: complete ? textOf(fields, 'next_cursor') : '',
    more,
    complete,
  }
}
