import type { Configuration, CustomFetch } from 'openid-client'
import type { Clock } from '../../lib/time.ts'
import { signInProblem } from '../errors.ts'
import { type Claims, readClaims } from './profile.ts'
import { buildAuthorizationUrl, exchangeCode } from './authorization-code.ts'
import type { ProviderSettings } from './presets.ts'
import type { Provider } from './provider.ts'
import { createProviderFetch, toProblem } from './provider-fetch.ts'

/** svc must know this about a provider that supports OAuth 2.0 alone, and so has no discovery document. */
export interface OAuth2Description {
  authorizationEndpoint: string
  tokenEndpoint: string
  /** Asks the provider's API for the user: claims by their names in OpenID Connect. */
  fetchClaims: (callApi: CallApi) => Promise<Claims>
  /** Parameters that make the provider ask the user to sign in, or to choose an account, again. */
  reauthenticateParams: Record<string, string>
}

/** Calls an address of the provider's API with the user's access token; resolves to the JSON. */
export type CallApi = (url: string) => Promise<unknown>

interface OAuth2ProviderDeps {
  settings: ProviderSettings
  timeoutMs: number
  clock: Clock
  describe: (issuer: string) => OAuth2Description
}

/** Such providers report errors with status 200 and an `error` in the body; the library expects status 400. */
const withErrorStatus =
  (providerFetch: CustomFetch): CustomFetch =>
  async (url, options) => {
    const response = await providerFetch(url, options)
    if (!response.ok) return response
    const text = await response.text()
    const { status, headers } = response
    return new Response(text, { headers, status: hasErrorMember(text) ? 400 : status })
  }

const hasErrorMember = (text: string): boolean => {
  try {
    const body: unknown = JSON.parse(text)
    return typeof body === 'object' && body !== null && 'error' in body
  } catch {
    return false
  }
}

/** A provider with OAuth 2.0 but without OpenID Connect: who signed in is asked from an API of its own. */
export const createOAuth2Provider = ({ settings, timeoutMs, clock, describe }: OAuth2ProviderDeps): Provider => {
  const { issuer, clientId, clientSecret, scopes } = settings
  const { authorizationEndpoint, tokenEndpoint, fetchClaims, reauthenticateParams } = describe(issuer)
  const providerFetch = createProviderFetch(issuer)

  const configure = async (): Promise<Configuration> => {
    const client = await import('openid-client')
    const server = { issuer, authorization_endpoint: authorizationEndpoint, token_endpoint: tokenEndpoint }
    const configuration = new client.Configuration(server, clientId, undefined, client.ClientSecretPost(clientSecret))
    configuration[client.customFetch] = withErrorStatus(providerFetch)
    configuration.timeout = timeoutMs / 1000
    if (issuer.startsWith('http:')) client.allowInsecureRequests(configuration)
    return configuration
  }
  let configured: Promise<Configuration> | undefined
  const configuration = (): Promise<Configuration> => (configured ??= configure())

  const callApiWith =
    (accessToken: string): CallApi =>
    async (url) => {
      const response = await providerFetch(url, {
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
    async authorizationUrl(request) {
      const extraParams = request.signInNotBeforeMs === undefined ? {} : reauthenticateParams
      return buildAuthorizationUrl(await configuration(), request, { scopes, extraParams })
    },

    async fetchProfile(callbackParams, request) {
      try {
        const tokens = await exchangeCode(await configuration(), { request, callbackParams })
        const profile = readClaims(await fetchClaims(callApiWith(tokens.access_token)), issuer, settings)
        return { ...profile, signedInAtMs: request.signInNotBeforeMs === undefined ? undefined : clock.now() }
      } catch (error) {
        throw toProblem(error)
      }
    },
  }
}
