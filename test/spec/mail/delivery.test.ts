// Runs on SQLite.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { newAgent, newPerson, type Person, signedUp } from '../../support/client/accounts.ts'
import { assertPage } from '../../support/client/assertions.ts'
import { createUserAgent } from '../../support/client/user-agent.ts'
import { turnedClock } from '../../support/clock/turned-clock.ts'
import { mailEnv, openOutbox, sample } from '../../support/mail/outbox.ts'
import { startSmtpServer } from '../../support/network/smtp-server.ts'
import { createUser, runCommandOf } from '../../support/service/operator-commands.ts'
import { startReplicas } from '../../support/service/replicas.ts'
import { startService } from '../../support/service/service.ts'
import { eventually } from '../../support/wait.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR

describe('a message', { concurrency: 2 }, () => {
  test('is sent after the commit, with text, HTML and the headers of an automatic message', async (t) => {
    const smtp = await startSmtpServer({ t })
    const sender = { SVC_MAIL_FROM: '"Example, \\"A\\" & Söhne" <svc@example.com>' }
    const service = await startService({ t, env: { ...mailEnv(smtp), ...sender } })
    const outbox = await openOutbox(service, t)
    // Its header has no milliseconds.
    const beforeMs = Date.now() - 1000
    const to = await outbox.write({ message: sample('reset') })
    const mail = await smtp.receivedFor(to)
    assert.equal(mail.sender, 'svc@example.com')
    assert.deepEqual(mail.from, { name: 'Example, "A" & Söhne', address: 'svc@example.com' })
    assert.deepEqual(mail.headers('to'), [to])
    assert.deepEqual(mail.headers('auto-submitted'), ['auto-generated'])
    assert.match(mail.source, /^Content-Type: multipart\/alternative;/m)
    assert.equal(mail.headers('date').length, 1)
    const atMs = Date.parse(String(mail.headers('date')))
    assert.ok(atMs >= beforeMs && atMs <= Date.now(), String(mail.headers('date')))
    await outbox.settled('sent')
    const [row] = await outbox.rows()
    assert.deepEqual(mail.headers('message-id'), [`<${String(row?.id)}@app.example.com>`])
    assert.match(mail.link, /^https:\/\/app\.example\.com\/auth\/password\/reset\?token=/)
    assert.ok(mail.htmlLinks.includes(mail.link))
    assert.deepEqual([Number(row?.attempts), row?.problem, row?.recipient], [1, null, to])
  })

  for (const mode of ['optional', 'required'])
    test(`says how long its link works, as the settings do, where verification is ${mode}`, async (t) => {
      const smtp = await startSmtpServer({ t })
      const lifetimes = { SVC_RESET_TTL: '1h', SVC_VERIFY_TTL: '90m', SVC_INVITE_TTL: '168h' }
      const env = { ...smtp.env, ...lifetimes, SVC_EMAIL_VERIFICATION: mode }
      const service = await startService({ t, env })
      const [known, invited, newcomer] = [newPerson(), newPerson(), newPerson()]
      await createUser(service, known)
      const agent = newAgent(service)
      await agent.post('/auth/password/forgot', { email: known.email })
      await runCommandOf(service, ['users', 'invite', invited.email, '--mail'])
      await newAgent(service).post('/auth/signup', newcomer)
      const expected: [Person, string, string][] = [
        [known, 'Reset your password', 'one hour'],
        [invited, 'You’re invited to localhost', '7 days'],
        [newcomer, 'Confirm your email address', '90 minutes'],
      ]
      for (const [{ email }, title, life] of expected) {
        const mail = await smtp.receivedFor(email)
        assert.equal(mail.subject, title)
        assert.ok(mail.text.startsWith(`${title}\n\n`), mail.text)
        assert.ok(mail.text.includes(`\n${mail.link}\n\nThis link works for ${life}.\n\n`), mail.text)
        assert.ok(mail.html.includes(`>This link works for ${life}.<`))
        for (const line of mail.source.split('\r\n')) assert.ok(line.length <= 78, line)
      }
    })

  test('has the names that the operator wrote, also where they look encoded', async (t) => {
    const smtp = await startSmtpServer({ t })
    const name = '=?utf-8?Q?Bank?='
    const names = { SVC_APP_NAME: name, SVC_MAIL_FROM: `"${name}" <svc@example.com>` }
    const service = await startService({ t, env: { ...mailEnv(smtp), ...names } })
    const outbox = await openOutbox(service, t)
    const { from, subject } = await smtp.receivedFor(await outbox.write({ message: sample('test') }))
    const shown = [from.name, subject].map((text) => text.replaceAll('\u2060', ''))
    assert.deepEqual(shown, [name, `Test message from ${name}`])
  })

  test('waits in a form in which no copy of the database holds its link or its text', async (t) => {
    const smtp = await startSmtpServer({ t })
    smtp.failAt('rcpt', 451)
    const service = await startService({ t, env: mailEnv(smtp) })
    const outbox = await openOutbox(service, t)
    await outbox.write({ message: sample('reset') })
    await eventually('an attempt has failed', async () => (await outbox.rows())[0]?.problem !== null)
    const contents = await outbox.database.contents()
    const { url = '' } = sample('reset') as { url?: string }
    const token = new URL(url).searchParams.get('token') ?? assert.fail()
    for (const text of [token, Buffer.from(token).toString('base64'), 'password/reset']) {
      assert.ok(!contents.includes(text), text)
    }
  })

  test('is tried again after 30 s, then after twice as long, up to an hour, once the server is back', async (t) => {
    const clock = turnedClock()
    const smtp = await startSmtpServer({ t })
    const service = await startService({ t, clock, env: mailEnv(smtp) })
    await smtp.stop()
    const outbox = await openOutbox(service, t)
    const to = await outbox.write()
    let aheadMs = 0
    for (const [attempts, delayMs] of [30_000, 60_000, 120_000].entries()) {
      let inMs = 0
      await eventually(`attempt ${attempts + 1}, and the time of the next`, async () => {
        const [row] = await outbox.rows()
        inMs = Number(row?.next_attempt_at) - clock.now()
        return Number(row?.attempts) === attempts + 1 && inMs > delayMs - 10_000 && inMs <= delayMs * 1.2
      })
      assert.match(String((await outbox.rows())[0]?.problem), /refused the connection/)
      aheadMs += inMs + 1000
      if (attempts < 2) await clock.turnTo(aheadMs)
    }
    await smtp.start()
    await clock.turnTo(aheadMs + HOUR)
    await smtp.receivedFor(to)
    await outbox.settled('sent')
    assert.equal(smtp.mails.length, 1)
  })

  test('is given up after a reply of 5xx, and tried again after one of 4xx', async (t) => {
    const smtp = await startSmtpServer({ t })
    const service = await startService({ t, env: mailEnv(smtp) })
    const outbox = await openOutbox(service, t)
    smtp.failAt('rcpt', 550)
    const first = await outbox.write()
    await outbox.settled('failed')
    smtp.failAt('data', 452)
    await outbox.write()
    await eventually('an attempt', async () => (await outbox.rows())[1]?.problem !== null)
    const [failed, waiting] = await outbox.rows()
    assert.deepEqual([failed?.state, waiting?.state], ['failed', 'waiting'])
    assert.match(String(failed?.problem), /refused the recipient: 550/)
    assert.ok(!JSON.stringify(service.logLines()).includes(first), 'the log names no address')
    const lines = service.logLines().filter(({ message }) => message === 'mail failed')
    assert.deepEqual(
      lines.map(({ step, code, retried, message_id: id }) => [step, code, retried, id]),
      [
        ['recipient', 550, false, failed?.id],
        ['message', 452, true, waiting?.id],
      ],
    )
  })

  test('is dropped once its time is over or its link is dead, and its recipient is forgotten', async (t) => {
    const clock = turnedClock()
    const smtp = await startSmtpServer({ t })
    const service = await startService({ t, clock, env: mailEnv(smtp) })
    const outbox = await openOutbox(service, t)
    const { core } = outbox
    await smtp.stop()
    const linkId = await core.db.inTransaction(async (transaction) => {
      const { link } = await core.links.issued.create(transaction, {
        purpose: 'signup',
        userId: undefined,
        emailLower: 'ada@example.com',
        lifetimeMs: DAY,
      })
      return link.id
    })
    await outbox.write({ linkId, message: sample('reset') })
    await outbox.write({ expiresAtMs: Date.now() + HOUR })
    await eventually('both were tried', async () => (await outbox.rows()).every(({ problem }) => problem !== null))
    await core.db.inTransaction((transaction) =>
      core.links.issued.replace(transaction, { purpose: 'signup', userId: undefined, emailLower: 'ada@example.com' }),
    )
    await smtp.start()
    await clock.turnTo(HOUR + 1000)
    await outbox.settled('dropped')
    const rows = await outbox.rows()
    // In any order: both may have been written in the same millisecond.
    const problems = rows.map(({ problem }) => problem)
    assert.deepEqual(new Set(problems), new Set(['its link was dead', 'its time was over']))
    for (const { recipient, content_sealed: content } of rows) assert.deepEqual([recipient, content], [null, null])
    assert.deepEqual(smtp.mails, [])
  })

  test('goes out once although two replicas look for it', async (t) => {
    const smtp = await startSmtpServer({ t })
    const [one, other] = await startReplicas({ t, env: mailEnv(smtp) })
    const outboxes = [await openOutbox(one, t), await openOutbox(other, t)]
    const written = await Promise.all(
      Array.from({ length: 60 }, (_, index) => (outboxes[index % 2] ?? assert.fail()).write()),
    )
    await smtp.received(60)
    await outboxes[0]?.settled('sent')
    assert.deepEqual(smtp.mails.map(({ to }) => to).toSorted(), written.toSorted())
    assert.ok(smtp.connections().made < 60, 'several share a connection')
  })
})

