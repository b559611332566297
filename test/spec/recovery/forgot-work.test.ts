// Runs on SQLite and PostgreSQL.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readEmail } from '../../../src/lib/email-address.ts'
import { createResetLinks } from '../../../src/links/reset-links.ts'
import type { Database, Transaction } from '../../../src/storage/database.ts'
import { newPerson, signedUp } from '../../support/client/accounts.ts'
import { disableUser } from '../../support/service/operator-commands.ts'
import { openOperator } from '../../support/service/replicas.ts'
import { startService } from '../../support/service/service.ts'

const env = { SVC_SMTP_URL: 'smtp://127.0.0.1:9', SVC_MAIL_FROM: 'svc@example.com', SVC_RATE_LIMIT: 'on' }
const service = await startService({ env: { ...env, SVC_EMAIL_VERIFICATION: 'off' } })
const { db, clock, mail, links } = await openOperator(service)

/** A database that notes each statement of its transactions. */
const noting = (statements: string[]): Pick<Database, 'inTransaction'> => ({
  inTransaction: (work) =>
    db.inTransaction((transaction) => {
      const noted = new Proxy(transaction, {
        get: (target, name: keyof Transaction) => {
          if (name === 'afterCommit') return target.afterCommit.bind(target)
          return (sql: string, ...values: (string | number | null)[]) => {
            statements.push(sql)
            return target[name](sql, ...values)
          }
        },
      })
      return work(noted)
    }),
})

const statementsFor = async (address: string): Promise<string[]> => {
  const statements: string[] = []
  const { issued, limits } = links
  const deps = {
    clock,
    mail,
    issued,
    limits,
    lifetimes: { resetMs: 3_600_000, verifyMs: 0, inviteMs: 0 },
    recordEvent: () => assert.fail('recorded'),
  }
  const { ask } = createResetLinks({ ...deps, db: { ...db, ...noting(statements) } })
  const email = readEmail(address) ?? assert.fail()
  await ask({ email, returnTo: '/', browser: 'x', userAgent: '', network: '127.0.0.1' })
  // How full the outbox is, is asked now and then, whatever the address.
  return statements.filter((sql) => !sql.includes('open_count'))
}

test('a request for a link does the same work for every address, and looks up no account', async () => {
  const { person } = await signedUp(service)
  const { person: disabled } = await signedUp(service)
  await disableUser(service, disabled.email)
  const unknown = await statementsFor(newPerson().email)
  assert.ok(unknown.some((sql) => sql.includes('INSERT INTO mail_messages')))
  assert.ok(unknown.some((sql) => sql.includes('INSERT INTO counters')))
  assert.ok(!unknown.some((sql) => /\b(?:users|identities|sessions|links)\b/.test(sql)), unknown.join('\n'))
  assert.deepEqual(await statementsFor(person.email), unknown)
  assert.deepEqual(await statementsFor(disabled.email), unknown)
})
