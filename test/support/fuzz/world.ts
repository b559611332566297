import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { type Backend, createBackend } from '../client/backend.ts'
import { currentUser, newAgent, newPerson, type Person, signedUp, signUp, type User } from '../client/accounts.ts'
import type { UserAgent } from '../client/user-agent.ts'
import {
  authorizePath,
  challengeOf,
  CLIENT_SETTINGS,
  codeFor,
  madeClient,
  REDIRECT_URI,
} from '../clients/authorization.ts'
import { granted, type Made, refresh, VERIFIER } from '../clients/tokens.ts'
import { createAuthenticator } from '../passkeys/authenticator.ts'
import { loginOptions, postJson } from '../passkeys/passkeys.ts'
import { allowCallbacks, providerSettings } from '../provider/provider-service.ts'
import { startSmtpServer } from '../network/smtp-server.ts'
import { startGitHubServer } from '../provider/github-server.ts'
import type { Environment } from '../service/command.ts'
import type { Service } from '../service/service.ts'
import { fieldNames, type FuzzedRoute, fuzzedRoutes } from './fuzzed-routes.ts'
import { createPantry, type Pantry } from './pantry.ts'

const PROVIDER = 'github'
const PAGES = ['/auth/account', '/auth/account/second-factor', '/auth/account/confirm', '/auth/password/forgot']
/** `clients:write` could give a client any redirect URI, so that no response could be judged by where it leads. */
const SCOPES = [
  'users:write',
  'credentials:write',
  'sessions:read',
  'sessions:write',
  'audit:read',
  'clients:read',
  'tokens:introspect',
]
const LOGOUT_URI = 'https://app.example.net/bye'
/** Of a client that nobody has to fetch anything for. */
const OF_CLIENTS = { ...CLIENT_SETTINGS, SVC_CLIENT_REGISTRATION: 'on', SVC_CLIENT_HOSTS: 'cursor:' }

/** A service with all that it offers, a browser whose user does everything that comes, and a user who is left alone. */
export interface FuzzWorld {
  service: Service
  routes: FuzzedRoute[]
  fields: string[]
  pantry: Pantry
  /** Where a provider sends a browser. */
  providerOrigin: string
  browser: UserAgent
  /** Of all users of the browser. */
  passwords: string[]
  /** Makes sure that the browser is signed in, and that there are links that are still good. */
  stockUp(): Promise<void>
  /** Fails where something has happened to the user whom no request names. */
  assertBystanderUnharmed(): Promise<void>
}

type Start = (options: { env: Environment; t?: TestContext }) => Promise<Service>

const stockLinks = async (pantry: Pantry, backend: Backend, id: string): Promise<void> => {
  for (const purpose of ['reset', 'invite']) {
    const { status, text } = await backend.call('POST', `/users/${id}/links`, { purpose })
    const token = /[?&]token=([\w-]+)/.exec(text)?.[1]
    if (status === 201 && token) pantry.keep('token', token)
  }
}

/** What a browser's script would send for a passkey that the service does not know. */
const stockPasskeys = async (pantry: Pantry, browser: UserAgent): Promise<void> => {
  const authenticator = createAuthenticator({ origin: browser.url })
  const creation = await postJson(browser, '/auth/passkeys/register/options')
  if (creation.status !== 200) return
  const made = authenticator.register(creation.json())
  const proof = authenticator.authenticate(await loginOptions(browser))
  for (const response of [made, proof]) {
    pantry.keep('passkey_response', JSON.stringify(response))
    for (const [name, value] of Object.entries({ ...response, ...response.response }))
      if (typeof value === 'string') pantry.keep(name, value)
  }
}

/** What a program sends with a good request. */
const GOOD_REQUEST = {
  redirect_uri: REDIRECT_URI,
  post_logout_redirect_uri: LOGOUT_URI,
  response_type: 'code',
  response_mode: 'query',
  code_challenge: challengeOf(VERIFIER),
  code_challenge_method: 'S256',
  code_verifier: VERIFIER,
  scope: 'openid offline_access notes:read',
  resource: 'https://notes.example.com/mcp',
  nonce: 'n0nce',
  acr_values: 'mfa',
  max_age: '600',
  client_name: 'Agent',
}

/** A form of consent, a code and tokens of each client, for the user of the browser. */
const stockClients = async (
  service: Service,
  pantry: Pantry,
  browser: UserAgent,
  clients: readonly Made[],
): Promise<void> => {
  for (const [name, value] of Object.entries(GOOD_REQUEST)) pantry.keep(name, value)
  for (const value of ['none', 'login', 'consent', 'select_account']) pantry.keep('prompt', value)
  for (const value of ['authorization_code', 'refresh_token']) pantry.keep('grant_type', value)
  for (const client of clients) {
    pantry.keep('client_id', client.id)
    if (client.secret) pantry.keep('client_secret', client.secret)
    const tokens = await granted(service, browser, client, GOOD_REQUEST.scope)
    for (const [name, value] of [
      ['access_token', tokens.access],
      ['refresh_token', tokens.refresh],
      ['id_token_hint', tokens.id],
      ['token', tokens.access],
      ['token', tokens.refresh],
      ['code', await codeFor(browser, client.id)],
    ] as const)
      pantry.keep(name, value ?? '')
    pantry.harvest(await browser.get(authorizePath(client.id, { prompt: 'consent' })))
    pantry.harvest(await browser.get(authorizePath(client.id, { prompt: 'login' })))
  }
}

