import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { type Backend, createBackend } from '../client/backend.ts'
import { currentUser, newAgent, newPerson, type Person, signedUp, signUp, type User } from '../client/accounts.ts'
import type { UserAgent } from '../client/user-agent.ts'
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
const SCOPES = ['users:write', 'credentials:write', 'sessions:read', 'sessions:write', 'audit:read']

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

const bystanderOf = async (service: Service) => {
  const { agent, person } = await signedUp(service)
  const user: User = await currentUser(agent)
  const values = [user.id, user.email, user.username, (agent.cookies.get('svc_refresh') ?? '').split('.')[0] ?? '']
  const assertUnharmed = async () => {
    const { status, text } = await agent.refresh()
    assert.equal(status, 200, `the session of a user whom no request names has ended: ${text}`)
    assert.deepEqual(await currentUser(agent), user)
    const login = await newAgent(service).post('/auth/login', { email: person.email, password: person.password })
    assert.equal(login.status, 303, login.text)
  }
  return { values, assertUnharmed }
}

export const startFuzzWorld = async (
  start: Start,
  { env = {}, t }: { env?: Environment; t?: TestContext } = {},
): Promise<FuzzWorld> => {
  const provider = await startGitHubServer({ ...(t && { t }) })
  const smtp = await startSmtpServer({ ...(t && { t }) })
  const settings = { ...providerSettings({ [PROVIDER]: provider }), ...smtp.env, SVC_LOG_LEVEL: 'debug', ...env }
  const service = await start({ env: settings, ...(t && { t }) })
  allowCallbacks({ [PROVIDER]: provider }, service.url)
  const bystander = await bystanderOf(service)
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
