// Runs on SQLite and PostgreSQL.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { logOut, newAgent, newPerson, signUp, type Person } from '../../support/client/accounts.ts'
import { createBackend } from '../../support/client/backend.ts'
import { type Answer, createUserAgent, type UserAgent } from '../../support/client/user-agent.ts'
import { startMailedService } from '../../support/email/email-change.ts'
import { openReset, resetBy, resetTokenOf } from '../../support/recovery/reset.ts'
import { setUpApp } from '../../support/second-factor/app-set-up.ts'
import { listUsers, runJsonCommandOf } from '../../support/service/operator-commands.ts'

const { service, smtp, newUser } = await startMailedService({
  env: { SVC_LANGUAGES: 'en, qps', SVC_MAIL_NOTICES: 'on' },
})
const backend = await createBackend(service, ['users:read', 'users:write'])

const PSEUDO = { 'accept-language': 'qps' }

interface ApiUser {
  id: string
  email: string
  language: string | null
}

const idOf = async ({ email }: Pick<Person, 'email'>): Promise<string> => {
  const users = (await backend.call('GET', `/users?email=${encodeURIComponent(email)}`)).json<{ users: ApiUser[] }>()
  return users.users[0]?.id ?? ''
}

const languageOf = async (person: Pick<Person, 'email'>): Promise<string | null | undefined> =>
  (await backend.call('GET', `/users/${await idOf(person)}`)).json<ApiUser>().language

const setLanguage = async (person: Person, language: string | null) =>
  backend.call('PATCH', `/users/${await idOf(person)}`, { language })

/** Signs up on a page of a language. */
const signedUpIn = async (headers: Record<string, string>): Promise<{ person: Person; agent: UserAgent }> => {
  const person = newPerson()
  const agent = newAgent(service)
  assert.equal((await agent.post('/auth/signup', person, headers)).status, 303)
  return { person, agent }
}

const countOf = (address: string): number => smtp.mails.filter(({ to }) => to === address).length

const isPseudo = ({ text }: { text: string }): boolean => text.startsWith('[')

describe('the language of a user', () => {
  test('is that of the page of the signup', async () => {
    assert.equal(await languageOf((await signedUpIn(PSEUDO)).person), 'qps')
    assert.equal(await languageOf((await signedUpIn({})).person), 'en')
  })

  test('follows the picker, is recorded, and is the language of the next page in a browser without a choice', async () => {
    const { person, agent } = await signedUpIn({})
    await agent.post('/auth/language', { language: 'qps', return_to: '/auth/account' })
    assert.equal(await languageOf(person), 'qps')
    agent.cookies.delete('svc_language')
    assert.match((await agent.get('/auth/account', { 'accept-language': 'en' })).text, /<html lang="qps"/)
    assert.match((await createUserAgent(service).get('/auth/login')).text, /<html lang="en"/)
    const records = await runJsonCommandOf<{ type: string }[]>(service, ['audit', 'list', '--user', person.email])
    assert.ok(records.some(({ type }) => type === 'language.changed'))
  })

  test('is that of the next sign-in where the account knows the browser, and nowhere else', async () => {
    const { person, agent } = await newUser()
    assert.equal(await languageOf(person), null)
    await createUserAgent(service).post('/auth/login', person, PSEUDO)
    assert.equal(await languageOf(person), null)
    await logOut(agent)
    await agent.post('/auth/login', person, PSEUDO)
    assert.equal(await languageOf(person), 'qps')
    await logOut(agent)
    await agent.post('/auth/login', person, { 'accept-language': 'en' })
    assert.equal(await languageOf(person), 'qps')
  })

  test('is set, read, changed and taken away by the server API, and refused if it is no tag', async () => {
    const { email } = newPerson()
    const made = await backend.call('POST', '/users', { email, language: 'PT-br', invite: true })
    assert.equal(made.json<ApiUser>().language, 'pt-BR')
    const { id } = made.json<ApiUser>()
    assert.equal(
      (await backend.call('PATCH', `/users/${id}`, { language: 'zh-hans' })).json<ApiUser>().language,
      'zh-Hans',
    )
    assert.equal((await backend.call('PATCH', `/users/${id}`, { language: null })).json<ApiUser>().language, null)
    for (const language of ['', '../de', 'x'.repeat(40), 'de_DE', 7]) {
      const refused = await backend.call('PATCH', `/users/${id}`, { language })
      if (language === '') continue
      assert.ok([400, 422].includes(refused.status), String(language))
      assert.equal(refused.json<{ error: { field: string } }>().error.field, 'language')
    }
  })

  test('comes with an invitation, an import and an export', async () => {
    const invited = newPerson()
    await runJsonCommandOf(service, ['users', 'invite', invited.email, '--language', 'qps'])
    assert.equal(await languageOf(invited), 'qps')
    const imported = newPerson()
    const line = JSON.stringify({ email: imported.email, language: 'pt-br', password_hash: undefined })
    await service.cli(['users', 'import', '-'], { input: `${line}\n` })
    assert.equal(await languageOf(imported), 'pt-BR')
    const { stdout } = await service.cli(['users', 'export'])
    const lines = stdout
      .trim()
      .split('\n')
      .map((each): { email: string; language?: string } => JSON.parse(each))
    assert.equal(lines.find(({ email }) => email === imported.email)?.language, 'pt-BR')
    assert.ok((await listUsers(service)).every((user) => 'language' in user))
  })
})

