import type { Clock } from '../lib/time.ts'
import type { CachedSessions } from './cached-sessions.ts'
import type { SigningKeys } from './keys/signing-keys.ts'
import { currentTimeMs } from './lifetime.ts'
import type { AuthenticatedSession } from './session.ts'
import type { AccessTokens, TokenReading, VerifiedToken } from './tokens/access-token.ts'

interface AuthenticateDeps {
  clock: Clock
  signingKeys: SigningKeys
  accessTokens: AccessTokens
  cachedSessions: CachedSessions
}

/** Finds the session of an access token. Every request of an application comes through here. */
export const createAuthenticate =
  ({ clock, signingKeys, accessTokens, cachedSessions }: AuthenticateDeps) =>
  async (accessToken: string): Promise<AuthenticatedSession | undefined> => {
    let ring = signingKeys.lastRead()
    let token = accessTokens.read(accessToken, ring)
    if (token === 'unknown key') {
      // Another process may have begun to sign with a new key a moment ago.
      ring = await signingKeys.reload()
      token = accessTokens.read(accessToken, ring)
    }
    if (!isVerified(token)) return undefined
    const { session, authenticated } = (await cachedSessions.get(token.sessionId)) ?? {}
    if (!session || session.userId !== token.userId || session.user.disabled) return undefined
    // The row says which key is the newest. Where it is another one, the key of this token may have been revoked with
    // that change. The ring that the token was read with counts: another request may have read the keys again since.
    const isCurrent = ring.newestId === session.newestKeyId
    if (!isCurrent && !isVerified(accessTokens.read(accessToken, await signingKeys.latest(session.newestKeyId))))
      return undefined
    const nowMs = currentTimeMs(session, clock)
    return session.expiresAtMs > nowMs && token.expiresAtMs > nowMs ? authenticated : undefined
  }

const isVerified = (token: TokenReading): token is VerifiedToken => token !== undefined && token !== 'unknown key'