const bystanderOf = async (service: Service, client: Made) => {
  const { agent, person } = await signedUp(service)
  const user: User = await currentUser(agent)
  const tokens = await granted(service, agent, client)
  const ids = [agent.cookies.get('svc_refresh'), tokens.refresh].map((text = '') => text.split('.')[0] ?? '')
  const values = [user.id, user.email, user.username, ...ids]
  const assertUnharmed = async () => {
    const { status, text } = await agent.refresh()
    assert.equal(status, 200, `the session of a user whom no request names has ended: ${text}`)
    assert.deepEqual(await currentUser(agent), user)
    const login = await newAgent(service).post('/auth/login', { email: person.email, password: person.password })
    assert.equal(login.status, 303, login.text)
    const refreshed = await refresh(service, client, tokens.refresh)
    assert.equal(refreshed.status, 200, `the grant of a user whom no request names has ended: ${refreshed.text}`)
  }
  return { values, assertUnharmed }
}

export const startFuzzWorld = async (
  start: Start,
  { env = {}, t }: { env?: Environment; t?: TestContext } = {},
): Promise<FuzzWorld> => {
  const provider = await startGitHubServer({ ...(t && { t }) })
  const smtp = await startSmtpServer({ ...(t && { t }) })
  const settings = {
    ...providerSettings({ [PROVIDER]: provider }),
    ...smtp.env,
    ...OF_CLIENTS,
    SVC_LOG_LEVEL: 'debug',
    ...env,
  }
  const service = await start({ env: settings, ...(t && { t }) })
  allowCallbacks({ [PROVIDER]: provider }, service.url)
  const options = ['--logout-uri', LOGOUT_URI]
  const web = await madeClient(service, { options })
  const native = await madeClient(service, { name: 'Phone', options: ['--type', 'native', ...options] })
  const bystander = await bystanderOf(service, web)
  const pantry = createPantry(bystander.values)
  const backend = await createBackend(service, SCOPES)
  pantry.keep('api_key', backend.key)
  const browser = newAgent(service)
  const visitor = newAgent(service)
  const passwords: string[] = []
  let person: Person | undefined

  const signIn = async (): Promise<void> => {
    person = newPerson()
    passwords.push(person.password)
    browser.cookies.clear()
    browser.cookies.set('svc_csrf', 'x'.repeat(43))
    const answer = await signUp(browser, person)
    assert.equal(answer.status, 303, answer.text)
    for (const [name, value] of Object.entries(person)) pantry.keep(name, value)
  }

  return {
    service,
    routes: await fuzzedRoutes(PROVIDER),
    fields: fieldNames(),
    pantry,
    providerOrigin: provider.origin,
    browser,
    passwords,
    async stockUp() {
      if ((await browser.refresh()).status !== 200) {
        await signIn()
        await stockPasskeys(pantry, browser)
      }
      const { id } = await currentUser(browser)
      await stockLinks(pantry, backend, id)
      for (const { to, links } of smtp.mails.splice(0))
        if (!bystander.values.includes(to)) pantry.harvestLinks(links.join('\n'))
      const begun = await browser.post(`/auth/oauth/${PROVIDER}`)
      if (begun.location) pantry.harvestLinks((await provider.visit(begun.location)).url)
      for (const page of PAGES) pantry.harvest(await browser.get(page))
      for (const page of ['/auth/login', '/auth/signup']) pantry.harvest(await visitor.get(page))
      await stockClients(service, pantry, browser, [native, web])
      const own = { ...person, id, user_id: id, audience: 'app', return_to: '/start' }
      for (const [name, value] of Object.entries(own)) pantry.keep(name, value)
    },
    assertBystanderUnharmed: bystander.assertUnharmed,
  }
}

/** Fails where a response has no line in the log, or several, and where the log holds an error or a password. */
export const assertOneLineEach = ({ service, passwords }: FuzzWorld, ids: ReadonlySet<string>): void => {
  const counts = new Map<unknown, number>()
  for (const { message, request_id: id, level, ...line } of service.logLines()) {
    if (message === 'request') counts.set(id, (counts.get(id) ?? 0) + 1)
    assert.ok(level !== 'error' && level !== 'fatal', JSON.stringify(line))
  }
  for (const id of ids) assert.equal(counts.get(id), 1, `lines of ${id}`)
  // What a backend sends as a role, the message about it repeats: that is not typed by a user.
  const lines = service
    .logs()
    .split('\n')
    .filter((line) => !line.includes(' is no role: '))
  for (const password of passwords)
    assert.equal(
      lines.find((line) => line.includes(password)),
      undefined,
      'a password in the log',
    )
}
