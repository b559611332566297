import type { DerivedKeys, RootSecret } from '../lib/derived-keys.ts'
import { equalInConstantTime, hmac } from '../lib/secrets.ts'

/** What a refresh token says of itself, before anybody has checked it. */
export interface RefreshClaim {
  sessionId: string
  generation: number
  proof: string
}

const TOKEN = /^([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\.(0|[1-9]\d{0,14})\.([\w-]{43})$/

/** The session's id, the number of the token in its session, and a MAC: `0193….7.xxxxx`; undefined for anything else. */
export const readRefreshToken = (token: string): RefreshClaim | undefined => {
  const [, sessionId, generation, proof] = TOKEN.exec(token) ?? []
  if (!sessionId || !generation || !proof) return undefined
  return { sessionId, generation: Number(generation), proof }
}

interface Source {
  id: string
  salt: string
}

/**
 * Refresh tokens are made, not stored: HMAC-SHA256 over session, number and a salt of the session's row, with a key from
 * the root secret. A copy of the database holds none, a leaked key alone makes none, and whoever lost a race for the
 * same rotation is handed the very token that the winner got.
 */
export const createRefreshTokens = (rootSecret: RootSecret) => ({
  make: (session: Source, generation: number): string =>
    `${session.id}.${generation}.${proofOf(rootSecret.keys, session, generation)}`,
  /** Whether it was made here, with the root secret of now or with the one before it. */
  isGenuine: (session: Source, claim: RefreshClaim): boolean =>
    rootSecret.find(
      (keys) => equalInConstantTime(claim.proof, proofOf(keys, session, claim.generation)) || undefined,
    ) ?? false,
})

export type RefreshTokens = ReturnType<typeof createRefreshTokens>

const proofOf = (keys: DerivedKeys, { id, salt }: Source, generation: number): string =>
  hmac(keys.for('refresh tokens'), `refresh_token\n${id}\n${generation}\n${salt}`, 'base64url')
