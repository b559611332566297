import type { ClientAuth, Configuration, CustomFetch, IDToken, ServerMetadata } from 'openid-client'
import type { Clock } from '../lib/time.ts'
import { createAppleSecret } from './apple-secret.ts'
import { createDiscovery } from './discovery.ts'
import { exchange, requireTls, toProblem } from './exchange.ts'
import type { ProviderKind, ProviderSettings } from './presets.ts'
import { signInProblem } from './problems.ts'
import type { Attempt, Provider } from './provider.ts'
import { type Claims, readClaims } from './vouched.ts'

interface Parts {
  settings: ProviderSettings
  timeoutMs: number
  clock: Clock
  /** How the provider is asked; tests of what only one host in the world does have another. */
  fetch?: CustomFetch
}

/** Parameters that some providers want besides those of the standard. */
const EXTRAS: Partial<Record<ProviderKind, Record<string, string>>> = {
  // Apple answers by a form when it is asked for a name or an email.
  apple: { response_mode: 'form_post' },
}

/**
 * How a provider is asked to have somebody sign in anew (OpenID Connect Core section 3.1.2.1). Google knows no
 * `prompt=login` and answers it with an error; at Apple everybody signs in each time.
 */
const ANEW: Partial<Record<ProviderKind, Record<string, string>>> = {
  google: { prompt: 'select_account' },
  apple: {},
}
const ANEW_BY_STANDARD = { prompt: 'login', max_age: '0' }

/** How far the clocks of a provider and ours may be apart. */
const CLOCK_TOLERANCE_MS = 60_000

/** A provider that speaks OpenID Connect. The library is loaded when somebody first asks for it. */
export const createOpenid = ({ settings, timeoutMs, clock, fetch = exchange }: Parts): Provider => {
  const { kind, clientId, issuer, scopes } = settings

  const discover = async (): Promise<Configuration> => {
    const client = await import('openid-client')
    const authentication = await createClientAuth(settings, clock)
    const options = {
      [client.customFetch]: fetch,
      timeout: timeoutMs / 1000,
      // Without it the library trusts TLS and looks at no signature (OpenID Connect Core section 3.1.3.7 allows that).
      execute: [
        client.enableNonRepudiationChecks,
        ...(issuer.startsWith('http:') ? [client.allowInsecureRequests] : []),
      ],
    }
    try {
      const config = await client.discovery(new URL(issuer), clientId, undefined, authentication, options)
      requireUsable(config.serverMetadata())
      return config
    } catch (error) {
      // Whatever is wrong with it is for the operator or the provider to mend, and no matter of this sign-in's.
      throw signInProblem('unreachable', error)
    }
  }
  const { configuration, forget } = createDiscovery({ clock, discover })

  return {
    async authorizationUrl(attempt) {
      try {
        const { buildAuthorizationUrl, calculatePKCECodeChallenge } = await import('openid-client')
        return buildAuthorizationUrl(await configuration(), {
          redirect_uri: attempt.redirectUri,
          scope: scopes.join(' '),
          state: attempt.state,
          nonce: attempt.nonce,
          code_challenge: await calculatePKCECodeChallenge(attempt.codeVerifier),
          code_challenge_method: 'S256',
          ...EXTRAS[kind],
          ...(attempt.freshSinceMs !== undefined && (ANEW[kind] ?? ANEW_BY_STANDARD)),
        })
      } catch (error) {
        throw toProblem(error)
      }
    },

    async vouch(answer, attempt) {
      try {
        const claims = await claimsOf(await configuration(), { answer, attempt, kind })
        const vouched = readClaims({ ...claims, ...appleName(answer, kind) }, String(claims.iss), settings)
        // Who was asked to sign in anew has done so just now; nobody has done so in the future.
        const latestMs = attempt.freshSinceMs === undefined ? vouched.signedInAtMs : Number.POSITIVE_INFINITY
        return { ...vouched, signedInAtMs: latestMs && Math.min(latestMs, clock.now()) }
      } catch (error) {
        // It has begun to sign with a key that is not known here: whoever tries again finds it.
        if ((error as { code?: unknown }).code === 'OAUTH_KEY_SELECTION_FAILED') forget()
        throw toProblem(error)
      }
    },
  }
}

