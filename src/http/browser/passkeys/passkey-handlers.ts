import { onDemand } from '../../../lib/on-demand.ts'
import type { RouteDeps } from '../../deps.ts'
import { withPages } from '../with-pages.ts'

const SCRIPT = ['options', 'submit'] as const

/** The handlers of passkeys. Each is loaded with the first request for it. */
export const createPasskeyHandlers = (deps: RouteDeps) => ({
  login: onDemand(
    async () => (await import('./passkey-login.ts')).createPasskeyLogin(await withPages(deps)),
    ...SCRIPT,
  ),
  register: onDemand(async () => (await import('./add-passkey.ts')).createAddPasskey(await withPages(deps)), ...SCRIPT),
})
