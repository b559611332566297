// Runs on SQLite and PostgreSQL.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { currentUser, logIn, loggedIn, newAgent, newPerson, type Person } from '../../support/client/accounts.ts'
import { assertJsonError, assertPage, assertRedirect, assertSignedIn } from '../../support/client/assertions.ts'
import type { UserAgent } from '../../support/client/user-agent.ts'
import { turnedClock } from '../../support/clock/turned-clock.ts'
import { postJson } from '../../support/passkeys/passkeys.ts'
import { startVerification, VERIFY } from '../../support/recovery/verification.ts'
import { resetBy, resetTokenOf, tokenOf } from '../../support/recovery/reset.ts'
import { readOfferedSetUp, SECOND_FACTOR_PAGE, setUpApp } from '../../support/second-factor/app-set-up.ts'
import { codeAt } from '../../support/second-factor/authenticator-app.ts'

const HOUR_MS = 3_600_000
const PAGE = '/auth/account/first-factor'
const LINK_FIRST = `${PAGE}?return_to=${encodeURIComponent(SECOND_FACTOR_PAGE)}`

const clock = turnedClock()
const { service, smtp, database, signUp } = await startVerification({ mode: 'optional', clock })

const makeOlder = (userId: string, hours: number) =>
  database.rows('UPDATE users SET created_at = created_at - ? WHERE id = ?', hours * HOUR_MS, userId)

const makeKnownFor = (userId: string, hours: number) =>
  database.rows('UPDATE known_browsers SET created_at = ? WHERE user_id = ?', clock.now() - hours * HOUR_MS, userId)

/** An account of four days, and a browser in which its user has just logged in for the first time. */
const inNewBrowser = async ({ isVerified = true } = {}) => {
  const { agent: owner, person } = await signUp()
  const { id } = await currentUser(owner)
  await makeOlder(id, 96)
  if (isVerified) await database.rows('UPDATE users SET email_verified_at = 1 WHERE id = ?', id)
  return { id, person, agent: await loggedIn(service, person) }
}

const changeEmail = async (agent: UserAgent, email: string): Promise<void> => {
  assertRedirect(await agent.post('/auth/account/email', { email }), '/auth/account?done=email_requested')
  assertPage(await agent.post(VERIFY, { token: tokenOf((await smtp.receivedFor(email, 1)).link) }))
}

/** The token of the latest link; the message about verification came first. */
const linkFor = async ({ email }: Person, count = 1): Promise<string> =>
  tokenOf((await smtp.receivedFor(email, count + 1)).link)

const ask = async (agent: UserAgent, person: Person, count = 1): Promise<string> => {
  const sent = await agent.post(PAGE, { return_to: SECOND_FACTOR_PAGE })
  assertPage(sent)
  assert.match(sent.text, new RegExp(person.email))
  return linkFor(person, count)
}

