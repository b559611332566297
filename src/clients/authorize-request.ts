import type { AuthorizeError } from './authorize-policy.ts'
import type { Client } from './client.ts'
import type { ClientSettings } from './client-settings.ts'
import { findResource } from '../lib/audience.ts'
import { resourcesFor, scopesFor, scopesIn } from './scope.ts'

/** svc knows these parameters of a request, and ignores all others (RFC 6749 section 3.1). */
const PARAMETERS = [
  'client_id',
  'redirect_uri',
  'response_type',
  'response_mode',
  'scope',
  'state',
  'nonce',
  'code_challenge',
  'code_challenge_method',
  'resource',
  'prompt',
  'max_age',
  'acr_values',
  'login_hint',
  'id_token_hint',
  'ui_locales',
  'request',
  'request_uri',
] as const

type Name = (typeof PARAMETERS)[number]

/** The first value of each parameter that came. */
export type Parameters = Partial<Record<Name, string>>

/** A client has sent this. */
export interface SentRequest {
  parameters: Parameters
  repeated: readonly string[]
}

/** A request whose every parameter is good. */
export interface AuthorizeRequest {
  scopes: readonly string[]
  /** It is spelt as in the settings; it is undefined for tokens that are good for `userinfo` alone. */
  resource: string | undefined
  nonce: string | undefined
  challenge: string
  prompt: ReadonlySet<string>
  maxAgeMs: number | undefined
  wantsMfa: boolean
  loginHint: string | undefined
  idTokenHint: string | undefined
}

/** The browser may be sent back: the client is known, and the redirect URI is its own. */
export interface Recipient {
  client: Client
  redirectUri: string
  state: string | undefined
}

/** The request is good. */
export interface GoodRequest extends Recipient {
  /** The client expects this user, by an ID token of its own. */
  hintedUserId: string | undefined
  request: AuthorizeRequest
}

/** A request that is refused goes back to the client with this. The description is for its developer. */
export interface RequestRefusal {
  error: AuthorizeError
  description: string
}

/** Reads the parameters of a query. An empty one counts as left out (RFC 6749 section 3.1). */
export const readSentRequest = ({ all }: { all: (name: string) => readonly string[] }): SentRequest => {
  const given = PARAMETERS.map((name) => [name, all(name)] as const)
  return {
    parameters: Object.fromEntries(given.flatMap(([name, [value]]) => (value ? [[name, value]] : []))),
    repeated: given.filter(([, values]) => values.length > 1).map(([name]) => name),
  }
}

/** The whole request travels in an address. */
const MAX_LENGTH = 2048

export const REQUEST_TOO_LONG = `The parameters have more than ${MAX_LENGTH} bytes together: shorten state.`

/** Tells whether the parameters are longer than a sealed request may hold, in UTF-8. */
export const isTooLong = (parameters: Parameters): boolean =>
  Object.entries(parameters).reduce((sum, [name, value]) => sum + Buffer.byteLength(name + value), 0) > MAX_LENGTH

type RequestSettings = Pick<ClientSettings, 'resources' | 'scopes'>

/** These are looked at together. */
interface Given extends SentRequest {
  client: Client
  settings: RequestSettings
}

/** RFC 7636 section 4.2: a SHA-256 hash in base64url. */
const CHALLENGE = /^[\w-]{43}$/

const PROMPTS: ReadonlySet<string> = new Set(['none', 'login', 'consent', 'select_account'])

const hasBadPrompt = (prompt: string | undefined): boolean => {
  const values = scopesIn(prompt)
  return values.some((value) => !PROMPTS.has(value)) || (values.includes('none') && values.length > 1)
}

/** Leaves out what svc does not know, or the client may not have (OpenID Connect Core section 3.1.2.1). */
const grantedScopes = ({ parameters, client, settings }: Given): string[] => {
  const allowed = scopesFor(client, settings.scopes)
  return scopesIn(parameters.scope).filter((scope) => allowed.has(scope))
}

/** Without a resource, the only one of the client counts. */
const resourceOf = ({ parameters: { resource }, client, settings }: Given): string | undefined => {
  const only = client.resources.length === 1 ? client.resources[0] : undefined
  const asked = resource ?? only
  return asked === undefined ? undefined : findResource(resourcesFor(client, settings.resources), asked)
}

