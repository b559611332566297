import { monotonicClock } from '../../lib/time.ts'
import { buildAuthorizationUrl } from './authorization-code.ts'
import { createDiscovery } from './discovery.ts'
import { redeem } from './id-token.ts'
import { configureOpenid } from './openid-configuration.ts'
import type { ProviderKind } from './presets.ts'
import type { Provider } from './provider.ts'
import { toProblem } from './provider-fetch.ts'

/** Parameters that some providers want besides those of the standard. */
const EXTRAS: Partial<Record<ProviderKind, Record<string, string>>> = {
  // Apple answers by a form when it is asked for a name or an email.
  apple: { response_mode: 'form_post' },
}

/**
 * How a provider is asked to have somebody sign in anew (OpenID Connect Core section 3.1.2.1). Google knows no
 * `prompt=login` and answers it with an error; at Apple everybody signs in each time.
 */
const ANEW: Partial<Record<ProviderKind, Record<string, string>>> = {
  google: { prompt: 'select_account' },
  apple: {},
}
const ANEW_BY_STANDARD = { prompt: 'login', max_age: '0' }

/** A provider that speaks OpenID Connect. The library is loaded when somebody first asks for it. */
export const createOpenidProvider = (parts: Parameters<typeof configureOpenid>[0]): Provider => {
  const { kind, scopes } = parts.settings
  const discover = () => configureOpenid(parts)
  const { configuration, forget } = createDiscovery({ clock: monotonicClock, discover })

  return {
    async authorizationUrl(attempt) {
      try {
        const anew = attempt.freshSinceMs === undefined ? {} : (ANEW[kind] ?? ANEW_BY_STANDARD)
        const more = { nonce: attempt.nonce, ...EXTRAS[kind], ...anew }
        return await buildAuthorizationUrl(await configuration(), attempt, { scopes, more })
      } catch (error) {
        throw toProblem(error)
      }
    },

    async fetchProfile(answer, attempt) {
      try {
        return await redeem(await configuration(), { answer, attempt, ...parts })
      } catch (error) {
        // It has begun to sign with a key that is not known here: whoever tries again finds it.
        if ((error as { code?: unknown }).code === 'OAUTH_KEY_SELECTION_FAILED') forget()
        throw toProblem(error)
      }
    },
  }
}
