import { signedUp, loggedIn, logOut } from '../../test/support/client/accounts.ts'
import type { UserAgent } from '../../test/support/client/user-agent.ts'
import { codeFor } from '../../test/support/clients/authorization.ts'
import { tokensIn, trade } from '../../test/support/clients/tokens.ts'
import type { Awaited } from '../programs/sdk-verifier.ts'
import { RESOURCE, type Place } from './place.ts'

/** A token of a new user, and what ends it, or changes what it says. */
interface Ending extends Awaited {
  end(): Promise<void>
}

type Prepare = (place: Place, port: number) => Promise<Ending>

const requireStatus = ({ status, text }: { status: number; text: string }, expected: number): void => {
  if (status !== expected) throw new Error(`expected ${expected}, got ${status}: ${text.slice(0, 400)}`)
}

const siteAt = (port: number) => ({ url: `http://localhost:${port}` })

const tokenOf = ({ cookies }: UserAgent): string => cookies.get('svc_access') ?? ''

/** The backend of the application changes or deletes the user. */
const byBackend =
  (method: 'PATCH' | 'DELETE', change?: { disabled?: boolean; roles?: string[] }): Prepare =>
  async ({ backendKey }, port) => {
    const { agent } = await signedUp(siteAt(port))
    const { id } = (await agent.get('/auth/api/v1/user')).json<{ id: string }>()
    const headers = { authorization: `Bearer ${backendKey}`, cookie: [], 'content-type': 'application/json' }
    const path = `/auth/api/v2/users/${id}`
    const body = change && JSON.stringify(change)
    return {
      token: tokenOf(agent),
      ...(change?.roles && { roles: change.roles }),
      end: async () =>
        requireStatus(await agent.send({ method, path, headers, ...(body && { body }) }), change ? 200 : 204),
    }
  }

/** What the verifiers learn of, by what happens. */
export const ENDINGS: Record<string, Prepare> = {
  async logout(_, port) {
    const { agent } = await signedUp(siteAt(port))
    return { token: tokenOf(agent), end: async () => requireStatus(await logOut(agent), 303) }
  },
  async 'a disconnected client'({ client }, port) {
    const site = siteAt(port)
    const { agent } = await signedUp(site)
    const code = await codeFor(agent, client.id, { scope: 'notes:read offline_access', resource: RESOURCE })
    const { access } = tokensIn(await trade(site, client, code))
    const form = { client_id: client.id }
    return {
      token: access,
      isOfClient: true,
      end: async () => requireStatus(await agent.post('/auth/account/applications', form), 303),
    }
  },
  'a disabled user': byBackend('PATCH', { disabled: true }),
  'a deleted user': byBackend('DELETE'),
  async 'a changed password'(_, port) {
    const { agent, person } = await signedUp(siteAt(port))
    const other = await loggedIn(siteAt(port), person)
    const form = { current_password: person.password, new_password: `${person.password}, changed` }
    return {
      token: tokenOf(agent),
      end: async () => requireStatus(await other.post('/auth/account/password', form), 303),
    }
  },
  'changed roles': byBackend('PATCH', { roles: ['editor'] }),
}
