import type { DerivedKeys, RootSecret } from '../lib/derived-keys.ts'
import { equalInConstantTime, hmac, randomToken } from '../lib/secrets.ts'
import { readSessionId } from '../sessions/tokens/access-token.ts'
import { readRefreshToken } from '../sessions/tokens/refresh-token.ts'
import type { RequestCookies } from './cookie-reader.ts'
import { isToken, newToken } from './cookies.ts'

const PURPOSE = 'csrf tokens'
const RANDOM_BYTES = 16
const MAC_HEX_DIGITS = 32

/**
 * Finds the id of the session that a browser's cookies name, or undefined. Nothing is verified and no row is read. The
 * refresh token comes first: it outlives the access token.
 */
export const namedSession = ({ refresh, access }: RequestCookies['single']) =>
  (refresh ? readRefreshToken(refresh)?.sessionId : undefined) ?? (access ? readSessionId(access) : undefined)

/**
 * CSRF tokens follow the signed double-submit cookie of the OWASP CSRF Prevention Cheat Sheet. A token is 32 bytes as
 * 43 characters of base64url. The token of a session is 16 random bytes and the first 16 bytes of an HMAC-SHA256 over
 * these and the session's id: a cookie that another host of the domain has set does not pass. If there is no session,
 * all 32 bytes are random.
 */
export interface CsrfTokens {
  /** Makes a new token for a session, or for a browser that has none. */
  make: (sessionId: string | undefined) => string
  /**
   * Tells whether a token is bound to this session. If there is no session, it tells whether it has the form of a
   * token.
   */
  isGood: (token: string | undefined, sessionId: string | undefined) => token is string
  /**
   * Returns a valid token with the MAC of the current root secret. It is the token itself, unless the root secret was
   * rotated since. It is undefined for a token that is not valid for the session.
   */
  renew: (token: string | undefined, sessionId: string | undefined) => string | undefined
  /**
   * Tells whether two tokens are the same, even if the root secret was rotated between them: a form may have been shown
   * before the cookie was renewed.
   */
  isSame: (left: string, right: string | undefined, sessionId: string | undefined) => boolean
  /**
   * Tells whether the CSRF cookie belongs to the session that the refresh cookie names. Another host of the domain can
   * set a `__Secure-` cookie, and so sign a visitor in to an attacker's account, but it cannot set a `__Host-` cookie.
   */
  confirmsRefresh: (single: RequestCookies['single']) => boolean
}

export const createCsrfTokens = (rootSecret: RootSecret): CsrfTokens => {
  const renewBound = (token: string, sessionId: string): string | undefined => {
    const random = Buffer.from(token, 'base64url').subarray(0, RANDOM_BYTES)
    const isOf = (keys: DerivedKeys) => equalInConstantTime(token, bind(keys, random, sessionId)) || undefined
    const { keys } = rootSecret
    if (isOf(keys)) return token
    return rootSecret.find(isOf) && bind(rootSecret.keys, random, sessionId)
  }

  const renew = (token: string | undefined, sessionId: string | undefined): string | undefined => {
    if (!isToken(token)) return undefined
    return sessionId === undefined ? token : renewBound(token, sessionId)
  }

  const isGood = (token: string | undefined, sessionId: string | undefined): token is string =>
    renew(token, sessionId) !== undefined

  return {
    make: (sessionId) =>
      sessionId === undefined
        ? newToken()
        : bind(rootSecret.keys, Buffer.from(randomToken(RANDOM_BYTES), 'base64url'), sessionId),

    isGood,

    renew,

    isSame: (left, right, sessionId) =>
      equalInConstantTime(left, right) || equalInConstantTime(renew(left, sessionId), renew(right, sessionId)),

    confirmsRefresh({ refresh = '', csrf }) {
      const sessionId = readRefreshToken(refresh)?.sessionId
      return sessionId !== undefined && isGood(csrf, sessionId)
    },
  }
}

/** Joins 16 random bytes and their MAC for a session. */
const bind = (keys: DerivedKeys, random: Buffer, sessionId: string): string => {
  const mac = hmac(keys.for(PURPOSE), `csrf_token\n${sessionId}\n${random.toString('base64url')}`, 'hex')
  return Buffer.concat([random, Buffer.from(mac.slice(0, MAC_HEX_DIGITS), 'hex')]).toString('base64url')
}
