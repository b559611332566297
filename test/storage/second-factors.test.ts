// Runs on SQLite and PostgreSQL.
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { describe, test } from 'node:test'
import { readConfig } from '../../src/config/config.ts'
import { type Core, createCore } from '../../src/core.ts'
import { createRootSecret } from '../../src/lib/derived-keys.ts'
import { AppError } from '../../src/lib/errors.ts'
import { createLog } from '../../src/lib/log.ts'
import { deleteCodesSince } from '../../src/second-factor/second-factor-store.ts'
import { forgetWrongCodes } from '../../src/second-factor/wrong-code-store.ts'
import type { CodePlace } from '../../src/second-factor/second-factors.ts'
import type { Database } from '../../src/storage/database.ts'
import { newPerson } from '../support/client/accounts.ts'
import { turnedClock } from '../support/clock/turned-clock.ts'
import { codeAt, wrongCodeAt } from '../support/second-factor/authenticator-app.ts'
import { freshDatabase } from './databases.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS

const { db, open } = await freshDatabase()
const clock = turnedClock()
const log = createLog('silent', { write: () => {} })
const rootSecret = createRootSecret({ current: randomBytes(32) })
const hashCost = { memoryCost: 8, timeCost: 1, parallelism: 1 }
const config = readConfig({}, () => '')
const coreOn = (database: Database): Core => createCore({ config, log, db: database, rootSecret, clock, hashCost })

/** Two replicas. */
const core = coreOn(db)
const replica = coreOn(await open())
await core.signingKeys.prepare()

/** Counts go by the time of the database's server, where there is one. */
const pass = async (ms: number): Promise<void> => {
  await clock.turnTo(clock.aheadMs() + ms)
  await db.run('UPDATE counters SET ends_at = ends_at - ? WHERE server_time() IS NOT NULL', ms)
}

const withoutApp = async (): Promise<string> => (await core.users.create(newPerson())).id

/** A user with an app, and with ten recovery codes. */
const withApp = async () => {
  const userId = await withoutApp()
  const owner = { userId, boundTo: 'sign-in' }
  const beforeMs = clock.now()
  const { secret, sealed } = await core.secondFactors.beginSetUp(owner, 'user@example.com')
  const code = codeAt(secret, clock.now())
  const { recoveryCodes = [], apply } = await core.secondFactors.checkSetUp(owner, { sealed, code })
  await db.inTransaction((transaction) => apply(transaction, {}))
  return { userId, secret, code, recoveryCodes, beforeMs, afterMs: clock.now() + 1 }
}

let networks = 0
/** A login from another network than any other, in a browser that the account does not know. */
const elsewhere = (): CodePlace => {
  networks += 1
  return { kind: 'login', network: `198.51.100.${networks}`, knownBrowser: undefined }
}

/** The same on the page of a link. */
const onLink = (network?: string): CodePlace => {
  networks += 1
  return { kind: 'link', network: network ?? `198.51.100.${networks}`, knownBrowser: undefined }
}

/** The reason of the refusal, or the factor of a right code. */
const tryCode = async (given: { userId: string; code: string; place: CodePlace; madeBeforeMs?: number }, by = core) => {
  try {
    return (await by.secondFactors.checkCode(given)).proof
  } catch (error) {
    if (error instanceof AppError) return error.reason
    throw error
  }
}

/** Enters a code, and uses it up. */
const use = async (given: { userId: string; code: string; place: CodePlace }, by = core): Promise<void> => {
  const { apply } = await by.secondFactors.checkCode(given)
  await by.db.inTransaction(apply)
}

const tally = (results: (string | undefined)[]) =>
  Object.fromEntries([...Map.groupBy(results, String)].map(([result, all]) => [result, all.length]))