describe('the first second factor or passkey of an account', () => {
  test('in a browser that is new to the account, needs a link by mail first, wherever it is set up', async () => {
    const { agent, id } = await inNewBrowser()
    assertRedirect(await agent.get(SECOND_FACTOR_PAGE), LINK_FIRST)
    assertRedirect(await agent.post(SECOND_FACTOR_PAGE, { code: '123456', set_up: 'x' }), LINK_FIRST)
    for (const path of ['/auth/passkeys/register/options', '/auth/passkeys/register']) {
      const refused = await postJson(agent, path)
      assertJsonError(refused, 403, 'forbidden')
      assert.equal(refused.location, PAGE)
    }
    const page = await agent.get(LINK_FIRST)
    assertPage(page)
    assert.match(page.text, /Send link/)
    assert.deepEqual(await database.rows("SELECT id FROM links WHERE user_id = ? AND purpose = 'first_factor'", id), [])
  })

  test('the link, followed in the same browser, leads on to the set-up', async () => {
    const { agent, person } = await inNewBrowser()
    const token = await ask(agent, person)
    const opened = await agent.get(`${PAGE}?token=${token}`)
    assertPage(opened)
    assert.equal(opened.headers['referrer-policy'], 'strict-origin')
    // Scanners open links: nothing is proved before the button is pressed.
    assertRedirect(await agent.get(SECOND_FACTOR_PAGE), LINK_FIRST)
    assertRedirect(await agent.post(PAGE, { token }), SECOND_FACTOR_PAGE)
    await setUpApp(agent, clock.now())
    assertPage(await agent.post(PAGE, { token }), 410)
    assertRedirect(await agent.get(LINK_FIRST), SECOND_FACTOR_PAGE)
  })

  test('in another browser the link does nothing, not even in one of the same user', async () => {
    const { agent, person } = await inNewBrowser()
    const token = await ask(agent, person)
    for (const other of [newAgent(service), await loggedIn(service, person)]) {
      const opened = await other.get(`${PAGE}?token=${token}`)
      assertPage(opened, 403)
      assert.doesNotMatch(opened.text, /<form(?! class="language")/)
      assertPage(await other.post(PAGE, { token }), 403)
    }
    assertRedirect(await agent.post(PAGE, { token }), SECOND_FACTOR_PAGE)
  })

  test('what one browser has proved permits nothing in another', async () => {
    const { agent, person } = await inNewBrowser()
    await agent.post(PAGE, { token: await ask(agent, person) })
    assertPage(await agent.get(SECOND_FACTOR_PAGE))
    assertRedirect(await (await loggedIn(service, person)).get(SECOND_FACTOR_PAGE), LINK_FIRST)
  })

  test('half an hour after it was followed, the link no longer counts, not even for a page that is open', async () => {
    const { agent, person, id } = await inNewBrowser()
    await agent.post(PAGE, { token: await ask(agent, person) })
    const { secret, sealed } = readOfferedSetUp(await agent.get(SECOND_FACTOR_PAGE))
    await database.rows('UPDATE links SET ended_at = ended_at - ? WHERE user_id = ?', HOUR_MS / 2 + 1000, id)
    const form = { set_up: sealed, code: codeAt(secret, clock.now()) }
    assertRedirect(await agent.post(SECOND_FACTOR_PAGE, form), LINK_FIRST)
    assert.deepEqual(await database.rows('SELECT user_id FROM one_time_codes WHERE user_id = ?', id), [])
  })

  test('the link verifies an address that was not', async () => {
    const { agent, person, id } = await inNewBrowser({ isVerified: false })
    await agent.post(PAGE, { token: await ask(agent, person) })
    const [user] = await database.rows('SELECT email_verified_at FROM users WHERE id = ?', id)
    assert.ok(Number(user?.email_verified_at) > 1)
    await setUpApp(agent, clock.now())
  })

  test('goes to the address of 72 hours ago: a thief does not get around it by changing the address first', async () => {
    const { agent: thief, person, id } = await inNewBrowser()
    const { email } = newPerson()
    await changeEmail(thief, email)
    const sent = await thief.post(PAGE, { return_to: SECOND_FACTOR_PAGE })
    assert.match(sent.text, new RegExp(`<b>${person.email}</b>`))
    const rows = await database.rows(
      "SELECT recipient FROM mail_messages WHERE user_id = ? AND purpose = 'first_factor' ORDER BY id",
      id,
    )
    assert.deepEqual(
      rows.map(({ recipient }) => recipient),
      [person.email],
    )
    // Even a link that proves the new address does not stand for it, where a second factor is required.
    await service.restart({ env: { SVC_SECOND_FACTOR: 'required' } })
    const browser = newAgent(service)
    const enrol = '/auth/login/enrol'
    assertRedirect(await resetBy(browser, await resetTokenOf(service, id), 'a good password 1'), enrol)
    assertRedirect(await browser.get(enrol), `${PAGE}?return_to=${encodeURIComponent(enrol)}`)
    await service.restart({ env: { SVC_SECOND_FACTOR: 'optional' } })
    await clock.turnTo(clock.aheadMs() + 73 * HOUR_MS)
    const later = await loggedIn(service, { ...person, email, password: 'a good password 1' })
    assert.match((await later.post(PAGE, { return_to: SECOND_FACTOR_PAGE })).text, new RegExp(`<b>${email}</b>`))
  })

  test('none is needed in a browser that the account knows for 72 hours', async () => {
    const { agent, id } = await inNewBrowser()
    await makeKnownFor(id, 71)
    assertRedirect(await agent.get(SECOND_FACTOR_PAGE), LINK_FIRST)
    await makeKnownFor(id, 73)
    assertPage(await agent.get(SECOND_FACTOR_PAGE))
    await setUpApp(agent, clock.now())
  })

  test('none is needed while the account itself is younger than that', async () => {
    const { agent } = await signUp()
    await setUpApp(agent, clock.now())
  })

  test('none is needed where it is not the first', async () => {
    const { agent, person, id } = await inNewBrowser()
    await agent.post(PAGE, { token: await ask(agent, person) })
    await setUpApp(agent, clock.now())
    await database.rows('DELETE FROM links WHERE user_id = ?', id)
    assert.equal((await postJson(agent, '/auth/passkeys/register/options')).status, 200)
  })

  test('a link that was never made, or ended with a new password, has the page of dead links', async () => {
    const { agent, person } = await inNewBrowser()
    const token = await ask(agent, person)
    assertPage(await agent.get(`${PAGE}?token=${'x'.repeat(43)}`), 410)
    const form = { current_password: person.password, new_password: `${person.password} new` }
    assertRedirect(await agent.post('/auth/account/password', form), '/auth/account?done=password')
    const dead = await agent.post(PAGE, { token })
    assertPage(dead, 410)
    assert.match(dead.text, /start again on your account page/)
  })

  test('a visitor who is not logged in logs in first, and comes back', async () => {
    const path = `/auth/login?return_to=${encodeURIComponent(LINK_FIRST)}`
    assertRedirect(await newAgent(service).get(LINK_FIRST), path)
    assertRedirect(await newAgent(service).post(PAGE, { return_to: SECOND_FACTOR_PAGE }), path)
  })

  test('an address that leads away is refused', async () => {
    const { agent } = await inNewBrowser()
    assertPage(await agent.get(`${PAGE}?return_to=${encodeURIComponent('//evil.example')}`), 400)
  })

  test('on the way in, where a second factor is required, the login waits for the link', async () => {
    const { person } = await inNewBrowser()
    await service.restart({ env: { SVC_SECOND_FACTOR: 'required' } })
    const agent = newAgent(service)
    const enrol = '/auth/login/enrol'
    assertRedirect(await logIn(agent, person), enrol)
    const first = `${PAGE}?return_to=${encodeURIComponent(enrol)}`
    assertRedirect(await agent.get(enrol), first)
    assertRedirect(await agent.post(enrol, { code: '123456', set_up: 'x' }), first)
    assert.equal((await postJson(agent, '/auth/passkeys/register/options')).location, PAGE)
    assertPage(await agent.get(first))
    assertPage(await agent.post(PAGE, { return_to: enrol }))
    assertRedirect(await agent.post(PAGE, { token: await linkFor(person) }), enrol)
    const { secret, sealed } = readOfferedSetUp(await agent.get(enrol))
    assert.equal((await agent.post(enrol, { set_up: sealed, code: codeAt(secret, clock.now()) })).status, 303)
    await assertSignedIn(agent)
  })
})
