import type { Configuration, IDToken } from 'openid-client'
import type { Clock } from '../../lib/time.ts'
import { signInProblem } from '../errors.ts'
import { type Claims, type ProviderProfile, readClaims } from '../profile.ts'
import { exchangeCode } from './authorization-code.ts'
import type { ProviderSettings } from './presets.ts'
import type { AuthorizationRequest } from './provider.ts'

interface Return {
  /** What the provider sent back. */
  answer: URLSearchParams
  attempt: AuthorizationRequest
  settings: ProviderSettings
  clock: Clock
}

/** How far the clocks of a provider and ours may be apart. */
const CLOCK_TOLERANCE_MS = 60_000

/** Trades the code of a provider's answer for whom it vouches for; throws what the library throws, and problems. */
export const redeem = async (configuration: Configuration, given: Return): Promise<ProviderProfile> => {
  const { answer, attempt, settings, clock } = given
  const claims = await claimsOf(configuration, given)
  const vouched = readClaims({ ...claims, ...appleName(answer, settings) }, String(claims.iss), settings)
  return { ...vouched, signedInAtMs: signInTime(vouched, attempt, clock.now()) }
}

const claimsOf = async (config: Configuration, { answer, attempt, settings }: Return): Promise<Claims> => {
  const checks = { expectedNonce: attempt.nonce, idTokenExpected: true }
  const tokens = await exchangeCode(config, attempt, answer, checks)
  const idToken = tokens.claims()
  if (!idToken) throw signInProblem('unverifiable', new Error('there is no ID token'))
  requireOwnToken(idToken, config.clientMetadata().client_id)
  requireFresh(idToken, attempt)
  // At Microsoft only the ID token can say that an email is somebody's.
  const isWhole =
    idToken.email !== undefined || settings.kind === 'microsoft' || !config.serverMetadata().userinfo_endpoint
  if (isWhole) return { ...idToken }
  // That an email is verified counts when it is said with the email, and not of another.
  const { email_verified: _, ...claims } = idToken
  const { fetchUserInfo } = await import('openid-client')
  const told = await fetchUserInfo(config, tokens.access_token, idToken.sub)
  return { ...told, auth_time: undefined, ...claims }
}

/** Who was asked to sign in anew has done so just now. A time that is yet to come tells nothing. */
const signInTime = (
  { signedInAtMs }: ProviderProfile,
  { freshSinceMs }: AuthorizationRequest,
  nowMs: number,
): number | undefined => {
  if (freshSinceMs !== undefined) return nowMs
  if (signedInAtMs === undefined || signedInAtMs > nowMs + CLOCK_TOLERANCE_MS) return undefined
  return Math.min(signedInAtMs, nowMs)
}

/** OpenID Connect Core section 3.1.3.7, point 5; the library looks only where there are several audiences. */
const requireOwnToken = ({ azp }: IDToken, clientId: string): void => {
  if (azp === undefined || azp === clientId) return
  throw signInProblem('unverifiable', new Error('the ID token was issued to another client (azp)'))
}

/** Providers that do not say when somebody signed in are believed; one that says so must not say "long ago". */
const requireFresh = ({ auth_time: signedInAt }: IDToken, { freshSinceMs }: AuthorizationRequest): void => {
  if (freshSinceMs === undefined || signedInAt === undefined) return
  if (signedInAt * 1000 >= freshSinceMs - CLOCK_TOLERANCE_MS) return
  throw signInProblem('unverifiable', new Error('the provider did not ask for a new sign-in'))
}

/** Apple tells a name the first time only, beside the code and unsigned: good enough to make a username of. */
const appleName = (answer: URLSearchParams, { kind }: ProviderSettings): Claims => {
  const user = kind === 'apple' ? answer.get('user') : null
  if (!user) return {}
  try {
    const { name } = JSON.parse(user) as { name?: { firstName?: unknown; lastName?: unknown } }
    const words = [name?.firstName, name?.lastName].filter((word) => typeof word === 'string')
    return { name: words.join(' ') }
  } catch {
    return {}
  }
}
