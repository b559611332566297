import type { OutgoingHttpHeaders } from 'node:http'
import type { Service } from '../service/service.ts'
import { runJsonCommandOf } from '../service/operator-commands.ts'
import { type Answer, createUserAgent } from './user-agent.ts'

/** The backend of an application, which calls the server API with a key. */
export type Backend = {
  key: string
  id: string
  /** `path` below `/auth/api/v2`; a body that is no text is sent as JSON. */
  call(method: string, path: string, body?: unknown, headers?: OutgoingHttpHeaders): Promise<Answer>
  /** The same, to another replica. */
  at(service: { url: string }): Backend
}

const backendWith = ({ url }: { url: string }, { key, id }: { key: string; id: string }): Backend => {
  const agent = createUserAgent({ url })
  return {
    key,
    id,
    call(method, path, body, headers = {}) {
      const authorization = { authorization: `Bearer ${key}` }
      if (body === undefined)
        return agent.send({ method, path: `/auth/api/v2${path}`, headers: { ...authorization, ...headers } })
      const sent = typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body)
      const all = { ...authorization, 'content-type': 'application/json', ...headers }
      return agent.send({ method, path: `/auth/api/v2${path}`, headers: all, body: sent })
    },
    at: (service) => backendWith(service, { key, id }),
  }
}

let made = 0

/** Makes a key with these scopes by the command line. */
export const createBackend = async (service: Service, scopes: string[], more: string[] = []): Promise<Backend> => {
  made += 1
  const args = ['api-keys', 'create', `backend-${made}`, '--scope', scopes.join(','), ...more]
  return backendWith(service, await runJsonCommandOf<{ key: string; id: string }>(service, args))
}
