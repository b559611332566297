// Runs on SQLite and PostgreSQL.
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { createRootSecret } from '../../src/lib/derived-keys.ts'
import { systemClock as clock } from '../../src/lib/time.ts'
import { createAccountKey } from '../../src/limits/account-key.ts'
import { createLimits } from '../../src/limits/limits.ts'
import { createMailLimits } from '../../src/links/mail-limits.ts'
import { createCodeLimits } from '../../src/second-factor/code-limits.ts'
import { deleteExcessCounters } from '../../src/storage/counters.ts'
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
  await mailLimits.mayAsk(db, { purpose: 'reset', emailLower, network, userId: 'user' })
  await mailLimits.mayMailUnverified(db, 'reset', emailLower)
  for (let times = 0; times < 2; times += 1) await mailLimits.mayNotifyUnverified(db, 'username_changed', emailLower)
  await mailLimits.mayNotifyOfBrowser(db, emailLower)
  await mailLimits.mayTellOfLoginLimit(db, emailLower)
  const codes = createCodeLimits({ db, clock, enabled: true })
  const place = { kind: 'login', network, knownBrowser: undefined } as const
  for (const isRecoveryCode of [true, false]) await codes.count({ userId: 'user', place, isRecoveryCode })
  await codes.count({ userId: 'user', place: { ...place, knownBrowser: 'browser' }, isRecoveryCode: false })
}

const ids = async (): Promise<string[]> =>
  (await db.all<{ id: string }>('SELECT id FROM counters ORDER BY id')).map(({ id }) => id)

test('no row names an email, and each email has one name', async () => {
  await countEverything()
  const rows = await ids()
  for (const kind of ['address', 'unverifiedAddress', 'notice', 'noticeOfKind', 'newBrowser', 'loginLimit'])
    assert.ok(
      rows.some((id) => id.startsWith(`mail ${kind} `)),
      kind,
    )
  assert.deepEqual(
    rows.filter((id) => /@|stranger|example/.test(id)),
    [],
  )
  assert.equal(await mailLimits.mayTellOfLoginLimit(db, `another.${emailLower}`), true)
  assert.equal(await mailLimits.mayTellOfLoginLimit(db, emailLower), false)
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
