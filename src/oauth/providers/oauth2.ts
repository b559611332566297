import type { Configuration, CustomFetch } from 'openid-client'
import type { Clock } from '../../lib/time.ts'
import { signInProblem } from '../errors.ts'
import { type Claims, readClaims } from '../profile.ts'
import { buildAuthorizationUrl, exchangeCode } from './authorization-code.ts'
import type { ProviderSettings } from './presets.ts'
import type { Provider } from './provider.ts'
import { createProviderFetch, toProblem } from './provider-fetch.ts'

/** What is known of a provider that speaks OAuth 2.0 alone, and so says nothing of itself. */
export interface OAuth2Description {
  authorizationEndpoint: string
  tokenEndpoint: string
  /** Asks who the bearer of an access token is: claims by their names in OpenID Connect. */
  identify: (ask: Ask) => Promise<Claims>
  /** Parameters that have somebody sign in, or choose an account, anew. */
  reauthenticateParams: Record<string, string>
}

/** Asks an address of the provider's API, as the person who signs in; resolves to the JSON. */
export type Ask = (url: string) => Promise<unknown>

interface OAuth2ProviderDeps {
  settings: ProviderSettings
  timeoutMs: number
  clock: Clock
  describe: (issuer: string) => OAuth2Description
}

/** Providers of this kind answer with status 200 and an error inside. */
const withHonestStatus =
  (exchange: CustomFetch): CustomFetch =>
  async (url, options) => {
    const response = await exchange(url, options)
    if (!response.ok) return response
    const text = await response.text()
    const { status, headers } = response
    return new Response(text, { headers, status: tellsOfError(text) ? 400 : status })
  }

const tellsOfError = (text: string): boolean => {
  try {
    const answer: unknown = JSON.parse(text)
    return typeof answer === 'object' && answer !== null && 'error' in answer
  } catch {
    return false
  }
}

/** A provider that speaks OAuth 2.0 without OpenID Connect: who signs in is asked of an API of its own. */
export const createOAuth2Provider = ({ settings, timeoutMs, clock, describe }: OAuth2ProviderDeps): Provider => {
  const { issuer, clientId, clientSecret, scopes } = settings
  const { authorizationEndpoint, tokenEndpoint, identify, reauthenticateParams: anew } = describe(issuer)
  const exchange = createProviderFetch(issuer)

  const configure = async (): Promise<Configuration> => {
    const client = await import('openid-client')
    const server = { issuer, authorization_endpoint: authorizationEndpoint, token_endpoint: tokenEndpoint }
    const configuration = new client.Configuration(server, clientId, undefined, client.ClientSecretPost(clientSecret))
    configuration[client.customFetch] = withHonestStatus(exchange)
    configuration.timeout = timeoutMs / 1000
    if (issuer.startsWith('http:')) client.allowInsecureRequests(configuration)
    return configuration
  }
  let configured: Promise<Configuration> | undefined
  const configuration = (): Promise<Configuration> => (configured ??= configure())

  const asker =
    (accessToken: string): Ask =>
    async (url) => {
      const response = await exchange(url, {
        method: 'GET',
        headers: { authorization: `Bearer ${accessToken}`, accept: 'application/json', 'user-agent': 'svc' },
        body: undefined,
        redirect: 'manual',
        signal: AbortSignal.timeout(timeoutMs),
      })
      if (!response.ok) throw signInProblem('unreachable', new Error(`${url} answered ${response.status}`))
      return response.json()
    }

  return {
    async authorizationUrl(attempt) {
      const more = attempt.freshSinceMs === undefined ? {} : anew
      return buildAuthorizationUrl(await configuration(), attempt, { scopes, more })
    },

    async fetchProfile(answer, attempt) {
      try {
        const tokens = await exchangeCode(await configuration(), attempt, answer)
        const vouched = readClaims(await identify(asker(tokens.access_token)), issuer, settings)
        return { ...vouched, signedInAtMs: attempt.freshSinceMs === undefined ? undefined : clock.now() }
      } catch (error) {
        throw toProblem(error)
      }
    },
  }
}