test('a message that waits while SVC_BASE_URL changes leads to the new one, and its link works', async (t) => {
  const clock = turnedClock()
  const smtp = await startSmtpServer({ t })
  const service = await startService({ t, clock, env: { ...mailEnv(smtp), SVC_EMAIL_VERIFICATION: 'off' } })
  const { rows } = await openOutbox(service, t)
  await smtp.stop()
  const person = newPerson()
  await createUser(service, person)
  await runCommandOf(service, ['users', 'reset-link', person.email, '--mail'])
  await eventually('an attempt has failed', async () => (await rows())[0]?.problem !== null)
  const moved = 'https://moved.example.com'
  await service.restart({ env: { SVC_BASE_URL: moved } })
  await smtp.start()
  await clock.turnTo(60_000)
  const { link, htmlLinks } = await smtp.receivedFor(person.email)
  assert.ok(link.startsWith(`${moved}/auth/password/reset?token=`), link)
  assert.ok(htmlLinks.includes(link))
  const { pathname, search } = new URL(link)
  assertPage(await createUserAgent(service).get(pathname + search))
})

test('what was sent is forgotten after seven days, and deleted after thirty', async (t) => {
  const clock = turnedClock()
  const smtp = await startSmtpServer({ t })
  const service = await startService({ t, clock, env: { ...mailEnv(smtp), SVC_CLEANUP_INTERVAL: '50ms' } })
  const outbox = await openOutbox(service, t)
  await outbox.write()
  await outbox.settled('sent')
  await clock.turnTo(7 * DAY - HOUR)
  await eventually('a cleanup', async () => (await outbox.rows())[0]?.recipient !== undefined)
  assert.ok((await outbox.rows())[0]?.recipient)
  await clock.turnTo(7 * DAY + HOUR)
  await eventually('recipient and content are forgotten', async () => {
    const [row] = await outbox.rows()
    return row?.recipient === null && row.content_sealed === null && row.state === 'sent'
  })
  await clock.turnTo(31 * DAY)
  await eventually('the row is deleted', async () => (await outbox.rows()).length === 0)
})

