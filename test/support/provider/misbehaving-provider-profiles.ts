import type { Claims } from './misbehaving-provider-faults.ts'

/** The path of an endpoint. The first group is the requested tenant. */
type Endpoints = Record<'discovery' | 'authorize' | 'token' | 'jwks' | 'userinfo', RegExp>
export type Endpoint = keyof Endpoints

/** How one provider of the real world behaves. */
export type Profile = {
  endpoints: Endpoints
  /** The issuer in the discovery document. */
  issuer(origin: string, tenant: string): string
  /** The addresses of the endpoints in the discovery document. */
  addresses(origin: string, tenant: string): Claims
  /** The claims of an ID token, or undefined if there are no ID tokens. */
  idToken(person: Claims, origin: string): Claims | undefined
  userinfo(person: Claims): Claims
  /** Whether its callbacks have the `iss` of RFC 9207. */
  tellsIssuer: boolean
  /** Whether it posts a form to the callback for the scopes name and email, and sends the name only the first time. */
  answersByForm: boolean
  /** The error when a user cancels. */
  cancelled: string
}

const NOWHERE = /(?!)/
const only = (claims: Claims, ...names: string[]): Claims =>
  Object.fromEntries(names.filter((name) => name in claims).map((name) => [name, claims[name]]))
const without = (claims: Claims, ...names: string[]): Claims =>
  Object.fromEntries(Object.entries(claims).filter(([name]) => !names.includes(name)))

const openid: Profile = {
  endpoints: {
    discovery: /^\/\.well-known\/openid-configuration$/,
    authorize: /^\/authorize$/,
    token: /^\/token$/,
    jwks: /^\/jwks$/,
    userinfo: /^\/userinfo$/,
  },
  issuer: (origin) => origin,
  addresses: (origin) => ({
    authorization_endpoint: `${origin}/authorize`,
    token_endpoint: `${origin}/token`,
    jwks_uri: `${origin}/jwks`,
    userinfo_endpoint: `${origin}/userinfo`,
    authorization_response_iss_parameter_supported: true,
  }),
  idToken: (person, origin) => ({ iss: origin, ...person }),
  userinfo: (person) => person,
  tellsIssuer: true,
  answersByForm: false,
  cancelled: 'access_denied',
}

/** OpenID Connect with `hd` (the organization's domain), and without `iss` in callbacks. */
const google: Profile = {
  ...openid,
  addresses: (origin) => without(openid.addresses(origin, ''), 'authorization_response_iss_parameter_supported'),
  tellsIssuer: false,
}

/** The email comes from the userinfo endpoint only. */
const gitlab: Profile = { ...google, idToken: ({ sub }, origin) => ({ iss: origin, sub }) }

/** No userinfo endpoint; `email_verified` is text, and the name comes once, beside the code. */
const apple: Profile = {
  ...google,
  endpoints: {
    discovery: openid.endpoints.discovery,
    authorize: /^\/auth\/authorize$/,
    token: /^\/auth\/token$/,
    jwks: /^\/auth\/keys$/,
    userinfo: NOWHERE,
  },
  addresses: (origin) => ({
    authorization_endpoint: `${origin}/auth/authorize`,
    token_endpoint: `${origin}/auth/token`,
    jwks_uri: `${origin}/auth/keys`,
    response_modes_supported: ['query', 'fragment', 'form_post'],
    token_endpoint_auth_methods_supported: ['client_secret_post'],
  }),
  idToken: (person, origin) => {
    const { email_verified: verified } = person
    const asText = typeof verified === 'boolean' ? { email_verified: `${verified}` } : {}
    const claims = only(person, 'sub', 'email', 'email_verified', 'is_private_email')
    return { iss: origin, ...claims, ...asText, nonce_supported: true }
  },
  answersByForm: true,
  cancelled: 'user_cancelled_authorize',
}

/** These two stand for every tenant: the issuer in their discovery document is a template. */
const MANY_TENANTS = ['common', 'organizations']

const microsoft: Profile = {
  ...google,
  endpoints: {
    discovery: /^\/([^/]+)\/v2\.0\/\.well-known\/openid-configuration$/,
    authorize: /^\/([^/]+)\/oauth2\/v2\.0\/authorize$/,
    token: /^\/([^/]+)\/oauth2\/v2\.0\/token$/,
    jwks: /^\/([^/]+)\/discovery\/v2\.0\/keys$/,
    userinfo: /^\/oidc\/userinfo$/,
  },
  issuer: (origin, tenant) => `${origin}/${MANY_TENANTS.includes(tenant) ? '{tenantid}' : tenant}/v2.0`,
  addresses: (origin, tenant) => ({
    authorization_endpoint: `${origin}/${tenant}/oauth2/v2.0/authorize`,
    token_endpoint: `${origin}/${tenant}/oauth2/v2.0/token`,
    jwks_uri: `${origin}/${tenant}/discovery/v2.0/keys`,
    userinfo_endpoint: `${origin}/oidc/userinfo`,
    response_modes_supported: ['query', 'fragment', 'form_post'],
  }),
  idToken: (person, origin) => ({
    iss: `${origin}/${String(person.tid)}/v2.0`,
    ...without(person, 'email_verified'),
    ver: '2.0',
  }),
  userinfo: (person) => only(person, 'sub', 'name', 'email'),
}

/** OAuth 2.0 without OpenID; its authorization endpoint has two addresses. */
const discord: Profile = {
  ...google,
  endpoints: {
    discovery: NOWHERE,
    authorize: /^(?:\/api)?\/oauth2\/authorize$/,
    token: /^\/api\/oauth2\/token$/,
    jwks: NOWHERE,
    userinfo: /^\/api\/(?:v\d+\/)?users\/@me$/,
  },
  idToken: () => undefined,
  userinfo: ({ sub, preferred_username, name, email, email_verified }) => ({
    id: sub,
    username: preferred_username,
    global_name: name ?? null,
    email: email ?? null,
    verified: email_verified ?? false,
  }),
}

export const PROFILES = { openid, google, gitlab, apple, microsoft, discord } satisfies Record<string, Profile>
export type ProfileName = keyof typeof PROFILES

/** The endpoint and the tenant of a path. */
export const endpointAt = ({ endpoints }: Profile, path: string): { name: Endpoint; tenant: string } | undefined => {
  const names = Object.keys(endpoints) as Endpoint[]
  const name = names.find((name) => endpoints[name].test(path))
  return name && { name, tenant: endpoints[name].exec(path)?.[1] ?? '' }
}
