// Runs on SQLite.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { currentUser, newPerson, signedUp } from '../../support/client/accounts.ts'
import { assertPage, assertRedirect } from '../../support/client/assertions.ts'
import { createUserAgent } from '../../support/client/user-agent.ts'
import { turnedClock } from '../../support/clock/turned-clock.ts'
import { openDatabase } from '../../support/database/database.ts'
import { askFor, asked, confirm, startMailedService, VERIFY } from '../../support/email/email-change.ts'
import { loggedLine } from '../../support/service/request-log.ts'
import { startService } from '../../support/service/service.ts'
import { eventually } from '../../support/wait.ts'

const MINUTE = 60_000
const DONE = '/auth/account?done=email_requested'

const mailed = await startMailedService({ env: { SVC_RATE_LIMIT: 'on' } })
const { service, smtp, newUser, operator } = mailed
const database = await openDatabase(service)

const mailsTo = (address: string) => smtp.mails.filter(({ to }) => to === address).length

const allMailSettled = () =>
  eventually('all mail is settled', async () => {
    const open = await database.rows('SELECT id FROM mail_messages WHERE closed_at IS NULL')
    return open.length === 0
  })

describe('§4.2 POST /auth/account/email', () => {
  test('refuses what is no other address, with the field and what was typed', async () => {
    const { agent, person } = await newUser()
    const refused: [string, RegExp][] = [
      ['', /Enter your email|email address/i],
      ['nobody', /name@example\.com/],
      [`${person.email}\r\nBcc: x@example.com`, /name@example\.com/],
      [person.email, /This is already your email address/],
      [person.email.toUpperCase(), /This is already your email address/],
    ]
    for (const [email, words] of refused) {
      const answer = await askFor(agent, email)
      assertPage(answer, 422)
      assert.match(answer.text, words)
      assert.match(answer.text, /<input id="email"[^>]*aria-invalid="true"/)
    }
    assertPage(await agent.post('/auth/account/email', { email: ['a@example.com', 'b@example.com'] }), 400)
    assert.equal(await operator.links.emailChanges.findRequested((await currentUser(agent)).id), undefined)
  })

  test('needs a session, the CSRF token, and a user who has signed in within ten minutes', async (t) => {
    const clock = turnedClock()
    const { service: later, smtp: server, newUser: newUserThere } = await startMailedService({ t, clock })
    const { agent, person } = await newUserThere()
    const { email } = newPerson()
    assertRedirect(await askFor(createUserAgent(later), email), '/auth/login?return_to=%2Fauth%2Faccount')
    const forged = await agent.post('/auth/account/email', { email, csrf_token: 'x'.repeat(43) })
    assertPage(forged, 403)
    assert.ok(forged.text.includes(`value="${email}"`), 'the form is shown again with what was typed')
    await clock.turnTo(11 * MINUTE)
    assert.ok(
      (await agent.get('/auth/account')).text.includes(
        'href="/auth/account/confirm?return_to=%2Fauth%2Faccount%23email-section"',
      ),
    )
    assertRedirect(await askFor(agent, email), '/auth/account/confirm')
    assert.deepEqual(server.mails, [])
    await agent.post('/auth/account/confirm', { password: person.password })
    assertRedirect(await askFor(agent, email), DONE)
    await server.receivedFor(email)
  })

  test('sends five messages an hour to one address; the sixth request looks the same, and sends nothing', async () => {
    const { email } = newPerson()
    const users = await Promise.all(Array.from({ length: 6 }, newUser))
    for (const { agent } of users) {
      assertRedirect(await askFor(agent, email), DONE)
      assert.ok((await agent.get(DONE)).text.includes(`<b>${email}</b>`))
    }
    await smtp.receivedFor(email, 5)
    await allMailSettled()
    assert.equal(mailsTo(email), 5)
    assert.equal(mailsTo(users[5]?.person.email ?? ''), 0)
  })

  test('sends ten messages an hour for one account', async () => {
    const { agent, person } = await newUser()
    const addresses = Array.from({ length: 11 }, () => newPerson().email)
    for (const email of addresses) assertRedirect(await askFor(agent, email), DONE)
    await allMailSettled()
    assert.equal(mailsTo(addresses.at(-1) ?? ''), 0)
    assert.equal(mailsTo(person.email), 10)
    await agent.post(VERIFY, { token: await mailed.tokenTo(addresses[9] ?? '') })
    assert.equal((await currentUser(agent)).email, addresses[9])
  })

  test('past the limits of an hour and of a day, the link that was sent stays good', async (t) => {
    const clock = turnedClock()
    const limited = await startMailedService({ t, clock, env: { SVC_RATE_LIMIT: 'on' } })
    const { agent, person, id } = await limited.newUser()
    const { email } = newPerson()
    for (let count = 1; count < 5; count += 1) await asked(limited, agent, email, count)
    const token = await asked(limited, agent, email, 5)
    assertRedirect(await askFor(agent, email), DONE)
    await clock.turnTo(2 * 60 * MINUTE)
    await agent.refresh()
    await agent.post('/auth/account/confirm', { password: person.password })
    assertRedirect(await askFor(agent, email), DONE)
    assert.ok((await agent.get(DONE)).text.includes(`<b>${email}</b>`))
    await agent.post(VERIFY, { token })
    assert.equal((await limited.operator.users.find(id))?.email, email)
    assert.equal(limited.smtp.mails.filter(({ to }) => to === email).length, 5)
  })

  test('is logged, each step by name', async () => {
    const { agent, id } = await newUser()
    const line = (event: string) => loggedLine(service, (it) => it.event === event && it.user_id === id)
    const token = await asked(mailed, agent, newPerson().email)
    assert.equal((await line('email_change_request')).outcome, 'succeeded')
    await agent.post('/auth/account/email', { cancel: '1' })
    assert.equal((await line('email_change_cancel')).outcome, 'succeeded')
    assertPage(await confirm(agent, token), 410)
    await confirm(agent, await asked(mailed, agent, newPerson().email))
    assert.equal((await line('email_change')).outcome, 'succeeded')
  })
})

describe('§4.2 a change of address', () => {
  test('is 404 without mail, and the page says whom to ask', async (t) => {
    const env = { SVC_APP_NAME: 'Acme', SVC_SUPPORT_URL: 'mailto:help@example.com' }
    const without = await startService({ t, env })
    const { agent } = await signedUp(without)
    const shown = await agent.get('/auth/account')
    assert.match(shown.text, /Need to change it\? <a href="mailto:help@example\.com">Contact support\.<\/a>/)
    assert.ok(!shown.text.includes('action="/auth/account/email"'))
    const answer = await askFor(agent, newPerson().email)
    assertPage(answer, 404)
    assert.match(answer.text, /Need to change it\?[^]*Contact support\./)
  })

  test('accepts the domains of SVC_EMAIL_DOMAINS alone; the command line accepts any', async (t) => {
    const some = await startMailedService({ t, env: { SVC_EMAIL_DOMAINS: 'corp.example' } })
    const { agent, id } = await some.newUser()
    const answer = await askFor(agent, newPerson().email)
    assertPage(answer, 422)
    assert.match(answer.text, /corp\.example/)
    assertRedirect(await askFor(agent, `ada@corp.example`), DONE)
    await some.operator.users.setEmail(id, 'ada@elsewhere.example', { emailVerified: true })
    assert.equal((await currentUser(agent)).email, 'ada@elsewhere.example')
  })
})
