// Runs on SQLite.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { currentUser, loggedIn, logIn, newPerson } from '../../support/client/accounts.ts'
import { assertCannotLogIn, assertPage, assertRedirect, assertSignedOut } from '../../support/client/assertions.ts'
import { createUserAgent, type Form } from '../../support/client/user-agent.ts'
import { openDatabase } from '../../support/database/database.ts'
import { startSmtpServer } from '../../support/network/smtp-server.ts'
import { createAuthenticator } from '../../support/passkeys/authenticator.ts'
import { addPasskey, logInWithPasskey, loginOptions, tryToAddPasskey } from '../../support/passkeys/passkeys.ts'
import { resetBy, resetTokenOf, tokenOf } from '../../support/recovery/reset.ts'
import { SECOND_FACTOR_PAGE, setUpApp } from '../../support/second-factor/app-set-up.ts'
import { setUpApp as storeApp, storePasskey } from '../../support/second-factor/guarded-account.ts'
import { openOperator } from '../../support/service/replicas.ts'
import { startService } from '../../support/service/service.ts'

const smtp = await startSmtpServer()
const env = { ...smtp.env, SVC_EMAIL_VERIFICATION: 'off', SVC_RATE_LIMIT: 'off' }
const service = await startService({ env })
const database = await openDatabase(service)
const core = await openOperator(service)

const newAgent = () => createUserAgent(service)

/** The messages to an address with this in their subject, once so many have come. */
const noticesFor = async (email: string, subject: RegExp, count: number) => {
  for (let arrived = 1; ; arrived += 1) {
    await smtp.receivedFor(email, arrived)
    const found = smtp.mails.filter((mail) => mail.to === email && subject.test(mail.subject))
    if (found.length >= count) return found
  }
}

const noticeFor = async (email: string, subject: RegExp) => {
  const [found] = await noticesFor(email, subject, 1)
  assert.ok(found)
  return found
}

const purposesTo = async (email: string): Promise<string[]> => {
  const rows = await database.rows('SELECT purpose FROM mail_messages WHERE recipient = ? ORDER BY id', email)
  return rows.map(({ purpose }) => String(purpose))
}

const newUser = async () => {
  const person = newPerson()
  const { id } = await core.users.create({ ...person, emailVerified: true })
  return { id, person, agent: await loggedIn(service, person) }
}

/** Which notice has the link "This wasn't me". */
const NOTICE = { app: /An authenticator app was added/, passkey: /A passkey was added/ }

/** An owner with an app adds a passkey, and removes the app. */
const replaceAppByPasskey = async (id: string): Promise<void> => {
  const passkeyId = await storePasskey(core, id)
  const added = { kind: 'passkey_added', passkeyId, name: 'Phone', addedAtMs: Date.now() } as const
  await core.db.inTransaction((transaction) => core.notify(transaction, id, added))
  await database.rows('DELETE FROM one_time_codes WHERE user_id = ?', id)
}

const pathOf = (link: string): string => link.slice(service.url.length)

describe('users are told what happens to their passkeys', () => {
  test('one that was added; "This wasn’t me" removes it, and the recovery codes that came with it', async () => {
    const { id, person, agent } = await newUser()
    const authenticator = createAuthenticator({ origin: service.url })
    const name = 'https://evil.example/claim-your-prize'
    assert.equal((await tryToAddPasskey(agent, authenticator, undefined, { name })).status, 201)
    const { link, text } = await noticeFor(person.email, /A passkey was added/)
    assert.match(text, /127\.0\.0\.1|::1/)
    const browser = newAgent()
    const shown = await browser.get(pathOf(link))
    assertPage(shown)
    assert.doesNotMatch(shown.text, /evil/)
    assert.equal((await logInWithPasskey(newAgent(), authenticator)).status, 200)

    assert.doesNotMatch(shown.text, /name="code"|passkey_response/, 'what goes is not asked for')
    const password = `new ${person.password}`
    assertRedirect(await browser.post('/auth/account/not-me', { token: tokenOf(link), password }), '/')
    await assertSignedOut(agent)
    assert.equal((await logInWithPasskey(newAgent(), authenticator)).status, 401)
    assert.deepEqual(await database.rows('SELECT id FROM recovery_codes WHERE user_id = ?', id), [])
    await noticeFor(person.email, /A passkey was removed/)
    for (const mail of smtp.mails.filter(({ to }) => to === person.email))
      assert.doesNotMatch(`${mail.subject}${mail.text}${mail.html}`, /evil/, 'a name may be meant for strangers')
    await loggedIn(service, { ...person, password })
  })

  test('one that was removed', async () => {
    const { person, agent } = await newUser()
    const authenticator = createAuthenticator({ origin: service.url })
    const { id } = await addPasskey(agent, authenticator)
    const owner = newAgent()
    assert.equal((await logInWithPasskey(owner, authenticator)).status, 200)
    assert.equal((await owner.post('/auth/account/passkeys', { passkey_id: id, remove: '1' })).status, 303)
    const { links } = await noticeFor(person.email, /A passkey was removed/)
    assert.deepEqual(links.map(pathOf), ['/auth/password/forgot'])
  })
})

