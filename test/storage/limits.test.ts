// Runs on SQLite and PostgreSQL.
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { describe, test } from 'node:test'
import { createRootSecret } from '../../src/lib/derived-keys.ts'
import { AppError } from '../../src/lib/errors.ts'
import { systemClock } from '../../src/lib/time.ts'
import type { LimitName } from '../../src/limits/limit-table.ts'
import { createLimits, type Limits } from '../../src/limits/limits.ts'
import { deleteEndedCounters, deleteExcessCounters } from '../../src/limits/counter-store.ts'
import type { Value } from '../../src/storage/database.ts'
import { eventually } from '../support/wait.ts'
import { freshDatabase } from './databases.ts'

const { db, open } = await freshDatabase()
const rootSecret = createRootSecret({ current: randomBytes(32) })
const refusals: LimitName[] = []
const create = (handle: typeof db): Limits =>
  createLimits({
    db: handle,
    clock: systemClock,
    rootSecret,
    enabled: true,
    onRefusal: (limit) => refusals.push(limit),
  })
/** As ten replicas have them: each remembers for itself, and two share a connection. */
const handles = [db, await open(), await open(), await open(), await open()]
const replicas = Array.from({ length: 10 }, (_, place) => create(handles[place % handles.length] ?? db))
const at = (round: number): Limits => replicas[round % replicas.length] ?? assert.fail('a replica')

const wrongPassword = (): Promise<never> =>
  Promise.reject(new AppError('unauthorized', 'Wrong.', { reason: 'credentials_wrong' }))
const unavailable = (): Promise<never> => Promise.reject(new AppError('unavailable', 'Gone.', { reason: 'given_up' }))
const rightPassword = async (): Promise<string> => 'in'

let names = 0
const newEmail = (): string => `user${++names}@example.com`
const newNetwork = (): string => `198.51.${Math.floor(++names / 250)}.${names % 250}`

interface Guess {
  emailLower: string
  network?: string
  deviceHash?: string
}

const outcomeOf = async (work: Promise<unknown>): Promise<string> => {
  try {
    await work
    return 'done'
  } catch (error) {
    if (error instanceof AppError) return error.code
    throw error
  }
}

const logIn = (
  round: number,
  { emailLower, network = newNetwork(), deviceHash = '' }: Guess,
  action: () => Promise<unknown>,
) => outcomeOf(at(round).attemptLogin({ emailLower, network, deviceHash }, action))
const guess = (round: number, where: Guess): Promise<string> => logIn(round, where, wrongPassword)

/** How many of so many guesses, all at once, were checked. */
const checkedAtOnce = async (count: number, where: (round: number) => Guess): Promise<number> => {
  const outcomes = await Promise.all(Array.from({ length: count }, (_, round) => guess(round, where(round))))
  assert.ok(
    outcomes.every((outcome) => ['unauthorized', 'rate_limited'].includes(outcome)),
    outcomes.join(),
  )
  return outcomes.filter((outcome) => outcome === 'unauthorized').length
}

/** Tries until one is refused, one after the other; at most 2,500. */
const checkedInARow = async (where: (round: number) => Guess): Promise<number> => {
  for (let round = 0; round < 2500; round += 1) {
    if ((await guess(round, where(round))) === 'rate_limited') return round
  }
  return assert.fail('nothing was refused')
}

/** An account, with a browser that it knows. */
const newAccount = async (): Promise<{ userId: string; emailLower: string; deviceHash: string }> => {
  const emailLower = newEmail()
  const [userId, deviceHash] = [`user-${names}`, `device-${names}`]
  await db.run(
    'INSERT INTO users (id, email, email_lower, username, roles, disabled, created_at, updated_at, self_made) VALUES (?, ?, ?, ?, ?, 0, 1, 1, 1)',
    userId,
    emailLower,
    emailLower,
    userId,
    '[]',
  )
  await db.run(
    'INSERT INTO known_browsers (id, user_id, device_hash, created_at, seen_at) VALUES (?, ?, ?, 1, 1)',
    `${userId}/${deviceHash}`,
    userId,
    deviceHash,
  )
  return { userId, emailLower, deviceHash }
}

