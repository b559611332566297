// Runs on SQLite.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, test } from 'node:test'
import { newPerson, signedUp } from '../../support/client/accounts.ts'
import { createUserAgent } from '../../support/client/user-agent.ts'
import { mailEnv, openOutbox, sample } from '../../support/mail/outbox.ts'
import { startSmtpServer } from '../../support/network/smtp-server.ts'
import { askForLink, resetMailFor, resetMails } from '../../support/recovery/reset.ts'
import { startMeteredService } from '../../support/service/metrics.ts'
import { startService } from '../../support/service/service.ts'
import { eventually } from '../../support/wait.ts'

const HOUR = 3_600_000
const withoutVerification = { SVC_EMAIL_VERIFICATION: 'off' }

describe('a request for a message', { concurrency: 2 }, () => {
  test('becomes a message where there is an account, and leaves nothing behind where there is none', async (t) => {
    const smtp = await startSmtpServer({ t })
    const service = await startService({ t, env: { ...smtp.env, ...withoutVerification } })
    const outbox = await openOutbox(service, t)
    const { person } = await signedUp(service)
    const nobody = newPerson()
    const agent = createUserAgent(service)
    for (const { email } of [person, nobody]) assert.equal((await askForLink(agent, email)).status, 200)
    await resetMailFor(smtp, person.email)
    await outbox.settled('sent')
    assert.deepEqual(resetMails(smtp, nobody.email), [])
    assert.deepEqual(
      (await outbox.rows()).map(({ recipient }) => recipient),
      [person.email],
      'the outbox has forgotten the other address',
    )
  })

  test('is refused, with the same page, while 10,000 messages wait; what happened to an account is still told', async (t) => {
    const smtp = await startSmtpServer({ t })
    const service = await startService({ t, env: { ...smtp.env, ...withoutVerification } })
    const outbox = await openOutbox(service, t)
    const { person } = await signedUp(service)
    const agent = createUserAgent(service)
    const before = await askForLink(agent, person.email)
    await resetMailFor(smtp, person.email)
    await outbox.settled('sent')
    const later = Date.now() + HOUR
    const rows = Array.from(
      { length: 10_000 },
      () => `('${randomUUID()}', 'reset', 'waiting', 0, ${later}, 0, ${later})`,
    )
    await outbox.database.rows(
      `INSERT INTO mail_messages (id, purpose, state, created_at, expires_at, attempts, next_attempt_at)
       VALUES ${rows.join(', ')}`,
    )
    const countOpen = async () =>
      Number((await outbox.database.rows('SELECT COUNT(*) AS n FROM mail_messages WHERE closed_at IS NULL'))[0]?.n)
    // They are counted once a second.
    await eventually('the outbox is full', async () => {
      const answer = await askForLink(agent, person.email)
      assert.deepEqual([answer.status, answer.text.length], [before.status, before.text.length])
      return service.logs().includes('mail outbox is full')
    })
    await eventually('what came before that is sent', async () => (await countOpen()) === 10_000)
    await askForLink(agent, person.email)
    assert.equal(await countOpen(), 10_000)
    await smtp.receivedFor(await outbox.write({ message: sample('account_deleted') }))
  })
})

test('a message that svc cannot write is given up, and holds up no other', async (t) => {
  const smtp = await startSmtpServer({ t })
  const service = await startService({ t, env: mailEnv(smtp) })
  const outbox = await openOutbox(service, t)
  const message = { ...sample('reset'), url: 'https://[' }
  await outbox.write({ message: message as ReturnType<typeof sample> })
  const to = await outbox.write()
  await smtp.receivedFor(to)
  await outbox.settled('sent', 'failed')
  const [failed] = await outbox.rows()
  assert.deepEqual([failed?.state, failed?.problem], ['failed', 'svc cannot write this message'])
  const line = service.logLines().find(({ message: text }) => text === 'mail failed')
  assert.equal((line?.err as { type?: string } | undefined)?.type, 'TypeError')
})

test('metrics count what became of messages, and say how long the oldest has been due', async (t) => {
  const smtp = await startSmtpServer({ t })
  const service = await startMeteredService({ t, env: mailEnv(smtp) })
  const outbox = await openOutbox(service, t)
  const count = async (outcome: string) => (await service.scrape()).value('svc_mail_messages_total', { outcome })
  assert.equal(await count('sent'), 0)
  await outbox.write()
  await eventually('one was sent', async () => (await count('sent')) === 1)
  const idle = await service.scrape()
  assert.deepEqual([idle.value('svc_mail_messages_open'), idle.value('svc_mail_oldest_due_seconds')], [0, 0])
  await outbox.write({ linkId: 'gone' })
  await eventually('one was dropped', async () => (await count('dropped')) === 1)
  smtp.failAt('mail', 550)
  await outbox.write()
  await eventually('one has failed', async () => (await count('failed')) === 1)
  await smtp.stop()
  await outbox.write()
  await eventually('one is tried again', async () => (await count('retried')) === 1)
  assert.equal((await service.scrape()).value('svc_mail_messages_open'), 1)
})