interface Return {
  answer: URLSearchParams
  attempt: Attempt
  kind: ProviderKind
}

const claimsOf = async (config: Configuration, { answer, attempt, kind }: Return): Promise<Claims> => {
  const client = await import('openid-client')
  const tokens = await client.authorizationCodeGrant(config, new URL(`${attempt.redirectUri}?${answer.toString()}`), {
    expectedState: attempt.state,
    expectedNonce: attempt.nonce,
    pkceCodeVerifier: attempt.codeVerifier,
    idTokenExpected: true,
  })
  const idToken = tokens.claims()
  if (!idToken) throw signInProblem('unverifiable', new Error('there is no ID token'))
  requireOwnToken(idToken, config.clientMetadata().client_id)
  requireFresh(idToken, attempt)
  // At Microsoft only the ID token can say that an email is somebody's.
  const isWhole = idToken.email !== undefined || kind === 'microsoft' || !config.serverMetadata().userinfo_endpoint
  if (isWhole) return { ...idToken }
  // That an email is verified counts when it is said with the email, and not of another.
  const { email_verified: _, ...claims } = idToken
  return { ...(await client.fetchUserInfo(config, tokens.access_token, idToken.sub)), ...claims }
}

/** OpenID Connect Core section 3.1.3.7, point 5; the library looks only where there are several audiences. */
const requireOwnToken = ({ azp }: IDToken, clientId: string): void => {
  if (azp === undefined || azp === clientId) return
  throw signInProblem('unverifiable', new Error('the ID token was issued to another client (azp)'))
}

/** What is not usable is not kept: the provider may have mended it when somebody asks again. */
const requireUsable = (metadata: ServerMetadata): void => {
  const { authorization_endpoint: authorization, token_endpoint: token, jwks_uri: keys, userinfo_endpoint } = metadata
  for (const url of [authorization, token, keys]) requireTls(url ?? '')
  if (userinfo_endpoint !== undefined) requireTls(userinfo_endpoint)
}

/** Providers that do not say when somebody signed in are believed; one that says so must not say "long ago". */
const requireFresh = ({ auth_time: signedInAt }: IDToken, { freshSinceMs }: Attempt): void => {
  if (freshSinceMs === undefined || signedInAt === undefined) return
  if (signedInAt * 1000 >= freshSinceMs - CLOCK_TOLERANCE_MS) return
  throw signInProblem('unverifiable', new Error('the provider did not ask for a new sign-in'))
}

/** What the provider takes: RFC 6749 section 2.3.1, in the form that its metadata names. */
const createClientAuth = async (settings: ProviderSettings, clock: Clock): Promise<ClientAuth> => {
  const { ClientSecretBasic, ClientSecretPost } = await import('openid-client')
  const { apple, clientId, clientSecret } = settings
  if (apple) {
    const secret = createAppleSecret({ ...apple, clientId, privateKey: clientSecret, clock })
    return (server, client, body, headers) => ClientSecretPost(secret())(server, client, body, headers)
  }
  return (server, client, body, headers) => {
    // OpenID Connect Discovery section 3: who says nothing takes Basic.
    const methods = server.token_endpoint_auth_methods_supported ?? ['client_secret_basic']
    const authenticate = methods.includes('client_secret_post') ? ClientSecretPost : ClientSecretBasic
    return authenticate(clientSecret)(server, client, body, headers)
  }
}

/** Apple tells a name the first time only, beside the code and unsigned: good enough to make a username of. */
const appleName = (answer: URLSearchParams, kind: ProviderKind): Claims => {
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