/** All windows go on for so much less. */
const letTimePass = (ms: number): Promise<number> => db.run('UPDATE counters SET ends_at = ends_at - ?', ms)

const MINUTE = 60_000

describe('guesses of passwords, sent to ten replicas', () => {
  test('200 at once from one network get 10 tries, and a sequence no more', async () => {
    const [one, other] = [newEmail(), newEmail()]
    assert.equal(await checkedAtOnce(200, () => ({ emailLower: one, network: '203.0.113.1' })), 10)
    assert.equal(await checkedInARow(() => ({ emailLower: other, network: '203.0.113.2' })), 10)
  })

  test('one account, guessed from a network of its own each time, gets 100 tries in an hour, at once or in a row', async () => {
    const [known, unknown] = [await newAccount(), newEmail()]
    for (const emailLower of [known.emailLower, unknown]) {
      const atOnce = await checkedAtOnce(200, () => ({ emailLower }))
      assert.equal(atOnce + (await checkedInARow(() => ({ emailLower }))), 100)
    }
    await letTimePass(59 * MINUTE)
    assert.equal(await guess(0, { emailLower: unknown }), 'rate_limited')
    await letTimePass(MINUTE)
    assert.equal(await guess(0, { emailLower: unknown }), 'unauthorized')
  })

  test('its user gets in with a browser that the account knows, which has 20 tries of its own in 15 minutes', async () => {
    const { emailLower, deviceHash } = await newAccount()
    await checkedInARow(() => ({ emailLower }))
    const network = '203.0.113.3'
    assert.equal(await logIn(1, { emailLower, network, deviceHash }, rightPassword), 'done')
    assert.equal(await logIn(1, { emailLower, network, deviceHash: 'another' }, rightPassword), 'rate_limited')
    assert.equal(await checkedAtOnce(60, () => ({ emailLower, deviceHash })), 20)
    assert.equal(await logIn(2, { emailLower, deviceHash }, rightPassword), 'rate_limited')
    await letTimePass(15 * MINUTE)
    assert.equal(await logIn(3, { emailLower, deviceHash }, rightPassword), 'done')
  })

  test('a browser counts for an account by when it became known: another secret brings no more tries', async () => {
    const { emailLower, userId, deviceHash } = await newAccount()
    assert.equal(await checkedInARow(() => ({ emailLower, deviceHash })), 20)
    await db.run('UPDATE known_browsers SET device_hash = ?, id = ? WHERE user_id = ?', 'new', `${userId}/new`, userId)
    assert.equal(await guess(0, { emailLower, deviceHash: 'new' }), 'rate_limited')
  })

  test('a browser of one account is not known to another', async () => {
    const [one, other] = [await newAccount(), await newAccount()]
    const network = newNetwork()
    assert.equal(await checkedInARow(() => ({ emailLower: one.emailLower, deviceHash: other.deviceHash, network })), 10)
  })

  test('refused tries count nowhere: neither for the account nor for the network', async () => {
    const emailLower = newEmail()
    const networks = Array.from({ length: 9 }, newNetwork)
    for (const network of networks) assert.equal(await checkedInARow(() => ({ emailLower, network })), 10)
    for (const network of networks) assert.equal(await checkedAtOnce(20, () => ({ emailLower, network })), 0)
    assert.equal(await checkedInARow(() => ({ emailLower })), 10)
    assert.equal(await checkedInARow(() => ({ emailLower: newEmail(), network: networks[0] ?? '' })), 90)
  })

  test('an unlock lets all of it begin again, at every replica', async () => {
    const { emailLower, userId, deviceHash } = await newAccount()
    const network = newNetwork()
    await checkedInARow(() => ({ emailLower, deviceHash }))
    await checkedInARow(() => ({ emailLower, network }))
    await db.inTransaction((transaction) => at(1).unlock(transaction, { username: 'ada', emailLower, userId }))
    assert.equal(await checkedInARow(() => ({ emailLower, deviceHash })), 20)
    assert.equal(await checkedInARow(() => ({ emailLower, network })), 10)
  })

  test('tries that succeed, or were never made, are given back', async () => {
    const where = { emailLower: newEmail(), network: newNetwork() }
    for (let round = 0; round < 30; round += 1) assert.equal(await logIn(0, where, rightPassword), 'done')
    for (let round = 0; round < 30; round += 1) assert.equal(await logIn(0, where, unavailable), 'unavailable')
    for (let round = 0; round < 10; round += 1) assert.equal(await guess(0, where), 'unauthorized')
    assert.equal(await guess(0, where), 'rate_limited')
  })

  test('an email is stored as nothing that anybody could read', async () => {
    await db.run('DELETE FROM counters')
    await guess(0, { emailLower: 'what-people-type@example.com' })
    const rows = await db.all<{ id: string }>('SELECT id FROM counters')
    assert.notDeepEqual(rows, [])
    assert.ok(!rows.some(({ id }) => id.includes('people-type')))
  })
})

