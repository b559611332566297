// Runs on SQLite.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { currentUser, logIn, logOut, newAgent, newPerson, signUp } from '../../support/client/accounts.ts'
import { assertPage, assertRedirect } from '../../support/client/assertions.ts'
import type { Answer, UserAgent } from '../../support/client/user-agent.ts'
import { turnedClock } from '../../support/clock/turned-clock.ts'
import { openDatabase } from '../../support/database/database.ts'
import { resetTokenOf } from '../../support/recovery/reset.ts'
import { type AccountWithCodes, newAccountWithCodes } from '../../support/second-factor/account-with-codes.ts'
import { readOfferedSetUp, setUpApp } from '../../support/second-factor/app-set-up.ts'
import { codeAt, wrongCodeAt } from '../../support/second-factor/authenticator-app.ts'
import { at, openOperator, startReplicas } from '../../support/service/replicas.ts'
import { startService } from '../../support/service/service.ts'

const CODE_PAGE = '/auth/login/code'

const clock = turnedClock()
const [service, replica] = await startReplicas({ clock, env: { SVC_RATE_LIMIT: 'on' } })
const core = await openOperator(service)
const database = await openDatabase(service)

const newAccount = () => newAccountWithCodes({ service, core, clock })

let networks = 0
/** The headers of a client from a network that no other client comes from. */
const elsewhere = () => {
  networks += 1
  return { 'x-forwarded-for': `198.51.100.${networks}` }
}

/** A browser that the account does not know, in which the password was right. */
const halfWay = async ({ person }: AccountWithCodes): Promise<UserAgent> => {
  const agent = newAgent(service)
  assertRedirect(await logIn(agent, person), CODE_PAGE)
  return agent
}

/** A thief's browser: it holds the access token alone. */
const withoutDevice = ({ cookies }: UserAgent): UserAgent => {
  const thief = newAgent(service)
  for (const name of ['svc_access', 'svc_csrf']) thief.cookies.set(name, cookies.get(name) ?? '')
  return thief
}

/** A link to a new password that takes no account over. */
const verifiedResetTokenOf = async ({ id }: AccountWithCodes): Promise<string> => {
  await database.rows('UPDATE users SET email_verified_at = created_at WHERE id = ?', id)
  return resetTokenOf(service, id)
}

const statusesOf = (answers: Answer[]) =>
  Object.fromEntries([...Map.groupBy(answers, ({ status }) => status)].map(([status, all]) => [status, all.length]))

test('forty wrong codes at once, at two replicas: five are looked at, and after them not even a right one', async () => {
  const account = await newAccount()
  const browsers = await Promise.all([1, 2].map(() => halfWay(account)))
  const network = elsewhere()
  const code = account.wrongCode()
  const answers = await Promise.all(
    Array.from({ length: 40 }, (_, index) =>
      at(index % 2 ? service : replica, browsers[index % 4 < 2 ? 0 : 1] ?? newAgent(service)).post(
        CODE_PAGE,
        { code },
        network,
      ),
    ),
  )
  assert.deepEqual(statusesOf(answers), { 401: 5, 429: 35 })
  const [browser] = browsers
  assert.ok(browser)
  const right = { code: await account.nextCode() }
  const refused = await browser.post(CODE_PAGE, right, network)
  assertPage(refused, 429)
  const seconds = Number(refused.headers['retry-after'])
  assert.ok(seconds > 0 && seconds <= 900, `${seconds} s`)
  assert.match(refused.text, /Too many attempts. Try again in \d+ minutes?\./)
  // From another network it is right, and a recovery code is right from this one.
  assertRedirect(await browser.post(CODE_PAGE, right, elsewhere()), '/')
  const other = await halfWay(account)
  assertRedirect(await other.post(CODE_PAGE, { code: account.recoveryCodes[0] ?? '' }, network), '/')
})

test('where the limit of the network and that of the account are full, Retry-After names the later end', async () => {
  const account = await newAccount()
  const thief = await halfWay(account)
  const network = elsewhere()
  const code = account.wrongCode()
  for (let tries = 0; tries < 5; tries += 1) assertPage(await thief.post(CODE_PAGE, { code }, network), 401)
  const retrySeconds = async () => {
    const refused = await thief.post(CODE_PAGE, { code }, network)
    assertPage(refused, 429)
    return Number(refused.headers['retry-after'])
  }
  const ofAccount = `codeOfAccount ${account.id}`
  await database.rows('UPDATE counters SET count = 60 WHERE id = ?', ofAccount)
  const inADay = await retrySeconds()
  assert.ok(inADay > 900 && inADay <= 86_400, `${inADay} s`)
  await database.rows('UPDATE counters SET ends_at = ends_at - 86000000 WHERE id = ?', ofAccount)
  const inAQuarter = await retrySeconds()
  assert.ok(inAQuarter > 400 && inAQuarter <= 900, `${inAQuarter} s`)
})

