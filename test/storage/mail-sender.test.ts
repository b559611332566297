// Runs on SQLite and PostgreSQL.
import { createLanguages } from '../../src/languages/languages.ts'
import assert from 'node:assert/strict'
import { randomBytes, randomUUID } from 'node:crypto'
import { type TestContext, test } from 'node:test'
import { readSmtpUrl } from '../../src/config/mail-parsers.ts'
import { AppError } from '../../src/lib/errors.ts'
import { createRootSecret } from '../../src/lib/derived-keys.ts'
import { createLog } from '../../src/lib/log.ts'
import { type Clock, systemClock } from '../../src/lib/time.ts'
import { createMail, type Mail, type MailRequest, type OutgoingMessage } from '../../src/mail/mail.ts'
import { mailOutbox } from '../../src/mail/outbox-store.ts'
import type { Database, Transaction } from '../../src/storage/database.ts'
import { MAIL_BASE_URL } from '../../src/preview/messages.ts'
import { sample } from '../support/mail/outbox.ts'
import { type SmtpServer, startSmtpServer } from '../support/network/smtp-server.ts'
import { eventually } from '../support/wait.ts'
import { freshDatabase, testOnPostgres } from './databases.ts'

const HOUR = 3_600_000
const branding = { appName: 'Example', accentColor: '#0f6b5c', baseUrl: MAIL_BASE_URL, passwords: true }
const from = { name: undefined, address: 'svc@example.com' }
const rootSecret = createRootSecret({ current: randomBytes(32) })

type Process = {
  db: Database
  smtp: SmtpServer
  prepare: (transaction: Transaction, request: MailRequest) => Promise<OutgoingMessage | undefined>
  clock?: Clock
  secret?: typeof rootSecret
}

const startMail = async ({ db, smtp, prepare, clock = systemClock, secret = rootSecret }: Process, t: TestContext) => {
  let logs = ''
  const server = readSmtpUrl(smtp.url)
  assert.ok(server)
  const mail = createMail({
    db,
    clock,
    log: createLog('info', { write: (line) => (logs += line) }),
    rootSecret: secret,
    settings: { server, from, timeoutMs: 10_000, branding, languages: createLanguages() },
    prepare,
    isLinkLive: async () => true,
    recordEvent: async () => {},
  })
  await mail.start()
  t.after(() => mail.stop(0))
  return Object.assign(mail, { logs: () => logs })
}

const request = (db: Database, mail: Mail, to = `${randomUUID()}@example.com`): Promise<string> =>
  db.inTransaction(async (transaction) => {
    await mail.request(transaction, { purpose: 'reset', to, details: {}, expiresAtMs: Date.now() + HOUR })
    return to
  })

const answer = async (_: Transaction, { to, expiresAtMs }: MailRequest): Promise<OutgoingMessage> => ({
  to,
  userId: undefined,
  message: sample('reset'),
  expiresAtMs,
})

test('a request that cannot be looked up is tried again later, and holds up no other message', async (t) => {
  const { db } = await freshDatabase(t)
  const smtp = await startSmtpServer({ t })
  let aheadMs = 0
  const clock = { now: () => Date.now() + aheadMs }
  let isBroken = true
  const prepare: Process['prepare'] = async (transaction, asked) => {
    if (isBroken && asked.to.startsWith('broken')) throw new TypeError('a mistake of svc')
    if (isBroken && asked.to.startsWith('refused')) throw new AppError('conflict', 'A rule of svc.')
    return answer(transaction, asked)
  }
  const mail = await startMail({ db, smtp, prepare, clock }, t)
  const broken = await request(db, mail, 'broken@example.com')
  const refused = await request(db, mail, 'refused@example.com')
  await smtp.receivedFor(await request(db, mail))
  assert.match(mail.logs(), /"message":"mail cannot be handled"/)
  assert.match(mail.logs(), /a mistake of svc/)
  isBroken = false
  aheadMs = 60_000
  await Promise.all([smtp.receivedFor(broken), smtp.receivedFor(refused)])
})

testOnPostgres('a process whose clock is a hundred days ahead drops no message', async (t) => {
  const { db } = await freshDatabase(t)
  const smtp = await startSmtpServer({ t })
  const clock = { now: () => Date.now() + 2400 * HOUR }
  const mail = await startMail({ db, smtp, prepare: answer, clock }, t)
  await smtp.receivedFor(await request(db, mail))
})

test('two processes make one message of each request', async (t) => {
  const { db, open } = await freshDatabase(t)
  const other = await open()
  const smtp = await startSmtpServer({ t })
  const looked: string[] = []
  const prepare: Process['prepare'] = async (transaction, asked) => {
    looked.push(asked.to)
    return answer(transaction, asked)
  }
  const mails = [await startMail({ db, smtp, prepare }, t), await startMail({ db: other, smtp, prepare }, t)]
  const asked = await Promise.all(
    Array.from({ length: 40 }, (_, index) => request(db, mails[index % 2] ?? assert.fail())),
  )
  await smtp.received(40)
  await eventually('all are recorded', async () =>
    (await mailOutbox.findLatest(db, 100)).every(({ state }) => state === 'sent'),
  )
  assert.deepEqual(smtp.mails.map(({ to }) => to).toSorted(), asked.toSorted())
  assert.deepEqual(looked.toSorted(), asked.toSorted())
  assert.equal(smtp.atOnce(), 1)
})

test('a message of the previous root secret is sent, one of a secret that is gone is given up', async (t) => {
  const { db } = await freshDatabase(t)
  const smtp = await startSmtpServer({ t })
  const [current, previous] = [randomBytes(32), randomBytes(32)]
  const write = async (secret: typeof rootSecret, to: string) => {
    const mail = await startMail({ db, smtp, prepare: answer, secret }, t)
    await mail.stop(0)
    await db.inTransaction((transaction) =>
      mail.write(transaction, { to, userId: undefined, message: sample('reset'), expiresAtMs: Date.now() + HOUR }),
    )
  }
  await write(createRootSecret({ current: randomBytes(32) }), 'lost@example.com')
  await write(createRootSecret({ current: previous }), 'kept@example.com')
  await startMail({ db, smtp, prepare: answer, secret: createRootSecret({ current, previous }) }, t)
  await smtp.receivedFor('kept@example.com')
  const stateOf = async (address: string) =>
    (await mailOutbox.findLatest(db, 10)).find(({ recipient }) => recipient === address)?.state
  await eventually('it is recorded', async () => (await stateOf('kept@example.com')) === 'sent')
  assert.equal(await stateOf('lost@example.com'), 'failed')
})