describe('networks', () => {
  test('an IPv6 /64 has 100 tries, and all of a /48 ten times that', async () => {
    const inNetwork = (network: string) => checkedInARow(() => ({ emailLower: newEmail(), network }))
    assert.equal(await inNetwork('2001:db8:7:1::/64'), 100)
    let checked = 100
    for (let subnet = 2; subnet < 12; subnet += 1) checked += await inNetwork(`2001:db8:7:${subnet}::/64`)
    assert.equal(checked, 1000)
    assert.equal(refusals.at(-1), 'loginOfAddress')
    assert.equal(await guess(0, { emailLower: newEmail(), network: '2001:db8:8:1::/64' }), 'unauthorized')
  })

  test('clients whose address is not known share 20 times the figure', async () => {
    assert.equal(await checkedInARow(() => ({ emailLower: newEmail(), network: 'unknown' })), 2000)
  })

  test('a full one is looked up once in a while only', async () => {
    const network = newNetwork()
    await checkedInARow(() => ({ emailLower: newEmail(), network }))
    let statements = 0
    const counting: typeof db = {
      ...db,
      runUnsynced: (sql, ...values) => (statements++, db.runUnsynced(sql, ...values)),
    }
    const limits = create(counting)
    for (let round = 0; round < 50; round += 1) {
      const login = { emailLower: newEmail(), deviceHash: '', network }
      assert.equal(await outcomeOf(limits.attemptLogin(login, wrongPassword)), 'rate_limited')
    }
    assert.equal(statements, 1)
  })
})