test('twenty in a row close unknown browsers to codes until a new password; the page says what still works', async () => {
  const account = await newAccount()
  const known = await halfWay(account)
  assertRedirect(await known.post(CODE_PAGE, { code: await account.nextCode() }), '/')
  const thief = await halfWay(account)
  const code = account.wrongCode()
  const answers = await Promise.all(
    Array.from({ length: 24 }, (_, index) =>
      at(index % 2 ? service : replica, thief).post(CODE_PAGE, { code }, elsewhere()),
    ),
  )
  assert.deepEqual(statusesOf(answers), { 401: 20, 429: 4 })
  const refused = await thief.post(CODE_PAGE, { code: await account.nextCode() }, elsewhere())
  assertPage(refused, 429)
  assert.match(refused.text, /App codes work here again once you reset your password\./)
  assert.ok(Number(refused.headers['retry-after']) > 0)

  // The owner goes on in the browser that the account knows, and there sets a new password.
  assertRedirect(await logIn(known, account.person), CODE_PAGE)
  assertRedirect(await known.post(CODE_PAGE, { code: await account.nextCode() }), '/')
  const stillLocked = await halfWay(account)
  assertPage(await stillLocked.post(CODE_PAGE, { code: await account.nextCode() }, elsewhere()), 429)
  const password = 'another pass phrase of theirs'
  const passwords = { current_password: account.person.password, new_password: password }
  assertRedirect(await known.post('/auth/account/password', passwords), '/auth/account?done=password')
  const fresh = await halfWay({ ...account, person: { ...account.person, password } })
  assertRedirect(await fresh.post(CODE_PAGE, { code: await account.nextCode() }, elsewhere()), '/')
})

test('a stranger with the password keeps nobody from a new one: on the page of a link, codes have a count of their own', async () => {
  const account = await newAccount()
  const thief = await halfWay(account)
  const code = account.wrongCode()
  for (let tries = 0; tries < 20; tries += 1) assertPage(await thief.post(CODE_PAGE, { code }, elsewhere()), 401)
  const token = await verifiedResetTokenOf(account)
  const password = 'another pass phrase of theirs'
  const reset = (entered: string) =>
    newAgent(service).post('/auth/password/reset', { token, password, code: entered }, elsewhere())
  for (let tries = 0; tries < 19; tries += 1) assertPage(await reset(code), 401)
  assertRedirect(await reset(await account.nextCode()), '/')
  const fresh = await halfWay({ ...account, person: { ...account.person, password } })
  assertRedirect(await fresh.post(CODE_PAGE, { code: await account.nextCode() }, elsewhere()), '/')
})

test('a thief of the mailbox tries twenty codes, after which the page of a link takes a recovery code', async () => {
  const account = await newAccount()
  const token = await verifiedResetTokenOf(account)
  const reset = (code: string) =>
    newAgent(service).post('/auth/password/reset', { token, password: 'a good password 1', code }, elsewhere())
  for (let tries = 0; tries < 20; tries += 1) assertPage(await reset(account.wrongCode()), 401)
  const refused = await reset(await account.nextCode())
  assertPage(refused, 429)
  assert.match(refused.text, /Use a recovery code or passkey, or open the link in a browser/)
  const owner = await halfWay(account)
  assertRedirect(await owner.post(CODE_PAGE, { code: await account.nextCode() }, elsewhere()), '/')
  assertRedirect(await reset(account.recoveryCodes[0] ?? ''), '/')
})

test('browsers that became known by a password alone are unknown once an app is set up, but for that of the set-up', async () => {
  const person = newPerson()
  const owner = newAgent(service)
  assertRedirect(await signUp(owner, person), '/')
  const { id } = await currentUser(owner)
  const thief = newAgent(service)
  assertRedirect(await logIn(thief, person), '/')
  const { secret } = await setUpApp(owner, clock.now())
  assert.equal((await database.rows('SELECT id FROM known_browsers WHERE user_id = ?', id)).length, 1)
  assertRedirect(await logIn(thief, person), CODE_PAGE)
  const code = wrongCodeAt(secret, clock.now())
  // In a browser of its own it would have five in a quarter of an hour, and no end of them.
  for (let tries = 0; tries < 20; tries += 1) assertPage(await thief.post(CODE_PAGE, { code }, elsewhere()), 401)
  assertPage(await thief.post(CODE_PAGE, { code }, elsewhere()), 429)
  await logOut(owner)
  assertRedirect(await logIn(owner, person), CODE_PAGE)
  await clock.turnTo(clock.aheadMs() + 30_000)
  assertRedirect(await owner.post(CODE_PAGE, { code: codeAt(secret, clock.now()) }, elsewhere()), '/')
})

