import type { ClientAuth, Configuration, CustomFetch, ServerMetadata } from 'openid-client'
import type { Clock } from '../../lib/time.ts'
import { signInProblem } from '../errors.ts'
import { createAppleSecret } from './apple-secret.ts'
import type { ProviderSettings } from './presets.ts'
import { createProviderFetch, requireAddressOf } from './provider-fetch.ts'

interface OpenidConfigurationDeps {
  settings: ProviderSettings
  timeoutMs: number
  clock: Clock
  /** How the provider is asked; tests of what only one host in the world does have another. */
  fetch?: CustomFetch
}

/** Asks a provider what it says of itself (OpenID Connect Discovery section 4); `unavailable` when that is of no use. */
export const configureOpenid = async (deps: OpenidConfigurationDeps): Promise<Configuration> => {
  const { settings, timeoutMs, clock, fetch = createProviderFetch(settings.issuer) } = deps
  const client = await import('openid-client')
  const authentication = await createClientAuth(settings, clock)
  const isPlain = settings.issuer.startsWith('http:')
  const options = {
    [client.customFetch]: fetch,
    timeout: timeoutMs / 1000,
    // Without it the library trusts TLS and looks at no signature (OpenID Connect Core section 3.1.3.7 allows that).
    execute: [client.enableNonRepudiationChecks, ...(isPlain ? [client.allowInsecureRequests] : [])],
  }
  try {
    const { issuer, clientId } = settings
    const configuration = await client.discovery(new URL(issuer), clientId, undefined, authentication, options)
    requireUsable(configuration.serverMetadata(), issuer)
    return configuration
  } catch (error) {
    // Whatever is wrong with it is for the operator or the provider to mend, and no matter of this sign-in's.
    throw signInProblem('unreachable', error)
  }
}

/** What is not usable is not kept: the provider may have mended it when somebody asks again. */
const requireUsable = (metadata: ServerMetadata, issuer: string): void => {
  const { authorization_endpoint: authorization, token_endpoint: token, jwks_uri: keys, userinfo_endpoint } = metadata
  for (const url of [authorization, token, keys]) requireAddressOf(issuer, url ?? '')
  if (userinfo_endpoint !== undefined) requireAddressOf(issuer, userinfo_endpoint)
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
