import type { ClientAuth, Configuration, ServerMetadata } from 'openid-client'
import type { Clock } from '../../lib/time.ts'
import { isLocalOrigin, isLoopbackUrl } from '../../lib/url.ts'
import { signInProblem } from '../errors.ts'
import type { ProviderSettings } from './presets.ts'
import { createProviderFetch, type ProviderFetch, requireAddressOf } from './provider-fetch.ts'
import { createPrivateKey, sign } from 'node:crypto'

interface AppleSecretDeps {
  teamId: string
  keyId: string
  clientId: string
  /** It is the PEM (PKCS #8) of a P-256 key: the file that Apple issues. */
  privateKey: string
  clock: Clock
}

/** Apple accepts up to six months; these secrets are used at once. */
const LIFETIME_SECONDS = 300
const AUDIENCE = 'https://appleid.apple.com'

const encode = (part: object): string => Buffer.from(JSON.stringify(part)).toString('base64url')

/**
 * Makes the client secrets that Apple requires: JWTs signed with the developer's key (ES256).
 * https://developer.apple.com/documentation/accountorganizationaldatasharing/creating-a-client-secret
 */
export const createAppleSecret = ({ teamId, keyId, clientId, privateKey, clock }: AppleSecretDeps): (() => string) => {
  const key = createPrivateKey(privateKey)
  return () => {
    const iat = Math.floor(clock.now() / 1000)
    const claims = { iss: teamId, iat, exp: iat + LIFETIME_SECONDS, aud: AUDIENCE, sub: clientId }
    const message = `${encode({ alg: 'ES256', kid: keyId, typ: 'JWT' })}.${encode(claims)}`
    const signature = sign('sha256', Buffer.from(message), { key, dsaEncoding: 'ieee-p1363' })
    return `${message}.${signature.toString('base64url')}`
  }
}

export interface OpenidConfigurationDeps {
  settings: ProviderSettings
  timeoutMs: number
  clock: Clock
  /** Answers in place of the network: tests try what only a provider's own host sends. */
  fetch?: ProviderFetch | undefined
}

/**
 * Fetches a provider's discovery document (OpenID Connect Discovery section 4); it throws `unavailable` when it cannot
 * be used.
 */
export const configureOpenid = async (deps: OpenidConfigurationDeps): Promise<Configuration> => {
  const { settings, timeoutMs, clock, fetch = createProviderFetch(settings.issuer) } = deps
  const client = await import('openid-client')
  const authentication = await createClientAuth(settings, clock)
  const isWithoutTls = settings.issuer.startsWith('http:')
  const options = {
    [client.customFetch]: fetch,
    timeout: timeoutMs / 1000,
    // The library otherwise relies on TLS and checks no signature, which OpenID Connect Core section 3.1.3.7 allows.
    execute: [client.enableNonRepudiationChecks, ...(isWithoutTls ? [client.allowInsecureRequests] : [])],
  }
  try {
    const { issuer, clientId } = settings
    const configuration = await client.discovery(new URL(issuer), clientId, undefined, authentication, options)
    requireUsable(configuration.serverMetadata(), issuer)
    return configuration
  } catch (error) {
    // The operator or the provider must correct any such error; the user can only try again later.
    throw signInProblem('unreachable', error)
  }
}

/** Throws before the document is kept: the provider may have corrected it by the next sign-in. */
const requireUsable = (metadata: ServerMetadata, issuer: string): void => {
  const { authorization_endpoint: authorization, token_endpoint: token, jwks_uri: keys, userinfo_endpoint } = metadata
  for (const url of [token, keys]) requireAddressOf(issuer, url ?? '')
  // A browser goes there, and finds names below localhost without a name server.
  if (!isLoopbackUrl(issuer) || !isLocalOrigin(authorization ?? '')) requireAddressOf(issuer, authorization ?? '')
  if (userinfo_endpoint !== undefined) requireAddressOf(issuer, userinfo_endpoint)
}

/** svc proves who it is (RFC 6749 section 2.3.1) by a method that the provider's metadata names. */
const createClientAuth = async (settings: ProviderSettings, clock: Clock): Promise<ClientAuth> => {
  const { ClientSecretBasic, ClientSecretPost } = await import('openid-client')
  const { apple, clientId, clientSecret } = settings
  if (apple) {
    const secret = createAppleSecret({ ...apple, clientId, privateKey: clientSecret, clock })
    return (server, client, body, headers) => ClientSecretPost(secret())(server, client, body, headers)
  }
  return (server, client, body, headers) => {
    // OpenID Connect Discovery section 3 says that a provider that names no method expects Basic.
    const methods = server.token_endpoint_auth_methods_supported ?? ['client_secret_basic']
    const authenticate = methods.includes('client_secret_post') ? ClientSecretPost : ClientSecretBasic
    return authenticate(clientSecret)(server, client, body, headers)
  }
}