describe('a code is used once', () => {
  test('one of many requests at once uses it, and afterwards it is wrong', async () => {
    const { userId, secret } = await withApp()
    await pass(MINUTE_MS)
    const entered = { userId, code: codeAt(secret, clock.now()), place: elsewhere() }
    const all = [1, 2, 3, 4].map((number) => use({ ...entered, place: elsewhere() }, number % 2 ? core : replica))
    const results = await Promise.allSettled(all)
    assert.equal(results.filter(({ status }) => status === 'fulfilled').length, 1)
    assert.equal(await tryCode(entered), 'code_wrong')
  })

  test('that which confirmed the set-up is used up, and so is every earlier one', async () => {
    const { userId, secret, code: first } = await withApp()
    for (const code of [first, codeAt(secret, clock.now() - 30_000)])
      assert.equal(await tryCode({ userId, code, place: elsewhere() }), 'code_wrong')
    await use({ userId, code: codeAt(secret, clock.now() + 30_000), place: elsewhere() })
  })

  test('with a clock that is off by 29 seconds it is right, by 61 wrong', async () => {
    const { userId, secret } = await withApp()
    for (const [offMs, result] of [
      [61_000, 'code_wrong'],
      [-61_000, 'code_wrong'],
      [29_000, 'one_time_code'],
      [-29_000, 'one_time_code'],
    ] as const) {
      await pass(5 * MINUTE_MS)
      assert.equal(await tryCode({ userId, code: codeAt(secret, clock.now() + offMs), place: elsewhere() }), result)
    }
  })

  test('a recovery code too, by one of many requests, however it is typed', async () => {
    const { userId, recoveryCodes } = await withApp()
    const [first = '', second = ''] = recoveryCodes
    const place = elsewhere()
    const results = await Promise.allSettled(
      [1, 2, 3].map((number) => use({ userId, code: first.toUpperCase(), place }, number % 2 ? core : replica)),
    )
    assert.equal(results.filter(({ status }) => status === 'fulfilled').length, 1)
    assert.equal(await tryCode({ userId, code: first, place }), 'code_wrong')
    await use({ userId, code: second.replaceAll('-', ' '), place })
    assert.equal((await core.secondFactors.find(userId)).recoveryCodes, 8)
  })

  test('neither is good for another user', async () => {
    const { recoveryCodes, secret } = await withApp()
    const { userId } = await withApp()
    await pass(MINUTE_MS)
    for (const code of [recoveryCodes[0] ?? '', codeAt(secret, clock.now())])
      assert.equal(await tryCode({ userId, code, place: elsewhere() }), 'code_wrong')
  })
})

