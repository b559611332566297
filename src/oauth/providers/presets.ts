export type ProviderKind = 'openid' | 'google' | 'github' | 'microsoft' | 'apple' | 'gitlab' | 'discord'

export interface ProviderSettings {
  /** The name stands in `SVC_OAUTH_PROVIDERS`. */
  name: string
  kind: ProviderKind
  /** It is the text of its button. */
  label: string
  iconUrl: string | undefined
  clientId: string
  /** Apple needs the private key as PEM (PKCS #8), which signs each secret. */
  clientSecret: string
  /** It stays as it was configured: an issuer is compared character by character. */
  issuer: string
  scopes: string[]
  /** The domains are in lower case; an empty list allows every domain. */
  allowedDomains: string[]
  /** Emails then count as verified even when the provider does not say if they are. */
  trustsEmail: boolean
  /** Says whether users with one-time codes are asked for one after this provider (docs/providers.md). */
  secondFactor: 'ask' | 'trusted' | 'claims'
  apple: { teamId: string; keyId: string } | undefined
}

/** svc knows this about a provider by its name. */
export interface Preset {
  kind: ProviderKind
  label: string
  /** It is undefined if only the operator can know it. */
  issuer?: string
  scopes: readonly string[]
}

const OPENID_SCOPES = ['openid', 'email', 'profile']

export const microsoftIssuer = (tenant: string): string => `https://login.microsoftonline.com/${tenant}/v2.0`

/**
 * A preset is found by name, in a map, because "constructor" is a name too. The configured tenant replaces TENANT in
 * Microsoft's issuer.
 */
export const PRESETS: ReadonlyMap<string, Preset> = new Map<string, Preset>([
  ['google', { kind: 'google', label: 'Google', issuer: 'https://accounts.google.com', scopes: OPENID_SCOPES }],
  ['github', { kind: 'github', label: 'GitHub', issuer: 'https://github.com', scopes: ['read:user', 'user:email'] }],
  ['microsoft', { kind: 'microsoft', label: 'Microsoft', issuer: microsoftIssuer('TENANT'), scopes: OPENID_SCOPES }],
  ['apple', { kind: 'apple', label: 'Apple', issuer: 'https://appleid.apple.com', scopes: ['name', 'email'] }],
  ['gitlab', { kind: 'gitlab', label: 'GitLab', issuer: 'https://gitlab.com', scopes: OPENID_SCOPES }],
  ['discord', { kind: 'discord', label: 'Discord', issuer: 'https://discord.com', scopes: ['identify', 'email'] }],
])

/**
 * Gives the preset of that name, or else that of any OpenID Connect issuer, with a label from the name: `my-corp` is
 * "My corp".
 */
export const presetOf = (name: string): Preset => PRESETS.get(name) ?? openidPreset(name)

const openidPreset = (name: string): Preset => {
  const words = name.replace(/[_-]/g, ' ')
  return { kind: 'openid', label: words.charAt(0).toUpperCase() + words.slice(1), scopes: OPENID_SCOPES }
}

/** Tells whether requests to this kind of provider need the scope `openid` to get an ID token. */
export const asksForOpenid = (kind: ProviderKind): boolean =>
  kind === 'openid' || kind === 'google' || kind === 'microsoft' || kind === 'gitlab'

/** These Microsoft tenants belong to no single organisation; the UUID is that of `consumers`. */
const SHARED_TENANT = /^\/(?:common|organizations|consumers|9188040d-6c67-4c5b-b112-36a304b66dad)(?:\/|$)/i

const MICROSOFT_HOST = new URL(microsoftIssuer('common')).host

/**
 * Tells whether ID tokens of all users have the configured issuer. Each names the tenant of its user if the tenant is
 * shared.
 */
export const hasOneIssuer = ({ kind, issuer }: Pick<ProviderSettings, 'kind' | 'issuer'>): boolean =>
  kind !== 'microsoft' || !SHARED_TENANT.test(new URL(issuer).pathname)

/** Anyone can open an account at these hosts, so that no organisation decides which email an account has. */
const PUBLIC_HOSTS = [...PRESETS.values()].flatMap(({ kind, issuer }) =>
  issuer === undefined || kind === 'microsoft' ? [] : [new URL(issuer).host],
)

/** Tells whether one organisation may run this provider, as far as we can know, so that its emails can be trusted. */
export const canBeOnesOwn = (kind: ProviderKind, issuer: string | undefined): boolean => {
  if (kind !== 'openid' && kind !== 'gitlab' && kind !== 'microsoft') return false
  if (issuer === undefined) return true
  const { host, pathname } = new URL(issuer)
  if (kind === 'microsoft' || host === MICROSOFT_HOST) return !SHARED_TENANT.test(pathname)
  return !PUBLIC_HOSTS.includes(host)
}