describe('users are told what happens to their second factor', () => {
  test('an app that was set up; "This wasn’t me" removes it, and the recovery codes that came with it', async () => {
    const { id, person, agent } = await newUser()
    await setUpApp(agent, Date.now())
    const { link } = await noticeFor(person.email, /An authenticator app was added/)
    const browser = newAgent()
    assert.match((await browser.get(pathOf(link))).text, /An authenticator app was set up/)
    const password = `new ${person.password}`
    assertRedirect(await browser.post('/auth/account/not-me', { token: tokenOf(link), password }), '/')
    await noticeFor(person.email, /An authenticator app was removed/)
    for (const table of ['one_time_codes', 'recovery_codes'])
      assert.deepEqual(await database.rows(`SELECT user_id FROM ${table} WHERE user_id = ?`, id), [])
    assertPage(await newAgent().get(pathOf(link)), 410)
  })

  test('"This wasn’t me" about a passkey asks for the code of an app that is left, in the same step', async () => {
    const { id, person } = await newUser()
    const app = await storeApp(core, { userId: id, email: person.email })
    const passkeyId = await storePasskey(core, id, 'Thief')
    await core.db.inTransaction((transaction) =>
      core.notify(transaction, id, { kind: 'passkey_added', passkeyId, addedAtMs: Date.now() + 1 }),
    )
    const { link } = await noticeFor(person.email, /A passkey was added/)
    const browser = newAgent()
    const form = { token: tokenOf(link), password: `new ${person.password}` }
    const press = (more: Form = {}) => browser.post('/auth/account/not-me', { ...form, ...more })
    const shown = (await browser.get(pathOf(link))).text
    assert.match(shown, /name="code"/)
    assert.doesNotMatch(shown, /name="passkey_response"/)
    assertPage(await press(), 422)
    assertPage(await press({ code: '000000' }), 401)
    assert.equal((await core.secondFactors.find(id)).passkeys, 1, 'nothing has changed')
    assertRedirect(await press({ code: app.nextCode() }), '/')
    assert.equal((await core.secondFactors.find(id)).passkeys, 0)
  })

  test('"This wasn’t me" about an app takes a passkey that is left, and no code of that app', async () => {
    const { id, person, agent } = await newUser()
    const authenticator = createAuthenticator({ origin: service.url })
    await addPasskey(agent, authenticator)
    const app = await storeApp(core, { userId: id, email: person.email })
    const { link } = await noticeFor(person.email, /An authenticator app was added/)
    const browser = newAgent()
    const form = { token: tokenOf(link), password: `new ${person.password}` }
    assert.match((await browser.get(pathOf(link))).text, /name="passkey_response"/)
    assertPage(await browser.post('/auth/account/not-me', { ...form, code: app.nextCode() }), 401)
    assert.equal((await core.secondFactors.find(id)).codes, true)
    const response = JSON.stringify(authenticator.authenticate(await loginOptions(browser)))
    const answer = await browser.post('/auth/account/not-me', { ...form, passkey_response: response })
    assertRedirect(answer, '/auth/account/ways-in?return_to=%2F')
    assert.deepEqual(await core.secondFactors.find(id), { codes: false, recoveryCodes: 10, passkeys: 1 })
  })

  for (const factor of ['app', 'passkey'] as const)
    test(`"This wasn’t me" about a new ${factor} that is the last factor asks for a recovery code from before`, async () => {
      const { id, person } = await newUser()
      const { recoveryCodes } = await storeApp(core, { userId: id, email: person.email })
      for (const table of ['one_time_codes', 'recovery_codes'])
        await database.rows(`UPDATE ${table} SET created_at = created_at - 60000 WHERE user_id = ?`, id)
      if (factor === 'app') await storeApp(core, { userId: id, email: person.email })
      else await replaceAppByPasskey(id)
      const { link } = await noticeFor(person.email, NOTICE[factor])
      const browser = newAgent()
      const password = `new ${person.password}`
      const press = (form: Form = {}) =>
        browser.post('/auth/account/not-me', { token: tokenOf(link), password, ...form })
      assert.match((await browser.get(pathOf(link))).text, /Recovery code/)
      assertPage(await press(), 422)
      assertPage(await press({ code: '000000' }), 401)
      const table = factor === 'app' ? 'one_time_codes' : 'passkeys'
      assert.equal((await database.rows(`SELECT user_id FROM ${table} WHERE user_id = ?`, id)).length, 1)
      assert.equal((await core.secondFactors.find(id)).recoveryCodes, 10)
      assertRedirect(await press({ code: recoveryCodes[0] ?? '' }), '/')
      assert.deepEqual(await core.secondFactors.find(id), { codes: false, recoveryCodes: 0, passkeys: 0 })
    })

  test('"This wasn’t me" in each notice throws out a thief who has added two factors, where there was none', async () => {
    const { person, agent: thief } = await newUser()
    const authenticators = [1, 2].map(() => createAuthenticator({ origin: service.url }))
    for (const authenticator of authenticators) await addPasskey(thief, authenticator)
    const owner = newAgent()
    const form = { password: `new ${person.password}` }
    const press = (link: string) => owner.post('/auth/account/not-me', { ...form, token: tokenOf(link) })
    const [first, second] = await noticesFor(person.email, NOTICE.passkey, 2)
    const login = await noticeFor(person.email, /^New login/)
    assertPage(await press(second?.link ?? ''), 422)
    const answer = await press(login.link)
    assert.match(answer.location ?? '', /^\/auth\/password\/reset/)
    await assertSignedOut(thief)
    await assertCannotLogIn(service, person)
    assert.match((await owner.get(answer.location ?? '')).text, /passkey_response/, 'no way in yet')
    for (const notice of [first, second]) assert.equal((await press(notice?.link ?? '')).status, 303)
    for (const authenticator of authenticators)
      assert.equal((await logInWithPasskey(newAgent(), authenticator)).status, 401)
    const { link } = second ?? login
    assertPage(await newAgent().get(pathOf(link)), 410)
  })

  test('"This wasn’t me" about a new app asks for a newer passkey, where there was a factor before', async () => {
    const { id, person } = await newUser()
    await storeApp(core, { userId: id, email: person.email })
    for (const table of ['one_time_codes', 'recovery_codes'])
      await database.rows(`UPDATE ${table} SET created_at = created_at - 60000 WHERE user_id = ?`, id)
    await storeApp(core, { userId: id, email: person.email })
    await storePasskey(core, id)
    await database.rows('UPDATE recovery_codes SET created_at = ? WHERE user_id = ?', Date.now(), id)
    const [, replaced] = await noticesFor(person.email, NOTICE.app, 2)
    const form = { token: tokenOf(replaced?.link ?? ''), password: `new ${person.password}` }
    assertPage(await newAgent().post('/auth/account/not-me', form), 422)
  })

  test('recovery codes that were used or replaced, and an app that was removed', async () => {
    const { id, person, agent } = await newUser()
    const { recoveryCodes } = await setUpApp(agent, Date.now())
    const code = recoveryCodes[0] ?? ''
    const browser = newAgent()
    assertRedirect(await resetBy(browser, await resetTokenOf(service, id), `new ${person.password}`, { code }), '/')
    assert.match((await noticeFor(person.email, /A recovery code was used/)).text, /You have 9 left\./)
    await browser.post(SECOND_FACTOR_PAGE, { recovery_codes: 'new' })
    await noticeFor(person.email, /New recovery codes were created/)
    await browser.post(SECOND_FACTOR_PAGE, { remove: '1' })
    await noticeFor(person.email, /An authenticator app was removed/)
  })

  test('three wrong codes, once a day', async () => {
    const { id, person } = await newUser()
    const app = await storeApp(core, { userId: id, email: person.email })
    const token = await resetTokenOf(service, id)
    const tryCode = () => resetBy(newAgent(), token, `new ${person.password}`, { code: '000000' })
    for (let count = 0; count < 2; count += 1) assertPage(await tryCode(), 401)
    assert.ok(!(await purposesTo(person.email)).includes('wrong_codes'))
    for (let count = 0; count < 6; count += 1) assertPage(await tryCode(), 401)
    assert.equal((await purposesTo(person.email)).filter((purpose) => purpose === 'wrong_codes').length, 1)
    await noticeFor(person.email, /Wrong codes/)
    assertRedirect(await resetBy(newAgent(), token, `new ${person.password}`, { code: app.nextCode() }), '/')
  })

  test('three wrong codes where a session is confirmed', async () => {
    const { id, person } = await newUser()
    const app = await storeApp(core, { userId: id, email: person.email })
    const agent = newAgent()
    assertRedirect(await logIn(agent, person), '/auth/login/code')
    assertRedirect(await agent.post('/auth/login/code', { code: app.nextCode() }), '/')
    const confirm = (code: string) => agent.post('/auth/account/confirm', { password: person.password, code })
    for (let count = 0; count < 3; count += 1) assertPage(await confirm('000000'), 401)
    assert.match((await noticeFor(person.email, /Wrong codes/)).text, /entered wrong codes/)
  })

  test('a second factor that an operator has reset, and nothing where there was none', async () => {
    const { id, person, agent } = await newUser()
    await setUpApp(agent, Date.now())
    await storePasskey(core, id)
    await core.users.resetSecondFactors(id, { passkeys: true })
    const { text } = await noticeFor(person.email, /Your two-step verification was reset/)
    assert.match(text, /authenticator app, recovery codes and one passkey\./)
    assert.match(text, /^By: An administrator$/m)
    const before = await purposesTo(person.email)
    await core.users.resetSecondFactors(id, { passkeys: true })
    assert.deepEqual(await purposesTo(person.email), before)
    assert.equal((await currentUser(await loggedIn(service, person))).id, id)
  })
})