describe('wrong codes', () => {
  test('five in fifteen minutes for account and network, however many come at once, at whatever replica', async () => {
    const { userId, secret } = await withApp()
    await pass(MINUTE_MS)
    const place = elsewhere()
    const code = wrongCodeAt(secret, clock.now())
    const tries = Array.from({ length: 40 }, (_, index) => tryCode({ userId, code, place }, index % 2 ? core : replica))
    assert.deepEqual(tally(await Promise.all(tries)), { code_wrong: 5, codes_limited: 35 })
    const right = { userId, code: codeAt(secret, clock.now()) }
    assert.equal(await tryCode({ ...right, place }), 'codes_limited')
    assert.equal(await tryCode({ ...right, place: elsewhere() }), 'one_time_code')
    await pass(15 * MINUTE_MS)
    assert.equal(await tryCode({ userId, code: codeAt(secret, clock.now()), place }), 'one_time_code')
  })

  test('right ones do not count, and give nobody more tries', async () => {
    const { userId, secret } = await withApp()
    await pass(MINUTE_MS)
    const place = elsewhere()
    const wrong = { userId, code: wrongCodeAt(secret, clock.now()), place }
    for (let count = 0; count < 4; count += 1) {
      assert.equal(await tryCode(wrong), 'code_wrong')
      assert.equal(await tryCode({ userId, code: codeAt(secret, clock.now()), place }), 'one_time_code')
    }
    assert.equal(await tryCode(wrong), 'code_wrong')
    assert.equal(await tryCode(wrong), 'codes_limited')
  })

  test('known browsers, sessions and recovery codes have counts of their own', async () => {
    const { userId, secret, recoveryCodes } = await withApp()
    await pass(MINUTE_MS)
    const network = '203.0.113.9'
    const places: CodePlace[] = [
      { kind: 'login', network, knownBrowser: undefined },
      { kind: 'login', network, knownBrowser: 'first' },
      { kind: 'login', network, knownBrowser: 'second' },
      { kind: 'reauthentication', network, sessionId: 'session' },
    ]
    for (const place of places) {
      const code = wrongCodeAt(secret, clock.now())
      const results = await Promise.all(Array.from({ length: 7 }, () => tryCode({ userId, code, place })))
      assert.deepEqual(tally(results), { code_wrong: 5, codes_limited: 2 })
    }
    for (const place of places)
      assert.equal(await tryCode({ userId, code: recoveryCodes[0] ?? '', place }), 'recovery_code')
  })

  test('ten wrong recovery codes an hour for account and network', async () => {
    const { userId, recoveryCodes } = await withApp()
    const place = elsewhere()
    const [code = ''] = recoveryCodes
    const wrong = code.replace(/.$/, (last) => (last === 'a' ? 'b' : 'a'))
    const tries = Array.from({ length: 14 }, (_, index) =>
      tryCode({ userId, code: wrong, place }, index % 2 ? core : replica),
    )
    assert.deepEqual(tally(await Promise.all(tries)), { code_wrong: 10, codes_limited: 4 })
    assert.equal(await tryCode({ userId, code, place }), 'codes_limited')
    assert.equal(await tryCode({ userId, code, place: elsewhere() }), 'recovery_code')
    await pass(HOUR_MS)
    assert.equal(await tryCode({ userId, code, place }), 'recovery_code')
  })

  test('after twenty in a row in unknown browsers, codes are refused there until there is a new password', async () => {
    const { userId, secret, recoveryCodes } = await withApp()
    await pass(MINUTE_MS)
    const known: CodePlace = { kind: 'login', network: '203.0.113.9', knownBrowser: 'known' }
    const code = wrongCodeAt(secret, clock.now())
    const tries = Array.from({ length: 30 }, (_, index) =>
      tryCode({ userId, code, place: elsewhere() }, index % 2 ? core : replica),
    )
    assert.deepEqual(tally(await Promise.all(tries)), { code_wrong: 20, codes_locked: 10 })
    await pass(48 * HOUR_MS)
    const right = () => ({ userId, code: codeAt(secret, clock.now()) })
    // More than a day's: what is refused does not count.
    const refused = Array.from({ length: 61 }, () => tryCode({ ...right(), place: elsewhere() }))
    assert.deepEqual(tally(await Promise.all(refused)), { codes_locked: 61 })
    await use({ userId, code: recoveryCodes[0] ?? '', place: elsewhere() })
    // A right code in a known browser does not open the others again.
    await use({ ...right(), place: known })
    await pass(MINUTE_MS)
    assert.equal(await tryCode({ ...right(), place: elsewhere() }), 'codes_locked')
    assert.equal(
      await tryCode({ ...right(), place: { ...known, kind: 'reauthentication', sessionId: 'own' } }),
      'one_time_code',
    )
    await forgetWrongCodes(db, userId)
    assert.equal(await tryCode({ ...right(), place: elsewhere() }), 'one_time_code')
  })

  test('a right code in between begins a new row, but never more than sixty a day are tried', async () => {
    const { userId, secret } = await withApp()
    for (let round = 0; round < 4; round += 1) {
      await pass(MINUTE_MS)
      const code = wrongCodeAt(secret, clock.now())
      for (let count = 0; count < 15; count += 1)
        assert.equal(await tryCode({ userId, code, place: elsewhere() }), 'code_wrong')
      if (round < 3) await use({ userId, code: codeAt(secret, clock.now()), place: elsewhere() })
    }
    const right = () => ({ userId, code: codeAt(secret, clock.now()) })
    assert.equal(await tryCode({ ...right(), place: elsewhere() }), 'codes_limited')
    assert.equal(
      await tryCode({ ...right(), place: { kind: 'login', network: '', knownBrowser: 'known' } }),
      'one_time_code',
    )
    await pass(24 * HOUR_MS)
    assert.equal(await tryCode({ ...right(), place: elsewhere() }), 'one_time_code')
  })

  test('right codes in a known browser, and of a session, do not end a row elsewhere', async () => {
    const { userId, secret } = await withApp()
    const known: CodePlace = { kind: 'login', network: '203.0.113.9', knownBrowser: 'known' }
    const session: CodePlace = { kind: 'reauthentication', network: '203.0.113.9', sessionId: 'own' }
    for (const place of [known, session]) {
      await pass(MINUTE_MS)
      const code = wrongCodeAt(secret, clock.now())
      for (let count = 0; count < 10; count += 1)
        assert.equal(await tryCode({ userId, code, place: elsewhere() }), 'code_wrong')
      await use({ userId, code: codeAt(secret, clock.now()), place })
    }
    assert.equal(await tryCode({ userId, code: '123456', place: elsewhere() }), 'codes_locked')
  })

  test('on the page of a link, twenty in a row of their own; a new password ends them', async () => {
    const { userId, secret, recoveryCodes } = await withApp()
    await pass(MINUTE_MS)
    const code = wrongCodeAt(secret, clock.now())
    for (const [place, other] of [
      [elsewhere, onLink],
      [onLink, elsewhere],
    ] as const) {
      const tries = Array.from({ length: 24 }, (_, index) =>
        tryCode({ userId, code, place: place() }, index % 2 ? core : replica),
      )
      assert.deepEqual(tally(await Promise.all(tries)), { code_wrong: 20, codes_locked: 4 })
      const right = { userId, code: codeAt(secret, clock.now()) }
      assert.equal(await tryCode({ ...right, place: place() }), 'codes_locked')
      assert.equal(await tryCode({ ...right, place: other() }), 'one_time_code')
      assert.equal(await tryCode({ userId, code: recoveryCodes[0] ?? '', place: place() }), 'recovery_code')
      await forgetWrongCodes(db, userId)
      assert.equal(await tryCode({ ...right, place: place() }), 'one_time_code')
    }
    const network = '203.0.113.9'
    const atOnce = Array.from({ length: 7 }, () => tryCode({ userId, code, place: onLink(network) }))
    assert.deepEqual(tally(await Promise.all(atOnce)), { code_wrong: 5, codes_limited: 2 })
  })

  for (const by of ['a right code', 'a recovery code', 'a new password'] as const)
    test(`after a hundred in a row over all places, codes are refused everywhere; ${by} ends the row`, async () => {
      const { userId, secret, recoveryCodes } = await withApp()
      const network = '203.0.113.9'
      const known: CodePlace = { kind: 'login', network, knownBrowser: 'known' }
      const session: CodePlace = { kind: 'reauthentication', network, sessionId: 'own' }
      const link: CodePlace = { kind: 'link', network, knownBrowser: undefined }
      const tryWrong = async (places: CodePlace[]) => {
        await pass(15 * MINUTE_MS)
        const code = wrongCodeAt(secret, clock.now())
        const tries = places.flatMap((place) => Array.from({ length: 5 }, () => tryCode({ userId, code, place })))
        assert.deepEqual(tally(await Promise.all(tries)), { code_wrong: 5 * places.length })
      }
      await tryWrong([known, session, elsewhere(), link])
      for (let round = 1; round < 8; round += 1) await tryWrong([known, session])
      const right = () => ({ userId, code: codeAt(secret, clock.now()) })
      await pass(15 * MINUTE_MS)
      if (by === 'a right code') await use({ ...right(), place: session })
      await tryWrong([known, session])
      await pass(15 * MINUTE_MS)
      if (by !== 'a right code') {
        const last = Array.from({ length: 2 }, () => tryCode({ userId, code: '000000', place: known }))
        assert.deepEqual(tally(await Promise.all(last)), { codes_locked: 2 })
        for (const place of [known, session, link, elsewhere()])
          assert.equal(await tryCode({ ...right(), place }), 'codes_locked')
        if (by === 'a new password') await forgetWrongCodes(db, userId)
        else await use({ userId, code: recoveryCodes[0] ?? '', place: elsewhere() })
      }
      for (const place of [known, session, link, elsewhere()])
        assert.equal(await tryCode({ ...right(), place }), 'one_time_code')
    })

  test('what is no code at all is wrong', async () => {
    const { userId } = await withApp()
    for (const code of ['', ' - ']) assert.equal(await tryCode({ userId, code, place: elsewhere() }), 'code_missing')
    for (const code of ['12345', '1234567', 'abcdef', '０００００x', '\0'.repeat(6), 'x'.repeat(10_000)])
      assert.equal(await tryCode({ userId, code, place: elsewhere() }), 'code_wrong')
    const stranger = await withoutApp()
    assert.equal(await tryCode({ userId: stranger, code: '123456', place: elsewhere() }), 'code_wrong')
    assert.equal(await tryCode({ userId: stranger, code: '0000-0000-0000-0000', place: elsewhere() }), 'code_wrong')
  })
})

