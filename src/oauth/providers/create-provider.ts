import type { Clock } from '../../lib/time.ts'
import { describeGithub } from './github.ts'
import { createOAuth2Provider, type OAuth2Description } from './oauth2.ts'
import { createOpenidProvider } from './openid.ts'
import type { ProviderSettings } from './presets.ts'
import type { Provider } from './provider.ts'
import type { ProviderFetch } from './provider-fetch.ts'
import type { Claims } from './profile.ts'

interface DiscordUser {
  id?: unknown
  username?: unknown
  global_name?: unknown
  email?: unknown
  verified?: unknown
}

/** The provider is described at https://discord.com/developers/docs/topics/oauth2. */
export const describeDiscord = (issuer: string): OAuth2Description => ({
  authorizationEndpoint: `${issuer}/oauth2/authorize`,
  tokenEndpoint: `${issuer}/api/oauth2/token`,
  reauthenticateParams: { prompt: 'consent' },
  fetchClaims: async (callApi): Promise<Claims> => {
    const user = ((await callApi(`${issuer}/api/users/@me`)) ?? {}) as DiscordUser
    const { id, username, global_name: name, email, verified } = user
    return { sub: id, preferred_username: username, name, email, email_verified: verified }
  },
})

export interface ProviderDeps {
  settings: ProviderSettings
  timeoutMs: number
  clock: Clock
  /** Answers in place of the network. */
  fetch?: ProviderFetch | undefined
}

/** Makes a provider by its settings: GitHub and Discord have OAuth 2.0 alone, and all others OpenID Connect. */
export const createProvider = (deps: ProviderDeps): Provider => {
  const { kind } = deps.settings
  if (kind === 'github') return createOAuth2Provider({ ...deps, describe: describeGithub })
  if (kind === 'discord') return createOAuth2Provider({ ...deps, describe: describeDiscord })
  return createOpenidProvider(deps)
}