describe('an attempt', () => {
  test('has the longest wait of those that are full, and all or nothing of its limits', async () => {
    const userId = newEmail()
    const both = () =>
      at(0).attempt(
        [
          ['passwordOfUser', { userId }],
          ['passwordFormOfUser', { userId }],
        ],
        wrongPassword,
      )
    for (let round = 0; round < 10; round += 1) assert.equal(await outcomeOf(both()), 'unauthorized')
    await assert.rejects(both(), { limit: 'passwordOfUser', retryAfterSeconds: 900 })
    const forms = () => at(1).attempt([['passwordFormOfUser', { userId }]], rightPassword)
    for (let round = 0; round < 20; round += 1) assert.equal(await outcomeOf(forms()), 'done')
    assert.equal(await outcomeOf(forms()), 'rate_limited')
  })

  test('while others are under way that may succeed, is told to come back soon', async () => {
    const userId = newEmail()
    const { promise, resolve } = Promise.withResolvers<void>()
    const limits = at(0)
    const entered = Array.from({ length: 5 }, () => Promise.withResolvers<void>())
    const held = entered.map(({ resolve: enter }) =>
      limits.attempt([['usernameOfUser', { userId }]], () => {
        enter()
        return promise
      }),
    )
    await Promise.all(entered.map((one) => one.promise))
    const refused = () => limits.attempt([['usernameOfUser', { userId }]], rightPassword)
    await assert.rejects(refused(), { retryAfterSeconds: 2, onlyUnderWay: true })
    resolve()
    await Promise.all(held)
    await assert.rejects(refused(), { retryAfterSeconds: 3600, onlyUnderWay: false })
  })

  test('refused because of tries that succeed, is told so, even where all of them are taken back while it looks', async () => {
    const login = { emailLower: newEmail(), network: newNetwork(), deviceHash: '' }
    const { promise: reached, resolve: reach } = Promise.withResolvers<void>()
    const { promise: held, resolve: release } = Promise.withResolvers<void>()
    const limits = create({
      ...db,
      // The counts are read while the tries are under way, and judged when none is any more.
      async all<Row>(sql: string, ...values: Value[]) {
        const rows = await db.all<Row>(sql, ...values)
        reach()
        await Promise.all(tries)
        await eventually('they are taken back', async () => {
          const counted = await db.all(`SELECT id FROM counters WHERE count > 0 AND id LIKE '% ${login.network}'`)
          return counted.length === 0
        })
        return rows
      },
    })
    const entered = Array.from({ length: 10 }, () => Promise.withResolvers<void>())
    const tries = entered.map((one) => limits.attemptLogin(login, () => (one.resolve(), held)))
    await Promise.all(entered.map((one) => one.promise))
    const refused = assert.rejects(limits.attemptLogin(login, rightPassword), { limit: 'login', onlyUnderWay: true })
    await reached
    release()
    await refused
  })

  test('begins beside a transaction that waits for it, admitted or not, a hundred at once', async () => {
    const [userId, network] = [newEmail(), newNetwork()]
    const outcomes = await Promise.all(
      Array.from({ length: 100 }, (_, round) =>
        outcomeOf(
          at(round).attemptAtOnce([['successfulLogin', { userId, network }]], (admitted) =>
            (handles[round % handles.length] ?? db).inTransaction(async (transaction) => {
              await transaction.get('SELECT COUNT(*) FROM users')
              await admitted
            }),
          ),
        ),
      ),
    )
    assert.equal(outcomes.filter((outcome) => outcome === 'done').length, 30)
    assert.equal(outcomes.filter((outcome) => outcome === 'rate_limited').length, 70)
  })

  test('that was counted in a window which is over is not taken back from the next', async () => {
    const userId = newEmail()
    const { promise, resolve } = Promise.withResolvers<void>()
    const held = at(0).attempt([['passwordOfUser', { userId }]], () => promise)
    await at(1)
      .attempt([['passwordOfUser', { userId }]], wrongPassword)
      .catch(() => {})
    await letTimePass(15 * MINUTE)
    for (let round = 0; round < 10; round += 1) {
      await at(round)
        .attempt([['passwordOfUser', { userId }]], wrongPassword)
        .catch(() => {})
    }
    resolve()
    await held
    assert.equal(await outcomeOf(at(0).attempt([['passwordOfUser', { userId }]], wrongPassword)), 'rate_limited')
  })

  test('in a row that a clock of the future has written begins a new window', async () => {
    const userId = newEmail()
    const guessForm = () => outcomeOf(at(0).attempt([['passwordOfUser', { userId }]], wrongPassword))
    for (let round = 0; round < 11; round += 1) await guessForm()
    await letTimePass(-60 * MINUTE)
    assert.equal(await guessForm(), 'unauthorized')
    await letTimePass(60 * MINUTE)
  })
})

test('of too many counters, those of networks with the fewest tries go first, and those of accounts last', async () => {
  await db.run('DELETE FROM counters')
  const insert = (id: string, count: number, ofNetwork: number) =>
    db.run('INSERT INTO counters (id, count, ends_at, of_network) VALUES (?, ?, 1e12, ?)', id, count, ofNetwork)
  for (let place = 0; place < 30; place += 1) await insert(`flood ${place}`, 1, 1)
  for (let place = 0; place < 10; place += 1) await insert(`guessing ${place}`, 90, 1)
  for (let place = 0; place < 10; place += 1) await insert(`account ${place}`, 2, 0)
  const left = async () =>
    (await db.all<{ id: string }>('SELECT id FROM counters ORDER BY id')).map(({ id }) => id.split(' ')[0])
  const kinds = async () => [...new Set(await left())]
  assert.equal(await deleteExcessCounters(db, 50), 0)
  assert.equal(await deleteExcessCounters(db, 25), 25)
  assert.deepEqual((await left()).length, 25)
  assert.deepEqual(await kinds(), ['account', 'flood', 'guessing'])
  assert.equal(await deleteExcessCounters(db, 12), 13)
  assert.deepEqual(await kinds(), ['account', 'guessing'])
  await deleteExcessCounters(db, 4)
  assert.deepEqual(await left(), Array(4).fill('account'))
  assert.equal(await deleteEndedCounters(db, 1e12), 4)
})
