import type { DerivedKeys, RootSecret } from '../../lib/derived-keys.ts'
import { equalInConstantTime, hmac } from '../../lib/secrets.ts'

/** What a refresh token says, not yet verified. */
export interface UnverifiedRefreshToken {
  sessionId: string
  /** The number of the token in its session. */
  generation: number
  mac: string
}

const TOKEN = /^([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\.(0|[1-9]\d{0,14})\.([\w-]{43})$/

/** Reads `0193….7.xxxxx`: a session's id, the number of the token in its session, and a MAC; undefined otherwise. */
export const readRefreshToken = (token: string): UnverifiedRefreshToken | undefined => {
  const [, sessionId, generation, mac] = TOKEN.exec(token) ?? []
  if (!sessionId || !generation || !mac) return undefined
  return { sessionId, generation: Number(generation), mac }
}

/** What the row of a session contributes to its refresh tokens. */
interface TokenSource {
  id: string
  salt: string
}

export interface RefreshTokens {
  create(session: TokenSource, generation: number): string
  /** Whether the token was made here, with the current root secret or the previous one. */
  isGenuine(session: TokenSource, token: UnverifiedRefreshToken): boolean
}

/**
 * Refresh tokens are computed and not stored: HMAC-SHA256 over session, generation and a salt of the session's row,
 * with a key from the root secret. So a copy of the database contains none, a leaked key alone makes none, and of two
 * requests that race for the same rotation, both get the same token.
 */
export const createRefreshTokens = (rootSecret: RootSecret): RefreshTokens => ({
  create: (session, generation) => `${session.id}.${generation}.${macOf(rootSecret.keys, session, generation)}`,
  isGenuine: (session, { mac, generation }) =>
    rootSecret.find((keys) => equalInConstantTime(mac, macOf(keys, session, generation)) || undefined) ?? false,
})

const macOf = (keys: DerivedKeys, { id, salt }: TokenSource, generation: number): string =>
  hmac(keys.for('refresh tokens'), `refresh_token\n${id}\n${generation}\n${salt}`, 'base64url')
