// Runs on SQLite and PostgreSQL.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { currentUser, loggedIn, newPerson, signedUp, signUp } from '../../support/client/accounts.ts'
import {
  assertCanLogIn,
  assertCannotLogIn,
  assertPage,
  assertRedirect,
  assertSignedIn,
} from '../../support/client/assertions.ts'
import { createUserAgent } from '../../support/client/user-agent.ts'
import { openDatabase } from '../../support/database/database.ts'
import { askFor, asked, changed, confirm, startMailedService, UNDO, VERIFY } from '../../support/email/email-change.ts'
import { startWebhookReceiver } from '../../support/network/webhook-receiver.ts'
import { statusesOf } from '../../support/provider/provider-service.ts'
import { accessToken, claimsOf } from '../../support/service/access-tokens.ts'
import { eventually } from '../../support/wait.ts'

const receiver = await startWebhookReceiver()
const mailed = await startMailedService({
  env: { SVC_WEBHOOK_URL: receiver.url, SVC_WEBHOOK_SECRET: 'a secret of the test' },
})
const { service, smtp, operator, newUser, tokenTo } = mailed
const database = await openDatabase(service)
const newAgent = () => createUserAgent(service)
const REQUESTED = '/auth/account?done=email_requested'

/** Until every message that was asked for is sent or dropped. */
const allMailSettled = () =>
  eventually('all mail is settled', async () => {
    const open = await database.rows('SELECT id FROM mail_messages WHERE closed_at IS NULL')
    return open.length === 0
  })

const mailsTo = (address: string) => smtp.mails.filter(({ to }) => to === address)