test('a known browser and a session have five wrong codes of their own, whatever their network has used up', async () => {
  const account = await newAccount()
  const network = elsewhere()
  const known = await halfWay(account)
  assertRedirect(await known.post(CODE_PAGE, { code: await account.nextCode() }, network), '/')
  const session = known.copy()
  const thief = await halfWay(account)
  const code = account.wrongCode()
  for (let tries = 0; tries < 5; tries += 1) assertPage(await thief.post(CODE_PAGE, { code }, network), 401)
  assertPage(await thief.post(CODE_PAGE, { code }, network), 429)

  assertRedirect(await logIn(known, account.person), CODE_PAGE)
  for (let tries = 0; tries < 5; tries += 1) assertPage(await known.post(CODE_PAGE, { code }, network), 401)
  assertPage(await known.post(CODE_PAGE, { code: await account.nextCode() }, network), 429)

  const { password } = account.person
  const confirm = (entered: string) => session.post('/auth/account/confirm', { password, code: entered }, network)
  for (let tries = 0; tries < 5; tries += 1) assertPage(await confirm(code), 401)
  assertPage(await confirm(await account.nextCode()), 429)
})

test('a password that confirms a session makes no other browser known, and gives no further tries', async () => {
  const account = await newAccount()
  const owner = await halfWay(account)
  assertRedirect(await owner.post(CODE_PAGE, { code: await account.nextCode() }, elsewhere()), '/')
  // A thief has the session and the password, and not the cookie by which the account knows the browser.
  let thief = withoutDevice(owner)
  const { password } = account.person
  const code = account.wrongCode()
  const statuses: number[] = []
  for (let round = 0; round < 3; round += 1) {
    assertRedirect(await thief.post('/auth/account/confirm', { password, return_to: '/' }, elsewhere()), '/')
    for (let tries = 0; tries < 3; tries += 1)
      statuses.push((await thief.post('/auth/account/confirm', { password, code }, elsewhere())).status)
    thief = withoutDevice(thief)
  }
  assert.deepEqual(statuses, [401, 401, 401, 401, 401, 429, 429, 429, 429])
  assert.equal((await database.rows('SELECT id FROM known_browsers WHERE user_id = ?', account.id)).length, 1)
})

test('a login to another account in a known browser gives no further tries', async () => {
  const account = await newAccount()
  const browser = await halfWay(account)
  assertRedirect(await browser.post(CODE_PAGE, { code: await account.nextCode() }, elsewhere()), '/')
  const code = account.wrongCode()
  const statuses: number[] = []
  for (let round = 0; round < 2; round += 1) {
    assertRedirect(await logIn(browser, account.person), CODE_PAGE)
    for (let tries = 0; tries < 4; tries += 1)
      statuses.push((await browser.post(CODE_PAGE, { code }, elsewhere())).status)
    const other = newPerson()
    await core.users.create({ ...other, emailVerified: true })
    assertRedirect(await logIn(browser, other), '/')
    await logOut(browser)
  }
  assert.deepEqual(statuses, [401, 401, 401, 401, 401, 429, 429, 429])
})

test('set-ups of an app at login are limited, since each costs a hash for each recovery code', async (t) => {
  const required = await startService({ t, env: { SVC_RATE_LIMIT: 'on', SVC_SECOND_FACTOR: 'required' } })
  const agent = newAgent(required)
  const page = '/auth/login/enrol'
  assertRedirect(await signUp(agent, newPerson()), page)
  const { secret, sealed } = readOfferedSetUp(await agent.get(page))
  const code = wrongCodeAt(secret, Date.now())
  const answers = await Promise.all(Array.from({ length: 40 }, () => agent.post(page, { set_up: sealed, code })))
  assert.deepEqual(statusesOf(answers), { 401: 30, 429: 10 })
  assertPage(await agent.post(page, { set_up: sealed, code: codeAt(secret, Date.now()) }), 429)
})
