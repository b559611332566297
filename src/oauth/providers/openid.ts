import { monotonicClock } from '../../lib/time.ts'
import { buildAuthorizationUrl } from './authorization-code.ts'
import { createDiscovery } from './discovery.ts'
import { fetchOpenidProfile } from './id-token.ts'
import { configureOpenid, type OpenidConfigurationDeps } from './openid-configuration.ts'
import type { ProviderKind } from './presets.ts'
import type { Provider } from './provider.ts'
import { toProblem } from './provider-fetch.ts'

/** Some providers want these parameters besides those of the standard. */
const EXTRA_PARAMS: Partial<Record<ProviderKind, Record<string, string>>> = {
  // Apple refuses to send a name or an email in an address; it posts a form.
  apple: { response_mode: 'form_post' },
}

/** Makes a provider ask its user to sign in again (OpenID Connect Core section 3.1.2.1). */
const REAUTHENTICATE_PARAMS = { prompt: 'login', max_age: '0' }

/** Google refuses `prompt=login` with an error; Apple asks for a sign-in each time. */
const OTHER_REAUTHENTICATE_PARAMS: Partial<Record<ProviderKind, Record<string, string>>> = {
  google: { prompt: 'select_account' },
  apple: {},
}

/** Makes a provider with OpenID Connect. The library is loaded at the first sign-in. */
export const createOpenidProvider = (deps: OpenidConfigurationDeps): Provider => {
  const { settings, clock } = deps
  const { kind, scopes } = settings
  const discover = () => configureOpenid(deps)
  const { configuration, forget } = createDiscovery({ clock: monotonicClock, discover })
  const reauthenticateParams = OTHER_REAUTHENTICATE_PARAMS[kind] ?? REAUTHENTICATE_PARAMS

  return {
    async authorizationUrl(request) {
      try {
        const freshParams = request.signInNotBeforeMs === undefined ? {} : reauthenticateParams
        const extraParams = { nonce: request.nonce, ...EXTRA_PARAMS[kind], ...freshParams }
        return await buildAuthorizationUrl(await configuration(), request, { scopes, extraParams })
      } catch (error) {
        throw toProblem(error)
      }
    },

    async fetchProfile(callbackParams, request) {
      try {
        const found = await configuration()
        return await fetchOpenidProfile({ configuration: found, callbackParams, request, settings, clock })
      } catch (error) {
        // The provider signs with a new key: the next try finds it.
        if ((error as { code?: unknown }).code === 'OAUTH_KEY_SELECTION_FAILED') forget()
        throw toProblem(error)
      }
    },
  }
}
