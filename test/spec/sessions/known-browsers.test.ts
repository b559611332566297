// Runs on SQLite and PostgreSQL.
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import { currentUser, logIn, logOut, newAgent, newPerson, type Person, signUp } from '../../support/client/accounts.ts'
import { assertRedirect } from '../../support/client/assertions.ts'
import type { UserAgent } from '../../support/client/user-agent.ts'
import { openDatabase } from '../../support/database/database.ts'
import { startService } from '../../support/service/service.ts'

const service = await startService({ env: { SVC_RATE_LIMIT: 'off' } })
const database = await openDatabase(service)

const hashOf = (secret: string | undefined): string =>
  createHash('sha256')
    .update(secret ?? '')
    .digest('base64url')

const knownBrowsers = async (userId: string): Promise<string[]> => {
  const rows = await database.rows('SELECT device_hash FROM known_browsers WHERE user_id = ? ORDER BY seen_at', userId)
  return rows.map((row) => String(row.device_hash))
}

const secretOf = (agent: UserAgent) => agent.cookies.get('svc_device')

const loggedIn = async (agent: UserAgent, person: Person): Promise<string> => {
  assertRedirect(await logIn(agent, person), '/')
  return (await currentUser(agent)).id
}

const newAccount = async () => {
  const person = newPerson()
  const agent = newAgent(service)
  assertRedirect(await signUp(agent, person), '/')
  return { person, agent, id: (await currentUser(agent)).id }
}

test('§5.1 svc_device is HttpOnly, for /auth alone, lasts 400 days, and outlives a logout', async () => {
  const { person, agent } = await newAccount()
  assertRedirect(await logOut(agent), '/')
  const secret = secretOf(agent)
  assert.match(secret ?? '', /^[\w-]{43}$/)
  const cookie = (await logIn(agent, person)).cookie('svc_device')
  const { httponly, samesite, path, domain, 'max-age': maxAge } = cookie?.attributes ?? {}
  assert.deepEqual(
    { httponly, samesite, path, domain, maxAge },
    { httponly: '', samesite: 'Lax', path: '/auth', domain: undefined, maxAge: '34560000' },
  )
})

test('a signup makes its browser known to nobody; a login does, and the browser keeps its secret from then on', async () => {
  const { person, agent, id } = await newAccount()
  assert.deepEqual(await knownBrowsers(id), [])
  await loggedIn(agent, person)
  const secret = secretOf(agent)
  assert.deepEqual(await knownBrowsers(id), [hashOf(secret)])
  await loggedIn(agent, person)
  assert.equal(secretOf(agent), secret)
  assert.deepEqual(await knownBrowsers(id), [hashOf(secret)])
})

test('a secret that the account does not know is replaced: another host of the domain may have set it', async () => {
  const [attacker, victim] = [await newAccount(), await newAccount()]
  await loggedIn(attacker.agent, attacker.person)
  const planted = secretOf(attacker.agent) ?? ''
  const browser = newAgent(service)
  browser.cookies.set('svc_device', planted, '/auth')
  const victimId = await loggedIn(browser, victim.person)
  assert.notEqual(secretOf(browser), planted)
  assert.deepEqual(await knownBrowsers(victimId), [hashOf(secretOf(browser))])
  await loggedIn(attacker.agent, victim.person)
  assert.equal((await knownBrowsers(victimId)).length, 2, 'the attacker comes from a browser that is not known')
})

test('two people who share a browser stay known in it', async () => {
  const [one, other] = [await newAccount(), await newAccount()]
  const browser = newAgent(service)
  await loggedIn(browser, one.person)
  await loggedIn(browser, other.person)
  const secret = secretOf(browser)
  for (const { person, id } of [one, other]) {
    await loggedIn(browser, person)
    assert.deepEqual(await knownBrowsers(id), [hashOf(secret)])
  }
  assert.equal(secretOf(browser), secret)
})

test('a cookie that is no secret of svc, or comes twice, is no browser that is known', async () => {
  const { person, id } = await newAccount()
  for (const forged of ['', 'short', `${'x'.repeat(42)}!`, 'x'.repeat(5000)]) {
    const browser = newAgent(service)
    browser.cookies.set('svc_device', forged, '/auth')
    await loggedIn(browser, person)
    assert.match(secretOf(browser) ?? '', /^[\w-]{43}$/)
  }
  assert.equal((await knownBrowsers(id)).length, 4)
})

test('an account knows 20 browsers, those seen last', async () => {
  const { person, id } = await newAccount()
  const browsers: UserAgent[] = []
  for (let count = 0; count < 22; count += 1) {
    const browser = newAgent(service)
    await loggedIn(browser, person)
    browsers.push(browser)
  }
  const known = await knownBrowsers(id)
  assert.equal(known.length, 20)
  assert.ok(known.includes(hashOf(secretOf(browsers[21] ?? newAgent(service)))))
})
