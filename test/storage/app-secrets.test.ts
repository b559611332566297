// Runs on SQLite and PostgreSQL.
import assert from 'node:assert/strict'
import { randomBytes, randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { readConfig } from '../../src/config/config.ts'
import { type Core, createCore } from '../../src/core.ts'
import { createRootSecret, type SecretPair } from '../../src/lib/derived-keys.ts'
import { createLog } from '../../src/lib/log.ts'
import type { Database } from '../../src/storage/database.ts'
import { newPerson } from '../support/client/accounts.ts'
import { turnedClock } from '../support/clock/turned-clock.ts'
import { codeAt } from '../support/second-factor/authenticator-app.ts'
import { freshDatabase } from './databases.ts'

const MINUTE_MS = 60_000

const log = createLog('silent', { write: () => {} })
const config = readConfig({}, () => '')
const hashCost = { memoryCost: 8, timeCost: 1, parallelism: 1 }
const [first, second, third] = [1, 2, 3].map(() => randomBytes(32)) as [Buffer, Buffer, Buffer]

const clock = turnedClock()
const pass = (ms: number) => clock.turnTo(clock.aheadMs() + ms)

/** A process that knows these secrets; `readAgain` is what it finds in their files afterwards. */
const processWith = async (db: Database, pair: SecretPair, readAgain?: () => SecretPair | undefined): Promise<Core> => {
  const core = createCore({ config, log, db, rootSecret: createRootSecret(pair, readAgain), clock, hashCost })
  await core.signingKeys.prepare()
  return core
}

const setUpApp = async ({ db, users, secondFactors }: Core) => {
  const { id: userId } = await users.create(newPerson())
  const owner = { userId, boundTo: 'sign-in' }
  const { secret, sealed } = await secondFactors.beginSetUp(owner, 'user@example.com')
  const { apply } = await secondFactors.checkSetUp(owner, { sealed, code: codeAt(secret, clock.now()) })
  await db.inTransaction((transaction) => apply(transaction, {}))
  return { userId, secret }
}

type App = Awaited<ReturnType<typeof setUpApp>>

const accepts = async ({ secondFactors }: Core, { userId, secret }: App): Promise<boolean> => {
  const place = { kind: 'login', network: randomUUID(), knownBrowser: undefined } as const
  const code = codeAt(secret, clock.now())
  const checked = await secondFactors.checkCode({ userId, code, place }).catch((error: Error) => error)
  return 'proof' in checked
}

test('secrets are readable with the previous root secret, and with the current one alone once they are sealed again', async (t) => {
  const { db } = await freshDatabase(t)
  const app = await setUpApp(await processWith(db, { current: first }))
  await pass(MINUTE_MS)
  const core = await processWith(db, { current: second, previous: first })
  assert.ok(await accepts(core, app))
  assert.equal((await core.secretRotation.status()).apps, 1)
  assert.equal(await core.secretRotation.reseal(), 1)
  assert.equal((await core.secretRotation.status()).apps, 0)
  const later = await processWith(db, { current: second })
  assert.equal(await later.secretRotation.reseal(), 0)
  assert.ok(await accepts(later, app))
})

test('a secret does not open for another user', async (t) => {
  const { db } = await freshDatabase(t)
  const core = await processWith(db, { current: first })
  const [app, other] = [await setUpApp(core), await setUpApp(core)]
  await pass(MINUTE_MS)
  const sql = `UPDATE one_time_codes SET secret_sealed =
    (SELECT secret_sealed FROM one_time_codes WHERE user_id = ?) WHERE user_id = ?`
  await db.run(sql, app.userId, other.userId)
  assert.ok(await accepts(core, app))
  assert.ok(!(await accepts(core, { ...app, userId: other.userId })))
})

test('a rotation seals every secret again, and those that an interrupted one has left before it overwrites theirs', async (t) => {
  const { db } = await freshDatabase(t)
  const old = await processWith(db, { current: first })
  const apps = [await setUpApp(old), await setUpApp(old)]
  await pass(2 * MINUTE_MS)
  // As after a kill between the change of the files and the end: all is under the previous secret but the keys.
  let files: SecretPair = { current: second, previous: first }
  let isRead = true
  const readAgain = () => {
    if (isRead) return undefined
    isRead = true
    return files
  }
  const core = await processWith(db, files, readAgain)
  await pass(2 * MINUTE_MS)
  const change = () => {
    files = { current: third, previous: second }
    isRead = false
  }
  const { apps: left } = await core.secretRotation.rotate(change, { isForced: true })
  assert.equal(left, 0)
  const later = await processWith(db, { current: third })
  for (const app of apps) assert.ok(await accepts(later, app))
})

test('what a service that does not know the last rotation has sealed in between stops the next one', async (t) => {
  const { db } = await freshDatabase(t)
  const stale = await processWith(db, { current: first })
  await pass(2 * MINUTE_MS)
  const core = await processWith(db, { current: second, previous: first })
  await pass(2 * MINUTE_MS)
  const { inTransaction } = db
  // The first prepares the keys. Between the two is the pass over all secrets; the second changes the root secret.
  let transactions = 0
  const interrupted: Database = {
    ...db,
    async inTransaction(work) {
      transactions += 1
      if (transactions === 2) await setUpApp(stale)
      return inTransaction(work)
    },
  }
  const rotating = await processWith(interrupted, { current: second, previous: first })
  transactions = 0
  await assert.rejects(
    rotating.secretRotation.rotate(() => assert.fail('the root secret is changed'), { isForced: true }),
    /less than a minute ago/,
  )
  assert.equal(transactions, 2)
  assert.equal((await core.secretRotation.status()).apps, 1)
})

test('thousands of secrets are sealed again in batches', async (t) => {
  const { db } = await freshDatabase(t)
  const old = await processWith(db, { current: first })
  const app = await setUpApp(old)
  const copies = Array.from({ length: 401 }, () => randomUUID())
  await db.inTransaction(async (transaction) => {
    for (const id of copies) {
      await transaction.run(
        `INSERT INTO users (id, email, email_lower, username, roles, disabled, created_at, updated_at, self_made, position)
         SELECT ?, ?, ?, ?, roles, disabled, created_at, updated_at, self_made, ? FROM users WHERE id = ?`,
        id,
        id,
        id,
        id,
        copies.indexOf(id) + 1_000_000,
        app.userId,
      )
      await transaction.run(
        `INSERT INTO one_time_codes (user_id, secret_sealed, created_at, last_used_step, wrong_in_a_row)
         SELECT ?, secret_sealed, created_at, 0, 0 FROM one_time_codes WHERE user_id = ?`,
        id,
        app.userId,
      )
    }
  })
  const core = await processWith(db, { current: second, previous: first })
  // The copies are sealed for another user: nothing opens them, and nothing changes them.
  assert.equal((await core.secretRotation.status()).apps, 1)
  assert.equal(await core.secretRotation.reseal(), 1)
  assert.equal((await core.secretRotation.status()).apps, 0)
})