test('at the deletion of an account, what was sent is forgotten, and a notice that waits is still sent', async (t) => {
  const clock = turnedClock()
  const smtp = await startSmtpServer({ t })
  const service = await startService({ t, clock, env: { ...mailEnv(smtp), SVC_EMAIL_VERIFICATION: 'off' } })
  const outbox = await openOutbox(service, t)
  const { person } = await signedUp(service)
  const user = (await outbox.core.users.find(person.email)) ?? assert.fail('the account is there')
  await outbox.write({ userId: user.id })
  const others = await outbox.write()
  await outbox.settled('sent')
  await smtp.stop()
  const waiting = await outbox.write({ userId: user.id, message: sample('account_deleted') })
  await eventually('it was tried', async () => (await outbox.rows())[2]?.problem !== null)
  await outbox.core.users.delete(user.id)
  const states = async () =>
    (await outbox.rows())
      .filter(({ user_id: id, recipient }) => id === user.id || recipient === others)
      .map(({ state, recipient }) => [state, recipient])
  assert.deepEqual((await states()).slice(0, 3), [
    ['sent', null],
    ['sent', others],
    ['waiting', waiting],
  ])
  await smtp.start()
  await clock.turnTo(60_000)
  await smtp.receivedFor(waiting)
  await eventually('its recipient is forgotten', async () => (await states())[2]?.[1] === null)
  assert.equal((await states())[2]?.[0], 'sent')
})
