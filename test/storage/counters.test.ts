// Runs on SQLite and PostgreSQL.
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { createRootSecret } from '../../src/lib/derived-keys.ts'
import { systemClock as clock } from '../../src/lib/time.ts'
import { createAccountKey } from '../../src/limits/counter.ts'
import { deleteExcessCounters } from '../../src/limits/counter-store.ts'
import type { AnyLimit } from '../../src/limits/limit-table.ts'
import { createLimits } from '../../src/limits/limits.ts'
import { createMailLimits } from '../../src/links/mail-limits.ts'
import { createCodeLimits } from '../../src/second-factor/code-limits.ts'
import { freshDatabase } from './databases.ts'

const { db } = await freshDatabase()
const rootSecret = createRootSecret({ current: randomBytes(32) })
const mailLimits = createMailLimits({ clock, enabled: true, accountOf: createAccountKey(rootSecret) })

const emailLower = 'stranger@example.net'
const network = '198.51.100.1'

/** Counts once wherever svc counts something. */
const countEverything = async (): Promise<void> => {
  const limits = createLimits({ db, clock, rootSecret, enabled: true })
  await limits.attemptLogin({ emailLower, deviceHash: '', network }, async () => {})
  await db.inTransaction(async (transaction) => {
    await mailLimits.mayAsk(transaction, { purpose: 'reset', emailLower, network, userId: 'user' })
    await mailLimits.mayMailUnverified(transaction, 'reset', emailLower)
    for (let times = 0; times < 2; times += 1)
      await mailLimits.mayNotifyUnverified(transaction, 'username_changed', emailLower)
    await mailLimits.mayNotifyOfBrowser(transaction, emailLower)
    await mailLimits.mayTellOfLoginLimit(transaction, emailLower)
  })
  const codes = createCodeLimits({ db, clock, enabled: true })
  const place = { kind: 'login', network, knownBrowser: undefined } as const
  for (const isRecoveryCode of [true, false]) await codes.count({ userId: 'user', place, isRecoveryCode })
  await codes.count({ userId: 'user', place: { ...place, knownBrowser: 'browser' }, isRecoveryCode: false })
}

const mayTell = (email: string): Promise<boolean> =>
  db.inTransaction((transaction) => mailLimits.mayTellOfLoginLimit(transaction, email))

const ids = async (): Promise<string[]> =>
  (await db.all<{ id: string }>('SELECT id FROM counters ORDER BY id')).map(({ id }) => id)

test('no row names an email, and each email has one name', async () => {
  await countEverything()
  const rows = await ids()
  const limits = [
    'mailToAddress',
    'mailToUnverified',
    'notice',
    'noticeOfKind',
    'newBrowserNotice',
    'loginLimitNotice',
  ] satisfies AnyLimit[]
  for (const limit of limits)
    assert.ok(
      rows.some((id) => id.startsWith(`${limit} `)),
      limit,
    )
  assert.deepEqual(
    rows.filter((id) => /@|stranger|example/.test(id)),
    [],
  )
  assert.equal(await mayTell(`another.${emailLower}`), true)
  assert.equal(await mayTell(emailLower), false)
})

test('when the table is full, every row of a network goes before any of an account', async () => {
  await countEverything()
  const rows = await ids()
  const ofNetwork = rows.filter((id) => id.includes(network))
  assert.equal(ofNetwork.length, 5, rows.join('\n'))
  const ofAccount = rows.filter((id) => !id.includes(network))
  assert.equal(await deleteExcessCounters(db, ofAccount.length), ofNetwork.length)
  assert.deepEqual(await ids(), ofAccount)
})
