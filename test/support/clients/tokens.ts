import assert from 'node:assert/strict'
import { signedUp } from '../client/accounts.ts'
import type { UserAgent } from '../client/user-agent.ts'
import type { Service } from '../service/service.ts'
import { codeFor, REDIRECT_URI } from './authorization.ts'

export type Made = { id: string; secret?: string }
type Fields = Record<string, string | undefined>

/** What a route for clients has answered. */
export type ClientAnswer = { status: number; headers: Headers; text: string; body: Record<string, unknown> }

export const VERIFIER = 'v'.repeat(43)

/** Sends a form to a route under /auth/oauth2, as a program does: without cookies. */
export const send = async (
  service: { url: string },
  route: string,
  fields: Fields | string,
  headers: Record<string, string> = {},
): Promise<ClientAnswer> => {
  const given =
    typeof fields === 'string'
      ? fields
      : new URLSearchParams(Object.entries(fields).filter((entry): entry is [string, string] => entry[1] !== undefined))
  const response = await fetch(`${service.url}/auth/oauth2/${route}`, {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
    body: given,
    redirect: 'manual',
  })
  return read(response)
}

const read = async (response: Response): Promise<ClientAnswer> => {
  const text = await response.text()
  const isJson = response.headers.get('content-type')?.startsWith('application/json') === true
  const body = isJson ? (JSON.parse(text) as Record<string, unknown>) : {}
  return { status: response.status, headers: response.headers, text, body }
}

export const get = async (
  service: { url: string },
  path: string,
  headers: Record<string, string> = {},
): Promise<ClientAnswer> => read(await fetch(service.url + path, { headers, redirect: 'manual' }))

export const basic = (id: string, secret: string): { authorization: string } => ({
  authorization: `Basic ${Buffer.from(`${encodeURIComponent(id)}:${encodeURIComponent(secret)}`).toString('base64')}`,
})

const asClient = ({ id, secret }: Made): Fields => ({ client_id: id, client_secret: secret })

export const trade = (service: { url: string }, client: Made, code: string, changes: Fields = {}) =>
  send(service, 'token', {
    grant_type: 'authorization_code',
    code,
    code_verifier: VERIFIER,
    redirect_uri: REDIRECT_URI,
    ...asClient(client),
    ...changes,
  })

export const refresh = (service: { url: string }, client: Made, token: string, changes: Fields = {}) =>
  send(service, 'token', { grant_type: 'refresh_token', refresh_token: token, ...asClient(client), ...changes })

export const userInfo = (service: { url: string }, token: string) =>
  get(service, '/auth/oauth2/userinfo', { authorization: `Bearer ${token}` })

export type Tokens = { access: string; refresh: string; id?: string; scope: string }

export const tokensIn = ({ status, text, body }: ClientAnswer): Tokens => {
  assert.equal(status, 200, text)
  const { access_token: access, refresh_token, id_token: id, scope } = body as Record<string, string>
  assert.ok(access && refresh_token, text)
  return { access, refresh: refresh_token, ...(id && { id }), scope: scope ?? assert.fail('no scope') }
}

/** The user of a browser gives a client access. */
export const granted = async (
  service: Service,
  agent: UserAgent,
  client: Made,
  scope = 'openid profile email offline_access notes:read',
  changes: Fields = {},
): Promise<Tokens> => tokensIn(await trade(service, client, await codeFor(agent, client.id, { scope, ...changes })))

/** A new user who has given a client access. */
export const newlyGranted = async (service: Service, client: Made, scope?: string, changes?: Fields) => {
  const { agent, person } = await signedUp(service)
  return { agent, person, tokens: await granted(service, agent, client, scope, changes) }
}

export const assertOAuthError = (answer: ClientAnswer, status: number, error: string): void => {
  assert.equal(answer.status, status, answer.text)
  assert.equal(answer.body.error, error, answer.text)
  assert.deepEqual(Object.keys(answer.body), ['error', 'error_description'])
  assert.match(String(answer.body.error_description), /^[\x20\x21\x23-\x5b\x5d-\x7e]+$/)
}

/** The grant of these tokens gives nothing any more. */
export const assertEnded = async (service: { url: string }, client: Made, tokens: Tokens): Promise<void> => {
  assertOAuthError(await refresh(service, client, tokens.refresh), 400, 'invalid_grant')
  assertOAuthError(await userInfo(service, tokens.access), 401, 'invalid_token')
}

export const assertLive = async (service: { url: string }, tokens: Tokens): Promise<void> => {
  const { status, text } = await userInfo(service, tokens.access)
  assert.equal(status, 200, text)
}
