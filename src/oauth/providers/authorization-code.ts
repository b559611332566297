import type { AuthorizationCodeGrantChecks, Configuration } from 'openid-client'
import type { AuthorizationRequest } from './provider.ts'

interface Request {
  scopes: readonly string[]
  /** Parameters besides those of every sign-in. */
  more: Record<string, string>
}

/** Where a browser is sent to (RFC 6749 section 4.1.1, with PKCE: RFC 7636 section 4.3). */
export const buildAuthorizationUrl = async (
  configuration: Configuration,
  { redirectUri, state, codeVerifier }: AuthorizationRequest,
  { scopes, more }: Request,
): Promise<URL> => {
  const client = await import('openid-client')
  return client.buildAuthorizationUrl(configuration, {
    redirect_uri: redirectUri,
    scope: scopes.join(' '),
    state,
    code_challenge: await client.calculatePKCECodeChallenge(codeVerifier),
    code_challenge_method: 'S256',
    ...more,
  })
}

/** Trades the code that came back for tokens; throws what the library throws. */
export const exchangeCode = async (
  configuration: Configuration,
  { redirectUri, state, codeVerifier }: AuthorizationRequest,
  answer: URLSearchParams,
  checks: AuthorizationCodeGrantChecks = {},
) => {
  const client = await import('openid-client')
  return client.authorizationCodeGrant(configuration, new URL(`${redirectUri}?${answer.toString()}`), {
    expectedState: state,
    pkceCodeVerifier: codeVerifier,
    ...checks,
  })
}
