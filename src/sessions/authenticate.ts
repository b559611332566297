import { type Awaitable, after } from '../lib/awaitable.ts'
import type { AuthenticatedSession, CachedSession } from './session.ts'
import type { KeyRing } from './keys/key-ring.ts'
import { currentTimeMs } from './lifetime.ts'
import type { SessionDeps } from './session-deps.ts'
import type { TokenReading } from './tokens/access-token.ts'
import type { VerifiedToken } from './tokens/verified-tokens.ts'

type AuthenticateDeps = Pick<SessionDeps, 'accessTokens' | 'cachedSessions' | 'clock' | 'signingKeys'>

type Found = Awaitable<AuthenticatedSession | undefined>

/** Finds the session of an access token. Every request of an application comes through here. */
export const createAuthenticate = ({ clock, signingKeys, accessTokens, cachedSessions }: AuthenticateDeps) => {
  /**
   * The row says which key is the newest. If it is another one, the key of this token may have been revoked with that
   * change. The ring that the token was read with counts: another request may have read the keys again since.
   */
  const isOfGoodKey = (accessToken: string, ring: KeyRing, newestKeyId: string): Awaitable<boolean> =>
    ring.newestId === newestKeyId ||
    after(signingKeys.latest(newestKeyId), (latest) => isVerified(accessTokens.read(accessToken, latest)))

  const unexpired = (token: VerifiedToken, { session, authenticated }: CachedSession) => {
    const nowMs = currentTimeMs(session, clock)
    return session.expiresAtMs > nowMs && token.expiresAtMs > nowMs ? authenticated : undefined
  }

  const findByRow = (accessToken: string, ring: KeyRing, token: VerifiedToken, row: CachedSession): Found => {
    const { session } = row
    if (session.userId !== token.userId || session.user.disabled) return undefined
    const isGood = isOfGoodKey(accessToken, ring, session.newestKeyId)
    return after(isGood, (good) => (good ? unexpired(token, row) : undefined))
  }

  const findByToken = (accessToken: string, ring: KeyRing, token: TokenReading): Found => {
    if (!isVerified(token)) return undefined
    return after(cachedSessions.get(token.sessionId), (row) => row && findByRow(accessToken, ring, token, row))
  }

  return (accessToken: string): Found => {
    const ring = signingKeys.lastRead()
    const token = accessTokens.read(accessToken, ring)
    if (token !== 'unknown key') return findByToken(accessToken, ring, token)
    // Another process may have begun to sign with a new key a moment ago.
    return signingKeys
      .reload()
      .then((latest) => findByToken(accessToken, latest, accessTokens.read(accessToken, latest)))
  }
}

const isVerified = (token: TokenReading): token is VerifiedToken => token !== undefined && token !== 'unknown key'
