import type { ClientSettings } from '../../clients/client-settings.ts'
import { OWN_SCOPES } from '../../clients/scope.ts'
import { type HttpResponse, json } from '../../http/response.ts'

const AUTHENTICATION = ['client_secret_basic', 'client_secret_post', 'none']

/** Says what svc does as an OAuth server, by RFC 8414 and OpenID Connect Discovery 1.0 in one document. */
const metadataOf = ({ issuer, scopes, hosts, registration }: ClientSettings) => {
  const base = `${issuer}/oauth2`
  return {
    issuer,
    authorization_endpoint: `${base}/authorize`,
    token_endpoint: `${base}/token`,
    userinfo_endpoint: `${base}/userinfo`,
    jwks_uri: `${issuer}/.well-known/jwks.json`,
    introspection_endpoint: `${base}/introspect`,
    revocation_endpoint: `${base}/revoke`,
    end_session_endpoint: `${base}/logout`,
    ...(registration && { registration_endpoint: `${base}/register` }),
    scopes_supported: [...OWN_SCOPES, ...scopes.map(({ name }) => name)],
    response_types_supported: ['code'],
    response_modes_supported: ['query'],
    grant_types_supported: ['authorization_code', 'refresh_token'],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: ['ES256'],
    token_endpoint_auth_methods_supported: AUTHENTICATION,
    revocation_endpoint_auth_methods_supported: AUTHENTICATION,
    introspection_endpoint_auth_methods_supported: AUTHENTICATION.filter((method) => method !== 'none'),
    code_challenge_methods_supported: ['S256'],
    authorization_response_iss_parameter_supported: true,
    // A scheme of its own, such as `cursor:`, is no host.
    ...(hosts.some((host) => !host.endsWith(':')) && { client_id_metadata_document_supported: true }),
    prompt_values_supported: ['none', 'login', 'consent', 'select_account'],
    acr_values_supported: ['mfa'],
    claims_supported: CLAIMS,
    claims_parameter_supported: false,
    request_parameter_supported: false,
    request_uri_parameter_supported: false,
    backchannel_logout_supported: true,
    backchannel_logout_session_supported: true,
  }
}

const CLAIMS = (
  'iss sub aud sid iat exp auth_time amr acr nonce at_hash ' +
  'preferred_username updated_at email email_verified roles'
).split(' ')

const CACHE_SECONDS = 60

/** Answers the four addresses of discovery; the document changes with a restart alone. */
export const createDiscoveryDocument = ({ settings }: { settings: ClientSettings }) => {
  const response = { ...json(200, JSON.stringify(metadataOf(settings))), cacheSeconds: CACHE_SECONDS }
  return { handle: (): HttpResponse => response }
}
