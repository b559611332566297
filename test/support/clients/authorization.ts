import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { logIn, type Person } from '../client/accounts.ts'
import type { Answer, UserAgent } from '../client/user-agent.ts'
import type { Service } from '../service/service.ts'

export const REDIRECT_URI = 'https://app.example.net/callback'

export const CLIENT_SETTINGS = {
  SVC_CLIENTS: 'on',
  SVC_CLIENT_RESOURCES: 'https://notes.example.com/mcp,https://files.example.com',
  SVC_CLIENT_SCOPES: 'notes:read=Read your notes, notes:write=Change your notes',
}

/** Makes a client by command; resolves to its id and, if it has one, its secret. */
export const madeClient = async (
  service: Pick<Service, 'cli'>,
  { name = 'Notebook', redirectUri = REDIRECT_URI, options = [] as string[] } = {},
): Promise<{ id: string; secret?: string }> => {
  const { code, stdout, stderr } = await service.cli([
    'clients',
    'create',
    name,
    '--redirect-uri',
    redirectUri,
    '--json',
    ...options,
  ])
  assert.equal(code, 0, stderr)
  return JSON.parse(stdout) as { id: string; secret?: string }
}

export const newVerifier = (): string => randomBytes(32).toString('base64url')
export const challengeOf = (verifier: string): string => createHash('sha256').update(verifier).digest('base64url')

type Parameters = Record<string, string | undefined>

/** The address of a good request, in which parameters are changed, or left out where they are undefined. */
export const authorizePath = (clientId: string, changes: Parameters = {}): string => {
  const parameters: Parameters = {
    client_id: clientId,
    redirect_uri: REDIRECT_URI,
    response_type: 'code',
    code_challenge: challengeOf('v'.repeat(43)),
    code_challenge_method: 'S256',
    scope: 'openid notes:read',
    state: 'st4te',
    ...changes,
  }
  const given = Object.entries(parameters).filter((entry): entry is [string, string] => entry[1] !== undefined)
  return `/auth/oauth2/authorize?${new URLSearchParams(given).toString()}`
}

/** What the client is told: by a redirect, or by a page that goes on. */
export const answerToClient = (answer: Answer, redirectUri = REDIRECT_URI): URLSearchParams => {
  const refresh = String(answer.headers.refresh ?? '').replace(/^0;url=/, '')
  const address = answer.location ?? refresh
  assert.ok(
    address.startsWith(`${redirectUri}?`),
    `an answer to the client: ${answer.status} ${address} ${answer.text}`,
  )
  return new URLSearchParams(address.slice(redirectUri.length + 1))
}

/** What the form of the consent page sends. */
export const consentForm = (answer: Answer): { request: string } => {
  assert.equal(answer.status, 200, answer.text)
  const [, request = ''] =
    /action="\/auth\/oauth2\/consent"[\s\S]*?name="request" value="([^"]+)"/.exec(answer.text) ?? []
  assert.ok(request, `a consent page: ${answer.text}`)
  return { request }
}

export const allow = (agent: UserAgent, page: Answer): Promise<Answer> =>
  agent.post('/auth/oauth2/consent', { ...consentForm(page), allow: '1' })

/** Opens a client's request in a browser that is not logged in, logs in on the way, and allows it. */
export const allowAfterLogin = async (agent: UserAgent, request: URL, person: Person): Promise<Answer> => {
  const { location = '' } = await agent.get(request.pathname + request.search)
  const returnTo = new URL(location, agent.url).searchParams.get('return_to') ?? assert.fail(location)
  const loggedIn = await logIn(agent, person, { return_to: returnTo })
  return allow(agent, await agent.get(loggedIn.location ?? assert.fail(loggedIn.text)))
}

/** Asks, allows, and resolves to the code. */
export const codeFor = async (agent: UserAgent, clientId: string, changes: Parameters = {}): Promise<string> => {
  const first = await agent.get(authorizePath(clientId, changes))
  const answer = first.status === 200 ? await allow(agent, first) : first
  return answerToClient(answer, changes.redirect_uri).get('code') ?? assert.fail(answer.text)
}
