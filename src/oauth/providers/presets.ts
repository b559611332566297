export type ProviderKind = 'openid' | 'google' | 'github' | 'microsoft' | 'apple' | 'gitlab' | 'discord'

/** One configured provider. */
export interface ProviderSettings {
  /** As in `SVC_OAUTH_PROVIDERS`. */
  name: string
  kind: ProviderKind
  /** What people read on its button. */
  label: string
  iconUrl: string | undefined
  clientId: string
  /** Apple: the private key as PEM (PKCS #8), of which each secret is made. */
  clientSecret: string
  /** As it was written: an issuer is compared character by character. */
  issuer: string
  scopes: string[]
  /** In lower case; none: any. */
  allowedDomains: string[]
  /** Emails count as verified also where the provider does not say so. */
  trustsEmail: boolean
  apple: { teamId: string; keyId: string } | undefined
}

/** What is known of a provider by its name. */
export interface Preset {
  kind: ProviderKind
  label: string
  /** Left out where nobody but the operator knows it. */
  issuer?: string
  scopes: readonly string[]
}

const OPENID_SCOPES = ['openid', 'email', 'profile']

export const microsoftIssuer = (tenant: string): string => `https://login.microsoftonline.com/${tenant}/v2.0`

/** By name. Microsoft's issuer has TENANT in the place of the tenant. A map, for "constructor" is a name as well. */
export const PRESETS: ReadonlyMap<string, Preset> = new Map<string, Preset>([
  ['google', { kind: 'google', label: 'Google', issuer: 'https://accounts.google.com', scopes: OPENID_SCOPES }],
  ['github', { kind: 'github', label: 'GitHub', issuer: 'https://github.com', scopes: ['read:user', 'user:email'] }],
  ['microsoft', { kind: 'microsoft', label: 'Microsoft', issuer: microsoftIssuer('TENANT'), scopes: OPENID_SCOPES }],
  ['apple', { kind: 'apple', label: 'Apple', issuer: 'https://appleid.apple.com', scopes: ['name', 'email'] }],
  ['gitlab', { kind: 'gitlab', label: 'GitLab', issuer: 'https://gitlab.com', scopes: OPENID_SCOPES }],
  ['discord', { kind: 'discord', label: 'Discord', issuer: 'https://discord.com', scopes: ['identify', 'email'] }],
])

/** The preset of that name, or else what goes for every OpenID Connect issuer: `my-corp` is shown as "My corp". */
export const presetOf = (name: string): Preset => PRESETS.get(name) ?? openidPreset(name)

const openidPreset = (name: string): Preset => {
  const words = name.replace(/[_-]/g, ' ')
  return { kind: 'openid', label: words.charAt(0).toUpperCase() + words.slice(1), scopes: OPENID_SCOPES }
}

/** Kinds whose sign-in asks for an ID token with the scope `openid`. */
export const asksForOpenid = (kind: ProviderKind): boolean =>
  kind === 'openid' || kind === 'google' || kind === 'microsoft' || kind === 'gitlab'

/** Tenants of Microsoft that are nobody's own; the number is that of `consumers`. */
const SHARED_TENANT = /^\/(?:common|organizations|consumers|9188040d-6c67-4c5b-b112-36a304b66dad)(?:\/|$)/i

const MICROSOFT_HOST = new URL(microsoftIssuer('common')).host

/** Hosts at which anybody may open an account, and where no organisation decides which email it bears. */
const PUBLIC_HOSTS = [...PRESETS.values()].flatMap(({ kind, issuer }) =>
  issuer === undefined || kind === 'microsoft' ? [] : [new URL(issuer).host],
)

/** Whether one organisation can be behind a provider, as far as it is known, so that it may vouch for its emails. */
export const canBeOnesOwn = (kind: ProviderKind, issuer: string | undefined): boolean => {
  if (kind !== 'openid' && kind !== 'gitlab' && kind !== 'microsoft') return false
  if (issuer === undefined) return true
  const { host, pathname } = new URL(issuer)
  if (kind === 'microsoft' || host === MICROSOFT_HOST) return !SHARED_TENANT.test(pathname)
  return !PUBLIC_HOSTS.includes(host)
}
