import type { Clock } from '../lib/time.ts'
import type { SigningKeys } from './keys/signing-keys.ts'
import { currentTimeMs, type Lifetimes } from './lifetime.ts'
import type { SessionWithUser } from './session.ts'
import type { AccessTokens } from './tokens/access-token.ts'
import type { RefreshToken, RefreshTokens } from './tokens/refresh-token.ts'

/** A browser is given these tokens; each is good for so many seconds. */
export interface Tokens {
  sessionId: string
  accessToken: string
  accessTokenSeconds: number
  refreshToken: string
  sessionSeconds: number
}

interface IssueTokensDeps {
  clock: Clock
  signingKeys: SigningKeys
  accessTokens: AccessTokens
  refreshTokens: RefreshTokens
  lifetimes: Lifetimes
}

/**
 * Issues the tokens of a session as it is now; the access token is for one audience. The refresh token is made unless
 * there is one already.
 */
export type IssueTokens = (session: SessionWithUser, audience: string, refreshToken?: RefreshToken) => Promise<Tokens>

export const createIssueTokens =
  ({ clock, signingKeys, accessTokens, refreshTokens, lifetimes }: IssueTokensDeps): IssueTokens =>
  async (session, audience, refreshToken = refreshTokens.make(session)) => {
    const nowMs = currentTimeMs(session, clock)
    const iat = Math.floor(nowMs / 1000)
    const exp = Math.floor(Math.min(nowMs + lifetimes.accessTokenMs, session.expiresAtMs) / 1000)
    const { roles, emailVerified } = session.user
    const { amr, authenticatedAtMs } = session
    const authentication = {
      auth_time: authenticatedAtMs === undefined ? undefined : Math.floor(authenticatedAtMs / 1000),
      amr: amr.length > 0 ? amr : undefined,
    }
    const about = { sub: session.userId, aud: audience, sid: session.id, roles, email_verified: emailVerified }
    const key = await signingKeys.signingKey(session.newestKeyId)
    return {
      sessionId: session.id,
      accessToken: await accessTokens.issue({ ...about, ...authentication, iat, exp }, key),
      accessTokenSeconds: exp - iat,
      refreshToken: refreshToken.text,
      sessionSeconds: Math.max(0, Math.round((session.expiresAtMs - nowMs) / 1000)),
    }
  }