describe('what an event deletes', () => {
  test('what was made since a time goes, and older counts for proofs of that time', async () => {
    const { userId, secret, recoveryCodes, beforeMs, afterMs } = await withApp()
    await pass(MINUTE_MS)
    const code = codeAt(secret, clock.now())
    for (const [madeBeforeMs, results] of [
      [beforeMs, ['code_wrong', 'code_wrong']],
      [afterMs, ['one_time_code', 'recovery_code']],
    ] as const) {
      const tried = [code, recoveryCodes[1] ?? ''].map((each) =>
        tryCode({ userId, code: each, place: elsewhere(), madeBeforeMs }),
      )
      assert.deepEqual(await Promise.all(tried), results)
    }
    const deleteSince = (sinceMs: number) => deleteCodesSince(db, { userId, sinceMs, nowMs: clock.now() })
    const none = { codes: false, recoveryCodes: 0, passkeys: 0 }
    assert.deepEqual(await core.secondFactors.find(userId, db, beforeMs), none)
    assert.deepEqual(await deleteSince(afterMs), { codes: false, recoveryCodes: 0 })
    assert.deepEqual(await deleteSince(beforeMs), { codes: true, recoveryCodes: 10 })
    assert.deepEqual(await core.secondFactors.find(userId), none)
  })

  test('an account without an app is told from one that has one', async () => {
    const { userId } = await withApp()
    assert.deepEqual(await replica.secondFactors.find(userId), { codes: true, recoveryCodes: 10, passkeys: 0 })
    assert.equal((await core.secondFactors.find(await withoutApp())).codes, false)
  })
})

