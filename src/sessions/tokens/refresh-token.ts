import type { KeyObject } from 'node:crypto'
import type { DerivedKeys, RootSecret } from '../../lib/derived-keys.ts'
import { equalInConstantTime, hmac } from '../../lib/secrets.ts'

/** A refresh token says this; it is not verified yet. */
export interface UnverifiedRefreshToken {
  sessionId: string
  /** It is the number of the token in its session. */
  generation: number
  mac: string
}

const TOKEN = /^([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\.(0|[1-9]\d{0,14})\.([\w-]{43})$/

/**
 * Reads `0193….7.xxxxx`: a session's id, the number of the token in its session, and a MAC. It returns undefined for
 * other text.
 */
export const readRefreshToken = (token: string): UnverifiedRefreshToken | undefined => {
  const [, sessionId, generation, mac] = TOKEN.exec(token) ?? []
  if (!sessionId || !generation || !mac) return undefined
  return { sessionId, generation: Number(generation), mac }
}

/** The row of a session contributes this to its refresh tokens. */
interface TokenSource {
  id: string
  salt: string
}

/** This process has made the refresh token. */
export interface RefreshToken {
  text: string
  generation: number
  mac: string
  /** It was made with these keys, which may be replaced since. */
  keys: DerivedKeys
}

export interface RefreshTokens {
  /** Makes the token of a session's current generation. */
  make(session: TokenSource & { generation: number }): RefreshToken
  /**
   * Tells whether the token was made here, with the current root secret or the previous one. `made` spares the
   * computation of a token that this process has made itself.
   */
  isGenuine(session: TokenSource, token: UnverifiedRefreshToken, made?: RefreshToken): boolean
}

interface RefreshTokensDeps {
  rootSecret: RootSecret
  /** Sessions and grants of clients have keys of their own. */
  purpose: string
}

/**
 * Refresh tokens are computed and not stored: each is an HMAC-SHA256 over session, generation and a salt of the
 * session's row, with a key from the root secret. A copy of the database therefore contains none, a leaked key alone
 * makes none, and of two requests that race for the same rotation, both get the same token. Those of clients have a key
 * of their own purpose.
 */
export const createRefreshTokens = ({ rootSecret, purpose }: RefreshTokensDeps): RefreshTokens => ({
  make(session) {
    const { keys } = rootSecret
    const { id, generation } = session
    const mac = macOf(keys.for(purpose), session, generation)
    return { text: `${id}.${generation}.${mac}`, generation, mac, keys }
  },

  isGenuine(session, { mac, generation }, made) {
    const isMade = made?.generation === generation && made.keys === rootSecret.keys
    if (isMade && equalInConstantTime(mac, made.mac)) return true
    const isOf = (keys: DerivedKeys) => equalInConstantTime(mac, macOf(keys.for(purpose), session, generation))
    return rootSecret.find((keys) => isOf(keys) || undefined) ?? false
  },
})

const macOf = (key: KeyObject, { id, salt }: TokenSource, generation: number): string =>
  hmac(key, `refresh_token\n${id}\n${generation}\n${salt}`, 'base64url')
