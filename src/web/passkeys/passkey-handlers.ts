import { onDemand } from '../../lib/on-demand.ts'
import type { RouteDeps } from '../../http/deps.ts'
import { withPages } from '../site/with-pages.ts'

type Described = typeof import('./documentation.ts')

const SCRIPT = ['options', 'submit'] as const

const documentation = (name: keyof Described) => async () => (await import('./documentation.ts'))[name]

/** The JSON routes of passkeys. Handlers and documentation are loaded with the first request for them. */
export const createPasskeyHandlers = (deps: RouteDeps) => {
  const login = onDemand(
    async () => (await import('./passkey-login.ts')).createPasskeyLogin(await withPages(deps)),
    ...SCRIPT,
  )
  const register = onDemand(
    async () => (await import('./add-passkey.ts')).createAddPasskey(await withPages(deps)),
    ...SCRIPT,
  )
  return {
    loginOptions: { handle: login.options, documentation: documentation('LOGIN_OPTIONS') },
    login: { handle: login.submit, documentation: documentation('LOGIN') },
    registerOptions: { handle: register.options, documentation: documentation('REGISTER_OPTIONS') },
    register: { handle: register.submit, documentation: documentation('REGISTER') },
  }
}