test('two set-ups at once: one is stored, and its recovery codes alone', async () => {
  const userId = await withoutApp()
  const owner = { userId, boundTo: 'sign-in' }
  const checked = await Promise.all(
    [core, replica].map(async (by) => {
      const { secret, sealed } = await by.secondFactors.beginSetUp(owner, 'user@example.com')
      const { recoveryCodes = [], apply } = await by.secondFactors.checkSetUp(owner, {
        sealed,
        code: codeAt(secret, clock.now()),
      })
      return { by, recoveryCodes, apply }
    }),
  )
  const results = await Promise.allSettled(
    checked.map(({ by, apply }) => by.db.inTransaction((transaction) => apply(transaction, {}))),
  )
  assert.deepEqual(results.map(({ status }) => status).toSorted(), ['fulfilled', 'rejected'])
  const stored = results.findIndex(({ status }) => status === 'fulfilled')
  for (const [index, { recoveryCodes }] of checked.entries()) {
    const result = await tryCode({ userId, code: recoveryCodes[3] ?? '', place: elsewhere() })
    assert.equal(result, index === stored ? 'recovery_code' : 'code_wrong')
  }
})

test('of two sets of recovery codes that are made at once, the one that is stored is shown', async () => {
  const userId = await withoutApp()
  const [first, second] = await Promise.all([core, replica].map((by) => by.secondFactors.prepareRecoveryCodes(userId)))
  assert.equal(await db.inTransaction(async (transaction) => first?.insert(transaction)), true)
  assert.equal(await db.inTransaction(async (transaction) => second?.insert(transaction)), false)
  assert.equal(await core.secondFactors.prepareRecoveryCodes(userId), undefined)
  // They prove nothing before there is something that they stand for.
  assert.equal(await tryCode({ userId, code: first?.codes[0] ?? '', place: elsewhere() }), 'code_wrong')
})
