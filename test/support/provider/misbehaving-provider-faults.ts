import type { BadAnswer } from './misbehaving-provider-answers.ts'
import type { IdTokenFault } from './misbehaving-provider-tokens.ts'

export type Claims = Record<string, unknown>

/** The faults from now on. `told` overrides claims in one of the two places that contain them. */
export type Fault = {
  /** The callback has this error, with the state as usual (see `state`). */
  error?: { code: string; description?: string }
  state?: 'missing' | 'foreign' | 'repeated' | 'empty'
  /** The parameter `iss` of RFC 9207. */
  iss?: 'missing' | 'foreign' | 'repeated'
  code?: 'missing' | 'foreign' | 'repeated'
  /** Further parameters of the callback. */
  besides?: Record<string, string>
  idToken?: IdTokenFault
  sub?: keyof typeof SUBJECTS
  email?: keyof typeof EMAILS
  told?: { idToken?: Claims; userinfo?: Claims }
  discovery?: BadAnswer | keyof typeof DISCOVERIES
  token?: BadAnswer | keyof typeof TOKEN_ANSWERS | keyof typeof TOKEN_REFUSALS | 'echoing' | 'lenient'
  jwks?: BadAnswer | 'no-keys'
  userinfo?: BadAnswer | keyof typeof USERINFOS
}

/** Changes of claims; undefined removes a claim. */
const SUBJECTS = {
  missing: { sub: undefined },
  empty: { sub: '' },
  'not-text': { sub: 4711 },
  long: { sub: 'x'.repeat(1000) },
} satisfies Record<string, Claims>

const EMAILS = {
  missing: { email: undefined, email_verified: undefined },
  empty: { email: '' },
  'not-text': { email: 4711 },
  list: { email: ['somebody@example.com', 'victim@example.com'] },
  object: { email: { address: 'somebody@example.com' } },
  'several-at': { email: 'victim@example.com@evil.example' },
  'display-name': { email: 'Somebody <victim@example.com>' },
  'line-break': { email: 'somebody@example.com\nvictim@example.com' },
  'too-long': { email: `${'x'.repeat(2000)}@example.com` },
  unverified: { email_verified: false },
  'unverified-text': { email_verified: 'false' },
  'verified-text': { email_verified: 'true' },
  'verified-number': { email_verified: 1 },
  'verified-null': { email_verified: null },
  'verification-missing': { email_verified: undefined },
} satisfies Record<string, Claims>

/** The claims of a provider about a user, with these faults. */
export const claimsWith = (person: Claims, { sub, email }: Fault): Claims => ({
  ...person,
  ...(sub && SUBJECTS[sub]),
  ...(email && EMAILS[email]),
})

// A reserved name: nothing ever answers there. svc accepts http without TLS for this machine only.
const FOREIGN = 'http://provider.invalid'

const DISCOVERIES = {
  'other-issuer': { issuer: FOREIGN },
  'no-issuer': { issuer: undefined },
  'issuer-not-text': { issuer: 4711 },
  'foreign-endpoints': {
    authorization_endpoint: `${FOREIGN}/authorize`,
    token_endpoint: `${FOREIGN}/token`,
    jwks_uri: `${FOREIGN}/keys`,
    userinfo_endpoint: `${FOREIGN}/userinfo`,
  },
  'foreign-authorization-endpoint': { authorization_endpoint: `${FOREIGN}/authorize` },
  'script-authorization-endpoint': { authorization_endpoint: 'javascript:alert(1)' },
  'foreign-token-endpoint': { token_endpoint: `${FOREIGN}/token` },
  'foreign-jwks-uri': { jwks_uri: `${FOREIGN}/keys` },
  'foreign-userinfo-endpoint': { userinfo_endpoint: `${FOREIGN}/userinfo` },
  'no-authorization-endpoint': { authorization_endpoint: undefined },
  'no-token-endpoint': { token_endpoint: undefined },
  'no-jwks-uri': { jwks_uri: undefined },
  'authorization-endpoint-not-text': { authorization_endpoint: 4711 },
  'basic-only': { token_endpoint_auth_methods_supported: ['client_secret_basic'] },
  'post-only': { token_endpoint_auth_methods_supported: ['client_secret_post'] },
  'authentication-unsaid': { token_endpoint_auth_methods_supported: undefined },
  'pkce-unsaid': { code_challenge_methods_supported: undefined },
  'pkce-plain': { code_challenge_methods_supported: ['plain'] },
} satisfies Record<string, Claims>

const TOKEN_ANSWERS = {
  'no-id-token': { id_token: undefined },
  'no-access-token': { access_token: undefined },
  mac: { token_type: 'mac' },
} satisfies Record<string, Claims>

/** With status 400, or 401 for a fault of the client. */
const TOKEN_REFUSALS = {
  'invalid-grant': { error: 'invalid_grant', error_description: 'The code is not good' },
  'pkce-refused': { error: 'invalid_grant', error_description: 'PKCE verification failed' },
  'invalid-client': { error: 'invalid_client', error_description: 'The client secret is not good' },
} satisfies Record<string, Claims>

const USERINFOS = {
  'other-sub': { sub: 'somebody-else' },
  'no-sub': { sub: undefined },
} satisfies Record<string, Claims>

const changesOf = (table: Record<string, Claims>, name: string | undefined): Claims | undefined =>
  name !== undefined && Object.hasOwn(table, name) ? table[name] : undefined

export const discoveryWith = (document: Claims, { discovery }: Fault): Claims => ({
  ...document,
  ...changesOf(DISCOVERIES, discovery),
})

export const tokensWith = (answer: Claims, { token }: Fault): Claims => ({
  ...answer,
  ...changesOf(TOKEN_ANSWERS, token),
})

export const userinfoWith = (claims: Claims, { userinfo, told }: Fault): Claims => ({
  ...claims,
  ...told?.userinfo,
  ...changesOf(USERINFOS, userinfo),
})

/** The error of the token endpoint for every request; one fault repeats the whole request in it. */
export const tokenRefusal = ({ token }: Fault, asked: URLSearchParams): Claims | undefined =>
  token === 'echoing'
    ? { error: 'invalid_grant', error_description: `This is not good: ${asked.toString()}` }
    : changesOf(TOKEN_REFUSALS, token)

const twisted = (value: string, fault: string | undefined, foreign: string): string[] => {
  if (fault === 'missing') return []
  if (fault === 'foreign') return [foreign]
  if (fault === 'empty') return ['']
  return fault === 'repeated' ? [value, value] : [value]
}

/** The parameters of a callback. */
export const callbackWith = (
  { state, iss, code }: { state: string | null; iss: string | undefined; code: string },
  fault: Fault,
): [string, string][] => {
  const { error } = fault
  const outcome = error
    ? Object.entries({ error: error.code, ...(error.description && { error_description: error.description }) })
    : twisted(code, fault.code, 'a-code-of-another-provider').map((value): [string, string] => ['code', value])
  const states = state === null ? [] : twisted(state, fault.state, 'a-state-of-somebody-else')
  const issuers = iss === undefined ? [] : twisted(iss, fault.iss, FOREIGN)
  return [
    ...outcome,
    ...states.map((value): [string, string] => ['state', value]),
    ...issuers.map((value): [string, string] => ['iss', value]),
    ...Object.entries(fault.besides ?? {}),
  ]
}