const isIn = ({ text }: Answer, tag: string): void => assert.match(text, new RegExp(`<html lang="${tag}"`))

describe('the page of a user who has proved something is in their language', () => {
  test('where a code comes after the password, also if it is wrong; a choice for the browser counts more', async () => {
    const { person, agent } = await signedUpIn(PSEUDO)
    await setUpApp(agent, Date.now())
    const browser = newAgent(service)
    const login = await browser.post('/auth/login', person, { 'accept-language': 'en' })
    isIn(await browser.get('/auth/login/code'), 'qps')
    assert.equal(login.location, '/auth/login/code')
    const refused = await browser.post('/auth/login/code', { code: '000000' })
    assert.equal(refused.status, 401)
    isIn(refused, 'qps')
    isIn(await browser.get('/auth/login'), 'en')
    isIn(await browser.get('/auth/login/code?ui_locales=en'), 'en')
    await browser.post('/auth/language', { language: 'en' })
    isIn(await browser.get('/auth/login/code'), 'en')
  })

  test('where a link was opened, also where another user is signed in, and not where the link is dead', async () => {
    const [{ person }, { agent: other }] = [await signedUpIn(PSEUDO), await signedUpIn({})]
    const token = await resetTokenOf(service, person.email)
    for (const browser of [newAgent(service), other]) {
      isIn(await openReset(browser, token), 'qps')
      isIn(await resetBy(browser, token, 'short'), 'qps')
    }
    const [link, browser] = [`/auth/password/reset?token=${token}`, newAgent(service)]
    isIn(await browser.get(`${link}&ui_locales=en`), 'en')
    await resetBy(newAgent(service), token, `new ${person.password}`)
    const dead = await browser.get(link)
    assert.equal(dead.status, 410)
    isIn(dead, 'en')
  })

  test('of an invitation, of an address to confirm and of a login by a link', async () => {
    const invited = newPerson()
    const { url } = await runJsonCommandOf<{ url: string }>(service, [
      'users',
      'invite',
      invited.email,
      '--language',
      'qps',
    ])
    isIn(await newAgent(service).get(url.slice(service.url.length)), 'qps')
    const { person, agent } = await signedUpIn(PSEUDO)
    const next = newPerson().email
    await agent.post('/auth/account/email', { email: next })
    const { link } = await smtp.receivedFor(next)
    isIn(await newAgent(service).get(link.slice(service.url.length)), 'qps')
    const made = await runJsonCommandOf<{ url: string }>(service, ['users', 'sign-in-link', person.email])
    isIn(await newAgent(service).get(made.url.slice(service.url.length)), 'qps')
  })
})

describe('a message', () => {
  test('has the language of its recipient, and not that of the user who has asked for it', async () => {
    const { person } = await signedUpIn(PSEUDO)
    const before = countOf(person.email)
    await createUserAgent(service).post('/auth/password/forgot', { email: person.email }, { 'accept-language': 'en' })
    assert.ok(isPseudo(await smtp.receivedFor(person.email, before + 1)))
  })

  test('has the language of SVC_LANGUAGE where the recipient has none', async () => {
    const { person } = await signedUpIn(PSEUDO)
    await setLanguage(person, null)
    const before = countOf(person.email)
    await createUserAgent(service).post('/auth/password/forgot', { email: person.email }, PSEUDO)
    assert.ok(!isPseudo(await smtp.receivedFor(person.email, before + 1)))
  })

  test('about a new browser has the language that was stored before the sign-in', async () => {
    const { person } = await newUser()
    await setLanguage(person, 'en')
    const before = countOf(person.email)
    await newAgent(service).post('/auth/login', person, PSEUDO)
    assert.ok(!isPseudo(await smtp.receivedFor(person.email, before + 1)))
  })

  test('to a taken address has the language of the account that has it', async () => {
    const [{ person: owner }, { agent }] = [await signedUpIn(PSEUDO), await signedUpIn({})]
    const before = countOf(owner.email)
    await signUp(newAgent(service), { ...newPerson(), email: owner.email })
    await agent.post('/auth/account/email', { email: owner.email })
    assert.ok(isPseudo(await smtp.receivedFor(owner.email, before + 1)))
  })
})