/** This table has every reason to refuse a request whose client and redirect are good. The first that holds decides. */
const REFUSALS: readonly (readonly [holds: (given: Given) => boolean, error: AuthorizeError, description: string])[] = [
  [({ repeated }) => repeated.length > 0, 'invalid_request', 'Send each parameter once.'],
  [({ parameters }) => parameters.request !== undefined, 'request_not_supported', 'Send the parameters themselves.'],
  [
    ({ parameters }) => parameters.request_uri !== undefined,
    'request_not_supported',
    'request_uri is not supported: send the parameters themselves.',
  ],
  [
    // PostgreSQL stores no NUL, and no honest client sends one.
    ({ parameters: { nonce = '' } }) => nonce.includes('\0'),
    'invalid_request',
    'nonce has a NUL.',
  ],
  [({ parameters }) => isTooLong(parameters), 'invalid_request', REQUEST_TOO_LONG],
  [({ parameters }) => parameters.response_type === undefined, 'invalid_request', 'response_type must be code.'],
  [({ parameters }) => parameters.response_type !== 'code', 'unsupported_response_type', 'response_type must be code.'],
  [
    ({ parameters: { response_mode: mode = 'query' } }) => mode !== 'query',
    'invalid_request',
    'response_mode must be query, or left out.',
  ],
  [
    ({ parameters }) => parameters.code_challenge === undefined,
    'invalid_request',
    'code_challenge is missing: PKCE (RFC 7636) is required of every client.',
  ],
  [
    ({ parameters }) => parameters.code_challenge_method !== 'S256',
    'invalid_request',
    'code_challenge_method must be S256.',
  ],
  [
    ({ parameters }) => !CHALLENGE.test(parameters.code_challenge ?? ''),
    'invalid_request',
    'code_challenge must be the base64url of a SHA-256 hash: 43 characters.',
  ],
  [
    ({ parameters }) => hasBadPrompt(parameters.prompt),
    'invalid_request',
    'prompt must be none, or some of login, consent and select_account.',
  ],
  [
    ({ parameters: { max_age: maxAge = '0' } }) => !/^\d{1,10}$/.test(maxAge),
    'invalid_request',
    'max_age must be a number of seconds.',
  ],
  [
    (given) => given.parameters.resource !== undefined && resourceOf(given) === undefined,
    'invalid_target',
    'resource is none of those that this client may ask for.',
  ],
  [
    (given) => scopesIn(given.parameters.scope).length > 0 && grantedScopes(given).length === 0,
    'invalid_scope',
    'scope has none that this client may ask for.',
  ],
]

/**
 * Reads a request of a client whose redirect URI is its own. The client may have changed since the request was sealed,
 * so that it is read again whenever the browser is back.
 */
export const readRequest = (
  sent: SentRequest,
  client: Client,
  settings: RequestSettings,
): { request: AuthorizeRequest } | { refusal: RequestRefusal } => {
  const given = { ...sent, client, settings }
  const refused = REFUSALS.find(([holds]) => holds(given))
  if (refused) return { refusal: { error: refused[1], description: refused[2] } }
  const { nonce, code_challenge: challenge = '', prompt, max_age: maxAge, acr_values: acr } = sent.parameters
  return {
    request: {
      scopes: grantedScopes(given),
      resource: resourceOf(given),
      nonce,
      challenge,
      prompt: new Set(scopesIn(prompt)),
      maxAgeMs: maxAge === undefined ? undefined : Number(maxAge) * 1000,
      wantsMfa: client.requireMfa || scopesIn(acr).includes('mfa'),
      loginHint: sent.parameters.login_hint,
      idTokenHint: sent.parameters.id_token_hint,
    },
  }
}

/** Makes the address that the browser goes back to (RFC 6749 section 4.1.2; `iss` is of RFC 9207). */
export const redirectWith = (redirectUri: string, answer: Readonly<Record<string, string | undefined>>): string => {
  const given = Object.entries(answer).filter((entry): entry is [string, string] => entry[1] !== undefined)
  return `${redirectUri}${redirectUri.includes('?') ? '&' : '?'}${new URLSearchParams(given).toString()}`
}
