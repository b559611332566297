import assert from 'node:assert/strict'
import type { OutgoingHttpHeaders } from 'node:http'
import type { Answer, UserAgent } from '../client/user-agent.ts'
import type { Authenticator, CreationOptions, RequestOptions, Ways } from './authenticator.ts'

/** Sends JSON like the script of the pages, with the CSRF token of the jar. */
export const postJson = async (
  agent: UserAgent,
  path: string,
  body: unknown = {},
  headers: OutgoingHttpHeaders = {},
): Promise<Answer> => {
  const findToken = () => agent.cookies.get('__Host-svc_csrf') ?? agent.cookies.get('svc_csrf')
  if (findToken() === undefined) await agent.get('/auth/login')
  return agent.send({
    method: 'POST',
    path,
    headers: { 'content-type': 'application/json', 'x-csrf-token': findToken() ?? '', ...headers },
    body: typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body),
  })
}

const optionsFrom = async <Options>(agent: UserAgent, path: string, body?: unknown): Promise<Options> => {
  const answer = await postJson(agent, path, body)
  assert.equal(answer.status, 200, answer.text)
  return answer.json<Options>()
}

export const loginOptions = (agent: UserAgent): Promise<RequestOptions> =>
  optionsFrom(agent, '/auth/passkeys/login/options')

export const registrationOptions = (agent: UserAgent, body?: unknown): Promise<CreationOptions> =>
  optionsFrom(agent, '/auth/passkeys/register/options', body)

/** Registers a new passkey for the signed-in user; `more` are members beside those of the response. */
export const tryToAddPasskey = async (
  agent: UserAgent,
  authenticator: Authenticator,
  ways?: Ways,
  more: object = {},
): Promise<Answer> => {
  const options = await registrationOptions(agent)
  return postJson(agent, '/auth/passkeys/register', { ...authenticator.register(options, ways), ...more })
}

/** The same, which must succeed. */
export const addPasskey = async (
  agent: UserAgent,
  authenticator: Authenticator,
  ways?: Ways,
): Promise<{ id: string; name: string }> => {
  const answer = await tryToAddPasskey(agent, authenticator, ways)
  assert.equal(answer.status, 201, answer.text)
  return answer.json()
}

/** Signs in with a passkey; `query` as in `?return_to=%2Fstart`. */
export const logInWithPasskey = async (
  agent: UserAgent,
  authenticator: Authenticator,
  ways?: Ways,
  query = '',
): Promise<Answer> => {
  const response = authenticator.authenticate(await loginOptions(agent), ways)
  return postJson(agent, `/auth/passkeys/login${query}`, response)
}