describe('§4.2 a change of address', () => {
  test('is asked for in one browser, confirmed by the password in another, and signs nobody in there', async () => {
    const { agent, person, id } = await newUser()
    const { email } = newPerson()
    assertRedirect(await askFor(agent, ` ${email} `), REQUESTED)
    assert.equal((await currentUser(agent)).email, person.email, 'nothing changes before the link is followed')
    const waiting = (await agent.get(REQUESTED)).text
    assert.ok(waiting.includes(`<b>${email}</b>`) && waiting.includes('name="cancel"'), waiting)

    const other = newAgent()
    const token = await tokenTo(email)
    const shown = await other.get(`${VERIFY}?token=${token}`)
    assertPage(shown)
    assert.equal(shown.headers['referrer-policy'], 'strict-origin')
    const button = shown.text.indexOf('<button class="svc-button first"')
    assert.ok(shown.text.indexOf(person.email) < button && shown.text.indexOf(email) < button, shown.text)

    assert.match(shown.text, /name="password"[^]*autocomplete="current-password"|autocomplete="current-password"/)
    for (const [password, status] of [
      [undefined, 422],
      ['', 422],
      ['a wrong password', 401],
    ] as const)
      assertPage(await confirm(other, token, password === undefined ? {} : { password }), status)
    assert.equal((await currentUser(agent)).email, person.email, 'a press alone changes nothing')
    const answer = await confirm(other, token, { password: person.password })
    assertPage(answer)
    assert.ok(answer.text.includes(email))
    assert.equal(other.cookies.get('svc_access'), undefined)
    assert.equal(other.cookies.get('svc_refresh'), undefined)

    assert.equal((await currentUser(agent)).email, email, 'the session goes on, with the new address')
    assert.equal((await agent.refresh()).status, 200)
    assert.equal(claimsOf(accessToken(agent)).email_verified, true)
    await assertCanLogIn(service, { ...person, email })
    await assertCannotLogIn(service, person)
    assert.ok(!(await agent.get('/auth/account')).text.includes('name="cancel"'))
    await receiver.receivedEvent(({ event }) => event.data.user_id === id && event.data.changed?.join() === 'email')
  })

  test('is told to the old address, when it is asked for and when it is made, with links; the new one is told too', async () => {
    const { agent, person } = await newUser()
    const { email } = newPerson()
    await changed(mailed, agent, email)
    const [requested, made] = [await smtp.receivedFor(person.email), await smtp.receivedFor(person.email, 2)]
    for (const mail of [requested, made]) {
      assert.ok(new URL(mail.link).pathname === UNDO && mail.text.includes(email), mail.text)
    }
    assert.notEqual(requested.link, made.link)
    const told = await smtp.receivedFor(email, 2)
    assert.ok(told.text.includes(person.email) && told.text.includes(email), told.text)
    await allMailSettled()
    assert.deepEqual([mailsTo(person.email).length, mailsTo(email).length], [2, 2])
  })

  test('to an address with an account looks the same, and sends it a message without a link', async () => {
    const [{ agent, person }, { person: other }] = [await newUser(), await newUser()]
    const free = newPerson().email
    const answers = [await askFor(agent, free), await askFor(agent, other.email)]
    const bytes = answers.map(({ status, location, text }) => [status, location, text])
    assert.deepEqual(bytes[0], bytes[1])
    const page = (await agent.get(REQUESTED)).text
    assert.ok(page.includes(`<b>${other.email}</b>`))
    const told = await smtp.receivedFor(other.email)
    assert.deepEqual(
      told.links.filter((link) => link.includes('token')),
      [],
    )
    assert.equal(told.htmlLinks.filter((link) => link.includes('token')).length, 0)
    assert.ok(!told.text.includes(person.email), 'a stranger is not told who asked')
    assert.ok((await smtp.receivedFor(person.email, 2)).text.includes(other.email), 'as for any address')
  })

  test('that is asked for again replaces the first one, whose link dies', async () => {
    const { agent } = await newUser()
    const [first, second] = [newPerson().email, newPerson().email]
    const tokens = [await asked(mailed, agent, first), await asked(mailed, agent, second)]
    assert.equal((await confirm(agent, tokens[0] ?? '')).status, 410)
    assert.equal((await confirm(agent, tokens[1] ?? '')).status, 200)
    assert.equal((await currentUser(agent)).email, second)
  })

  test('is cancelled: its link dies, and the page shows nothing of it', async () => {
    const { agent, person } = await newUser()
    const { email } = newPerson()
    const token = await asked(mailed, agent, email)
    assertRedirect(await agent.post('/auth/account/email', { cancel: '1' }), '/auth/account?done=email_cancelled')
    assert.ok(!(await agent.get('/auth/account')).text.includes(email))
    assert.equal((await confirm(agent, token)).status, 410)
    assert.equal((await currentUser(agent)).email, person.email)
  })

  test('is refused when another account has taken the address: 409, and nothing changes', async () => {
    const { agent, person } = await newUser()
    const { email } = newPerson()
    const token = await asked(mailed, agent, email)
    const { person: other } = await signedUp(service, { ...newPerson(), email })
    const answer = await confirm(agent, token)
    assertPage(answer, 409)
    assert.ok(answer.text.includes(email) && answer.text.includes(person.email), answer.text)
    assert.equal((await currentUser(agent)).email, person.email)
    await assertCanLogIn(service, other)
    assert.equal((await confirm(agent, token)).status, 409, 'the link stays good')
  })

  test('is confirmed by a press in any browser that is signed in to the account, and in no other', async () => {
    const [{ agent, person }, { agent: stranger }] = [await newUser(), await newUser()]
    const token = await asked(mailed, agent, newPerson().email)
    const own = await loggedIn(service, person)
    assert.doesNotMatch((await own.get(`${VERIFY}?token=${token}`)).text, /name="password"/)
    assertPage(await confirm(stranger, token), 422)
    assertPage(await confirm(stranger, token, { password: newPerson().password }), 401)
    assertPage(await confirm(own, token))
  })

  test('is confirmed where the request came from, also after a logout there', async () => {
    const { agent } = await newUser()
    const token = await asked(mailed, agent, newPerson().email)
    assert.equal((await agent.post('/auth/logout')).status, 303)
    assertPage(await confirm(agent, token))
  })

  test('of an account without a password takes a login in the browser that opens the link', async () => {
    const { agent, person, id } = await newUser()
    const { email } = newPerson()
    const token = await asked(mailed, agent, email)
    await database.rows('UPDATE users SET password_hash = NULL WHERE id = ?', id)
    const other = newAgent()
    const shown = await other.get(`${VERIFY}?token=${token}`)
    assert.doesNotMatch(shown.text, /name="password"|<form(?! class="language")/)
    assert.match(shown.text, /href="\/auth\/login/)
    assertPage(await confirm(other, token, { password: person.password }), 403)
    assert.equal((await operator.users.find(id))?.email, person.email)
    assertPage(await confirm(agent, token))
    assert.equal((await operator.users.find(id))?.email, email)
  })

  test('of an address that nobody has proved tells that address so, without a link, and frees it', async () => {
    const { agent, person } = await signedUp(service)
    const { email } = newPerson()
    await changed(mailed, agent, email)
    await smtp.receivedFor(email, 2)
    await allMailSettled()
    const [told, ...more] = mailsTo(person.email)
    assert.deepEqual([told?.subject, told?.links, more], ['Your address was removed from an account', [], []])
    assert.ok(told && !told.text.includes(email) && !/127\.0\.0\.1|::1/.test(told.text), 'a stranger learns no more')
    assert.equal((await signUp(newAgent(), { ...newPerson(), email: person.email })).status, 303)
  })
})

describe('§4.2 the link to a new address', () => {
  test('is not used up by scanners, and works once, even for two presses at once', async () => {
    const { agent } = await newUser()
    const { email } = newPerson()
    const token = await asked(mailed, agent, email)
    const path = `${VERIFY}?token=${token}`
    for (let count = 0; count < 3; count += 1) {
      assertPage(await newAgent().get(path))
      assert.equal((await newAgent().send({ method: 'HEAD', path })).status, 200)
    }
    assert.notEqual((await currentUser(agent)).email, email)
    const answers = await Promise.all([confirm(agent, token), confirm(agent, token)])
    assert.deepEqual(statusesOf(answers), [200, 410])
    assertPage(await newAgent().get(path), 410)
  })

  test('ends with a password change, a reset, a new password by an operator, and while the account is disabled', async () => {
    const { users } = operator
    const ends: Record<string, (user: Awaited<ReturnType<typeof newUser>>) => Promise<unknown>> = {
      change: ({ agent, person }) =>
        agent.post('/auth/account/password', { current_password: person.password, new_password: newPerson().password }),
      operator: ({ id }) => users.setPassword(id, newPerson().password),
      disabled: ({ id }) => users.change(id, { disabled: true }),
      deleted: ({ id }) => users.delete(id),
    }
    for (const [name, end] of Object.entries(ends)) {
      const user = await newUser()
      const token = await asked(mailed, user.agent, newPerson().email)
      await end(user)
      assert.equal((await confirm(user.agent, token)).status, 410, name)
    }
  })

  test('is good for nothing else, and nothing else is good for it', async () => {
    const { agent, person } = await newUser()
    const { email } = newPerson()
    const token = await asked(mailed, agent, email)
    const undoToken = await tokenTo(person.email)
    for (const path of [UNDO, '/auth/password/reset']) {
      assertPage(await newAgent().get(`${path}?token=${token}`), 410)
      assertPage(await newAgent().post(path, { token, password: newPerson().password }), 410)
    }
    assertPage(await confirm(agent, undoToken), 410)
    assertPage(await newAgent().get(VERIFY), 400)
    assertPage(await newAgent().get(`${VERIFY}?token=${token}&token=${token}`), 400)
    assertPage(await newAgent().post(VERIFY, { token: [token, token] }), 400)
    assertPage(await newAgent().get(`${VERIFY}?token=${'x'.repeat(43)}`), 410)
    assert.equal((await confirm(agent, token)).status, 200)
  })

  test('is stored as a hash, and no copy of the database holds it', async () => {
    const { agent } = await newUser()
    const token = await asked(mailed, agent, newPerson().email)
    assert.ok(!(await database.contents()).includes(token))
    await assertSignedIn(agent)
  })
})
