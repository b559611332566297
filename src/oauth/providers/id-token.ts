import type { Configuration, IDToken } from 'openid-client'
import type { Clock } from '../../lib/time.ts'
import { signInProblem } from '../errors.ts'
import { type Claims, type ProviderProfile, readClaims, secondFactorTime } from './profile.ts'
import { exchangeCode } from './authorization-code.ts'
import type { ProviderSettings } from './presets.ts'
import type { AuthorizationRequest } from './provider.ts'

interface Callback {
  configuration: Configuration
  callbackParams: URLSearchParams
  request: AuthorizationRequest
  settings: ProviderSettings
  clock: Clock
}

/** The clocks of a provider and ours may be this far apart. */
const CLOCK_TOLERANCE_MS = 60_000

/**
 * Exchanges the code of a callback and reads the user from the ID token; it throws the errors of the library, and
 * problems.
 */
export const fetchOpenidProfile = async (callback: Callback): Promise<ProviderProfile> => {
  const { callbackParams, request, settings, clock } = callback
  const claims = await fetchClaims(callback)
  const profile = readClaims({ ...claims, ...appleName(callbackParams, settings) }, String(claims.iss), settings)
  const nowMs = clock.now()
  return {
    ...profile,
    signedInAtMs: signInTime(profile.signedInAtMs, request, nowMs),
    secondFactorAtMs: pastTime(secondFactorTime(claims), nowMs),
  }
}

const fetchClaims = async ({ configuration, callbackParams, request, settings }: Callback): Promise<Claims> => {
  const checks = { expectedNonce: request.nonce, idTokenExpected: true }
  const tokens = await exchangeCode(configuration, { request, callbackParams, checks })
  const idToken = tokens.claims()
  if (!idToken) throw signInProblem('unverifiable', new Error('there is no ID token'))
  requireOwnToken(idToken, configuration.clientMetadata().client_id)
  requireRecentSignIn(idToken, request)
  // Microsoft says only in the ID token whether an email is verified.
  const isComplete =
    idToken.email !== undefined || settings.kind === 'microsoft' || !configuration.serverMetadata().userinfo_endpoint
  if (isComplete) return { ...idToken }
  // The ID token has no email, so its `email_verified` says nothing about the email of the userinfo endpoint.
  const { email_verified: _, ...claims } = idToken
  const { fetchUserInfo } = await import('openid-client')
  const userInfo = await fetchUserInfo(configuration, tokens.access_token, idToken.sub)
  return { ...userInfo, auth_time: undefined, amr: undefined, ...claims }
}

/** A time in the future is as good as none. */
const pastTime = (timeMs: number | undefined, nowMs: number): number | undefined => {
  if (timeMs === undefined || timeMs > nowMs + CLOCK_TOLERANCE_MS) return undefined
  return Math.min(timeMs, nowMs)
}

/** A user who was asked to sign in again has done so just now. */
const signInTime = (
  signedInAtMs: number | undefined,
  { signInNotBeforeMs }: AuthorizationRequest,
  nowMs: number,
): number | undefined => {
  if (signInNotBeforeMs !== undefined) return nowMs
  // Providers name the second in which it was: a sign-in of just now must not seem older than what asked for it.
  const isOfNow = signedInAtMs !== undefined && Math.abs(nowMs - signedInAtMs) < 60_000
  return pastTime(isOfNow ? signedInAtMs + 999 : signedInAtMs, nowMs)
}

/** OpenID Connect Core section 3.1.3.7, point 5 requires it; the library looks only if there are several audiences. */
const requireOwnToken = ({ azp }: IDToken, clientId: string): void => {
  if (azp === undefined || azp === clientId) return
  throw signInProblem('unverifiable', new Error('the ID token was issued to another client (azp)'))
}

/** Providers that do not say when the user signed in are believed; one that says so must not say "long ago". */
const requireRecentSignIn = ({ auth_time: signedInAt }: IDToken, { signInNotBeforeMs }: AuthorizationRequest): void => {
  if (signInNotBeforeMs === undefined || signedInAt === undefined) return
  if (signedInAt * 1000 >= signInNotBeforeMs - CLOCK_TOLERANCE_MS) return
  throw signInProblem('unverifiable', new Error('the provider did not ask for a new sign-in'))
}

/** Apple sends a name the first time only, beside the code and unsigned: good enough for a name, and to make a username from. */
const appleName = (callbackParams: URLSearchParams, { kind }: ProviderSettings): Claims => {
  const user = kind === 'apple' ? callbackParams.get('user') : null
  if (!user) return {}
  try {
    const { name } = JSON.parse(user) as { name?: { firstName?: unknown; lastName?: unknown } }
    const words = [name?.firstName, name?.lastName].filter((word) => typeof word === 'string')
    return { name: words.join(' ') }
  } catch {
    return {}
  }
}
