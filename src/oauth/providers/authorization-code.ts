import type { AuthorizationCodeGrantChecks, Configuration } from 'openid-client'
import type { AuthorizationRequest } from './provider.ts'

interface UrlOptions {
  scopes: readonly string[]
  /** These parameters are sent besides those of every request. */
  extraParams: Record<string, string>
}

/** Makes the address that a browser is sent to (RFC 6749 section 4.1.1, with PKCE: RFC 7636 section 4.3). */
export const buildAuthorizationUrl = async (
  configuration: Configuration,
  { redirectUri, state, codeVerifier }: AuthorizationRequest,
  { scopes, extraParams }: UrlOptions,
): Promise<URL> => {
  const client = await import('openid-client')
  return client.buildAuthorizationUrl(configuration, {
    redirect_uri: redirectUri,
    scope: scopes.join(' '),
    state,
    code_challenge: await client.calculatePKCECodeChallenge(codeVerifier),
    code_challenge_method: 'S256',
    ...extraParams,
  })
}

interface CodeExchange {
  request: AuthorizationRequest
  callbackParams: URLSearchParams
  checks?: AuthorizationCodeGrantChecks
}

/** Exchanges the code of a callback for tokens (RFC 6749 section 4.1.3); it throws the errors of the library. */
export const exchangeCode = async (
  configuration: Configuration,
  { request, callbackParams, checks = {} }: CodeExchange,
) => {
  const client = await import('openid-client')
  const { redirectUri, state, codeVerifier } = request
  return client.authorizationCodeGrant(configuration, new URL(`${redirectUri}?${callbackParams.toString()}`), {
    // The state that came back is compared with itself: the library wants one. The opening of the sealed state has
    // checked that it is ours, unused and of this browser.
    expectedState: state,
    pkceCodeVerifier: codeVerifier,
    ...checks,
  })
}
