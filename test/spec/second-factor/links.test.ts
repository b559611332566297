// Runs on SQLite.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { loggedIn, newPerson, type Person } from '../../support/client/accounts.ts'
import { assertPage, assertRedirect, assertSignedIn } from '../../support/client/assertions.ts'
import { createUserAgent, type Form, type UserAgent } from '../../support/client/user-agent.ts'
import { openDatabase } from '../../support/database/database.ts'
import { createAuthenticator } from '../../support/passkeys/authenticator.ts'
import { addPasskey, loginOptions } from '../../support/passkeys/passkeys.ts'
import { openReset, resetBy, resetTokenOf } from '../../support/recovery/reset.ts'
import { guardedAccount, setUpApp } from '../../support/second-factor/guarded-account.ts'
import { accessToken, claimsOf } from '../../support/service/access-tokens.ts'
import { openOperator } from '../../support/service/replicas.ts'
import { startService } from '../../support/service/service.ts'

const service = await startService({ env: { SVC_RATE_LIMIT: 'on' } })
const database = await openDatabase(service)
const core = await openOperator(service)
const NEXT = 'a good password 1'
const WAYS_IN = '/auth/account/ways-in?return_to=%2F'

const newAgent = () => createUserAgent(service)

/** A verified account with an app, and a link for a new password. */
const withApp = async () => {
  const person = newPerson()
  const { id } = await core.users.create({ ...person, emailVerified: true })
  const app = await setUpApp(core, { userId: id, email: person.email })
  return { id, person, app, token: await resetTokenOf(service, person.email) }
}

/** A verified account with a passkey that works, and no app. */
const withPasskey = async () => {
  const person = newPerson()
  const { id } = await core.users.create({ ...person, emailVerified: true })
  const authenticator = createAuthenticator({ origin: service.url, backupEligible: true })
  await addPasskey(await loggedIn(service, person), authenticator)
  return { id, person, authenticator, token: await resetTokenOf(service, person.email) }
}

const amrOf = (agent: UserAgent): unknown => claimsOf(accessToken(agent)).amr

const reset = (token: string, form: Form, agent = newAgent()) => resetBy(agent, token, NEXT, form)

/** The password is the one from before, and the link is still good. */
const assertUnchanged = async ({ person, id, token }: { person: Person; id: string; token: string }) => {
  assertPage(await openReset(newAgent(), token))
  const [user] = await database.rows('SELECT password_hash FROM users WHERE id = ?', id)
  assert.notEqual(await core.passwords.check(person.password, String(user?.password_hash)), 'wrong')
}

describe('§4.16 a reset of an account with codes', () => {
  test('asks for a code, and changes nothing without one, with a wrong one, or with one of another account', async () => {
    const [account, other] = [await withApp(), await withApp()]
    const page = await openReset(newAgent(), account.token)
    assert.match(page.text, /name="code"/)
    assert.doesNotMatch(page.text, /passkey_response/)
    assertPage(await reset(account.token, {}), 422)
    assertPage(await reset(account.token, { code: ' ' }), 422)
    const wrong = await reset(account.token, { code: other.app.recoveryCodes[0] ?? '' })
    assertPage(wrong, 401)
    assert.match(wrong.text, /That code is wrong/)
    assert.doesNotMatch(wrong.text, new RegExp(NEXT))
    await assertUnchanged(account)
    const agent = newAgent()
    assertRedirect(await reset(account.token, { code: account.app.nextCode() }, agent), '/')
    assert.deepEqual(amrOf(agent), ['pwd', 'otp', 'mfa'])
  })

  test('a bad password is told with the code unused, and both are good then', async () => {
    const { token, app } = await withApp()
    const code = app.nextCode()
    assertPage(await resetBy(newAgent(), token, 'short', { code }), 422)
    assertRedirect(await reset(token, { code }), '/')
  })

  test('a recovery code is as good, once', async () => {
    const { id, token, app } = await withApp()
    const code = app.recoveryCodes[3] ?? ''
    const agent = newAgent()
    assertRedirect(await reset(token, { code }, agent), '/')
    assert.deepEqual(amrOf(agent), ['pwd', 'mfa'])
    assert.equal((await database.rows('SELECT id FROM recovery_codes WHERE user_id = ?', id)).length, 9)
    const again = await resetTokenOf(service, id)
    assert.match((await openReset(newAgent(), again)).text, /<input id="code" [^>]* inputmode="numeric"/)
    const refused = await reset(again, { code: '', recovery_code: code })
    assertPage(refused, 401)
    assert.match(refused.text, /That recovery code is wrong/)
    assertRedirect(await reset(again, { code: '', recovery_code: app.recoveryCodes[4] ?? '' }), '/')
  })

  test('wrong codes are counted: the sixth is 429, and so is a right one then; a recovery code goes on', async () => {
    const account = await withApp()
    for (let count = 0; count < 5; count += 1) assertPage(await reset(account.token, { code: '000000' }), 401)
    assertPage(await reset(account.token, { code: account.app.nextCode() }), 429)
    await assertUnchanged(account)
    assertRedirect(await reset(account.token, { code: account.app.recoveryCodes[0] ?? '' }), '/')
  })

  test('of two with the same code and two links at the same moment, one wins', async () => {
    const { id, token, app } = await withApp()
    const code = app.nextCode()
    const answers = await Promise.all([reset(token, { code }), reset(await resetTokenOf(service, id), { code })])
    const [won, lost] = answers.map(({ status }) => status).sort((a, b) => a - b)
    assert.equal(won, 303)
    assert.ok(lost === 401 || lost === 410, String(lost))
  })
})

