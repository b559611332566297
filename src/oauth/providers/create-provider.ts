import type { Clock } from '../../lib/time.ts'
import { describeDiscord } from './discord.ts'
import { describeGithub } from './github.ts'
import { createOAuth2Provider } from './oauth2.ts'
import { createOpenidProvider } from './openid.ts'
import type { ProviderSettings } from './presets.ts'
import type { Provider } from './provider.ts'

export interface ProviderDeps {
  settings: ProviderSettings
  /** Limits each request to the provider. */
  timeoutMs: number
  clock: Clock
}

/** A provider by its settings: GitHub and Discord have OAuth 2.0 alone, and all others OpenID Connect. */
export const createProvider = (deps: ProviderDeps): Provider => {
  const { kind } = deps.settings
  if (kind === 'github') return createOAuth2Provider({ ...deps, describe: describeGithub })
  if (kind === 'discord') return createOAuth2Provider({ ...deps, describe: describeDiscord })
  return createOpenidProvider(deps)
}
