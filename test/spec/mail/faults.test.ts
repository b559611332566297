// Runs on SQLite and PostgreSQL.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { signedUp } from '../../support/client/accounts.ts'
import { createUserAgent } from '../../support/client/user-agent.ts'
import { turnedProcessClock } from '../../support/clock/turned-process-clock.ts'
import { mailEnv, openOutbox } from '../../support/mail/outbox.ts'
import { startSmtpServer } from '../../support/network/smtp-server.ts'
import { startReplicaProcesses } from '../../support/service/replicas.ts'
import { startService } from '../../support/service/service.ts'
import { startServiceProcess } from '../../support/service/service-process.ts'
import { eventually } from '../../support/wait.ts'

const addressesOf = (mails: readonly { to: string }[]) => mails.map(({ to }) => to).toSorted()

const YEAR_MS = 365 * 24 * 3_600_000

describe('mail when a part fails', { concurrency: 2 }, () => {
  test('kill -9 between commit and sending: the message goes out after the next start', async (t) => {
    const smtp = await startSmtpServer({ t })
    await smtp.stop()
    const service = await startServiceProcess({ t, env: { ...mailEnv(smtp), SVC_EMAIL_VERIFICATION: 'off' } })
    const outbox = await openOutbox(service, t)
    await service.kill()
    const to = await outbox.write()
    await smtp.start()
    await service.restart()
    await smtp.receivedFor(to)
    await outbox.settled('sent')
    assert.equal(smtp.mails.length, 1)
  })

  test('kill -9 while it sends: its lease ends, and another process sends the message again', async (t) => {
    const clock = turnedProcessClock(t)
    const smtp = await startSmtpServer({ t })
    smtp.failAt('data', 'silence')
    const service = await startServiceProcess({ t, env: { ...mailEnv(smtp), ...clock.env } })
    const outbox = await openOutbox(service, t)
    const to = await outbox.write()
    await eventually('it is being sent', () => smtp.connections().open === 1)
    await service.kill()
    smtp.mend()
    await service.restart()
    assert.equal((await outbox.rows())[0]?.state, 'waiting')
    await clock.turnTo(60_000)
    const mail = await smtp.receivedFor(to)
    await outbox.settled('sent')
    const [row] = await outbox.rows()
    assert.equal(Number(row?.attempts), 2)
    assert.deepEqual(mail.headers('message-id'), [`<${String(row?.id)}@app.example.com>`])
  })

  test('kill -9 while it sends with a clock that is a year ahead: other messages go out after the next start', async (t) => {
    const clock = turnedProcessClock(t)
    const smtp = await startSmtpServer({ t })
    smtp.failAt('data', 'silence')
    const service = await startServiceProcess({ t, env: { ...mailEnv(smtp), ...clock.env } })
    const outbox = await openOutbox(service, t)
    clock.setWallClockTo(YEAR_MS)
    await outbox.write({ expiresAtMs: Date.now() + 2 * YEAR_MS })
    await eventually('it is being sent', () => smtp.connections().open === 1)
    await service.kill()
    smtp.mend()
    await clock.turnTo(60_000)
    await service.restart()
    await smtp.receivedFor(await outbox.write())
  })

  test('a stop cuts off a server that hangs, and the next start sends at once', async (t) => {
    const smtp = await startSmtpServer({ t })
    smtp.failAt('greeting', 'silence')
    const service = await startService({ t, env: { ...mailEnv(smtp), SVC_MAIL_TIMEOUT: '1m' } })
    const outbox = await openOutbox(service, t)
    const to = await outbox.write()
    await eventually('it is being sent', () => smtp.connections().open === 1)
    await service.stop()
    const [row] = await outbox.rows()
    assert.deepEqual([row?.state, row?.problem], ['waiting', 'cut off as the service stopped'])
    assert.ok(Number(row?.next_attempt_at) <= Date.now(), 'it is due at once')
    assert.equal(smtp.connections().open, 0)
    smtp.mend()
    await service.restart()
    await smtp.receivedFor(to)
  })

  test('no request waits for a server that hangs', async (t) => {
    const smtp = await startSmtpServer({ t })
    smtp.failAt('greeting', 'silence')
    const service = await startService({ t, env: { ...mailEnv(smtp), SVC_MAIL_TIMEOUT: '1m' } })
    const outbox = await openOutbox(service, t)
    await outbox.write()
    await eventually('it is being sent', () => smtp.connections().open === 1)
    await signedUp(service)
    assert.equal((await createUserAgent(service).get('/auth/ready')).status, 200)
    const [row] = await outbox.rows()
    assert.deepEqual([Number(row?.attempts), smtp.connections().open], [1, 1], 'the first attempt still hangs')
  })

  test('two replicas send each message once, one at a time, and one goes on when the other is killed', async (t) => {
    const clock = turnedProcessClock(t)
    const smtp = await startSmtpServer({ t })
    const [one, other] = await startReplicaProcesses({ t, env: { ...mailEnv(smtp), ...clock.env } })
    const outbox = await openOutbox(one, t)
    const write = (count: number) => Promise.all(Array.from({ length: count }, () => outbox.write()))
    const written = await write(80)
    await smtp.received(80)
    await outbox.settled('sent')
    assert.deepEqual(addressesOf(smtp.mails), written.toSorted())
    assert.equal(smtp.atOnce(), 1)

    await one.kill()
    const later = await write(20)
    await clock.turnTo(60_000)
    await smtp.received(100)
    assert.deepEqual(addressesOf(smtp.mails), [...written, ...later].toSorted())
    assert.equal((await createUserAgent(other).get('/auth/ready')).status, 200)
  })
})