describe('§4.16 a reset of an account with a passkey', () => {
  test('takes the passkey in place of a code, with its amr', async () => {
    const { authenticator, token } = await withPasskey()
    const agent = newAgent()
    assert.match((await openReset(agent, token)).text, /name="passkey_response"/)
    const response = authenticator.authenticate(await loginOptions(agent))
    assertRedirect(await reset(token, { passkey_response: JSON.stringify(response) }, agent), WAYS_IN)
    await assertSignedIn(agent)
    assert.deepEqual(amrOf(agent), ['swk', 'mfa'])
  })

  test('refuses one of another account, a challenge of another browser, a used one, and what is none', async () => {
    const [account, other] = [await withPasskey(), await withPasskey()]
    const send = (agent: UserAgent, response: unknown) =>
      reset(account.token, { passkey_response: JSON.stringify(response) }, agent)
    const agent = newAgent()
    assertPage(await send(agent, other.authenticator.authenticate(await loginOptions(agent))), 401)
    const elsewhere = account.authenticator.authenticate(await loginOptions(newAgent()))
    assertPage(await send(agent, elsewhere), 400)
    for (const text of ['null', '{}', '[', '"', '{"id":1}']) {
      assertPage(await reset(account.token, { passkey_response: text }, agent), 400)
    }
    assertPage(await reset(account.token, {}, agent), 422)
    await assertUnchanged(account)
    const good = account.authenticator.authenticate(await loginOptions(agent))
    assertRedirect(await send(agent, good), WAYS_IN)
    const again = await reset(
      await resetTokenOf(service, account.id),
      { passkey_response: JSON.stringify(good) },
      agent,
    )
    assertPage(again, 400)
  })

  test('the next page lists it, with a button that removes it', async () => {
    const { id, authenticator, token } = await withPasskey()
    const agent = newAgent()
    const response = authenticator.authenticate(await loginOptions(agent))
    await reset(token, { passkey_response: JSON.stringify(response) }, agent)
    const shown = await agent.get(WAYS_IN)
    assertPage(shown)
    // A thief chooses the name: it alone would not say what it is of.
    assert.match(shown.text, /<p><b>[^<]+<\/b><\/p>\s*<p class="about">Passkey</)
    const passkeyId = /name="passkey_id" value="([^"]+)"/.exec(shown.text)?.[1] ?? ''
    const form = { passkey_id: passkeyId, remove: '1', return_to: WAYS_IN }
    assertRedirect(await agent.post('/auth/account/passkeys', form), WAYS_IN)
    assert.deepEqual(await database.rows('SELECT id FROM passkeys WHERE user_id = ?', id), [])
    assertRedirect(await agent.get(WAYS_IN), '/')
  })
})

describe('§4.16 an account whose address nobody has proved', () => {
  test('is taken over without a factor; in a browser with a session of it, the factor is asked for, and stays', async () => {
    const account = await guardedAccount({ service, core, database }, { isVerified: false })
    const { agent, person, app, id } = account
    const stranger = await resetTokenOf(service, person.email)
    assert.doesNotMatch((await openReset(newAgent(), stranger)).text, /name="code"/)
    const token = await resetTokenOf(service, person.email)
    assert.match((await openReset(agent, token)).text, /name="code"/)
    assertPage(await reset(token, {}, agent), 422)
    assertRedirect(await reset(token, { code: app.nextCode() }, agent), WAYS_IN)
    const [user] = await database.rows('SELECT email_verified_at FROM users WHERE id = ?', id)
    assert.notEqual(user?.email_verified_at, null)
    assert.equal((await database.rows('SELECT user_id FROM one_time_codes WHERE user_id = ?', id)).length, 1)
  })

  test('does not lose a factor by a link that was opened before the address was proved', async () => {
    const { person, app, agent, id } = await guardedAccount({ service, core, database }, { isVerified: false })
    const [token, own] = [await resetTokenOf(service, person.email), await resetTokenOf(service, person.email)]
    const link = await core.links.issued.require(['reset'], token)
    const late = await core.links.entry.check({
      link,
      chosen: { password: NEXT },
      isOwnSession: false,
      factor: undefined,
      caller: {},
    })
    assertRedirect(await reset(own, { code: app.nextCode() }, agent), WAYS_IN)
    await assert.rejects(core.db.inTransaction(late.apply), { name: 'DeadLinkError' })
    assert.equal((await database.rows('SELECT user_id FROM one_time_codes WHERE user_id = ?', id)).length, 1)
  })
})
