import type { FormatOptions, Loss } from './format.ts'

/** Providers whose users all have the same issuer, wherever they sign in with it. */
const ISSUERS: ReadonlyMap<string, string> = new Map([
  ['google', 'https://accounts.google.com'],
  ['github', 'https://github.com'],
  ['gitlab', 'https://gitlab.com'],
  ['apple', 'https://appleid.apple.com'],
  ['discord', 'https://discord.com'],
])

interface ProviderAccount {
  /** The name of the provider in svc; undefined where svc has none like it. */
  provider: string | undefined
  subject: string | undefined
  email?: string | undefined
}

/** The field `identities`, and whether some accounts are at providers whose users could not be recognised. */
export const identitiesOf = (
  accounts: ProviderAccount[],
  { issuerOf }: FormatOptions,
): { identities: object[]; losses: Loss[] } => {
  const identities = accounts.flatMap(({ provider = '', subject, email }) => {
    const issuer = issuerOf(provider) ?? ISSUERS.get(provider)
    return issuer !== undefined && subject !== undefined ? [{ provider, issuer, subject, email }] : []
  })
  const isLost = identities.length < accounts.length
  return { identities, losses: isLost ? ['sign-in with a provider that is not configured here'] : [] }
}
