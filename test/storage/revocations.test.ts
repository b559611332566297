// Runs on SQLite and PostgreSQL.
import assert from 'node:assert/strict'
import { randomUUIDv7 } from 'node:crypto'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { createRecordRevocations } from '../../src/revocations/recording.ts'
import { toCursor } from '../../src/revocations/cursor.ts'
import { createRevocationFeed, type Page, type RevocationFeed } from '../../src/revocations/revocations.ts'
import type { Clock } from '../../src/lib/time.ts'
import type { Database, Transaction } from '../../src/storage/database.ts'
import { databaseChoice } from '../support/database/database-choice.ts'
import { freshDatabase, testOnPostgres } from './databases.ts'
import { holding } from '../support/database/held-transaction.ts'
import { assertIsKept } from '../support/revocations/feed.ts'
import { T0 } from './rows.ts'

const MINUTE_MS = 60_000
const LONGEST_TOKEN_MS = 10 * MINUTE_MS

const NEVER = new AbortController().signal
const AT_ONCE = { ms: 0, signal: NEVER }

const feedOf = (db: Database, clock: Clock = { now: () => T0 }): RevocationFeed =>
  createRevocationFeed({ db, clock, stopping: NEVER, maxReaders: 10 })

const recordingAt = (nowMs: number) =>
  createRecordRevocations({ clock: { now: () => nowMs }, longestTokenMs: LONGEST_TOKEN_MS })

/** Writes that a session of this user has ended; resolves to the id of the session. */
const recordEnd = async (transaction: Pick<Transaction, 'run'>, userId = 'ada', nowMs = T0): Promise<string> => {
  const id = randomUUIDv7()
  await recordingAt(nowMs).sessionsEnded(transaction, [{ id, userId }], 'logout')
  return id
}

type Shown = { seq: number; session_ids?: string[]; not_before?: number; at: string; expires_at: string }

const entriesOf = ({ entries }: Page): Shown[] => entries.map(({ json }) => JSON.parse(json) as Shown)
const idsOf = (page: Page): string[] => entriesOf(page).flatMap(({ session_ids: ids = [] }) => ids)
const cursorOf = ({ cursor }: Page): string => cursor ?? assert.fail('a page that is complete')

/** A reader at one replica, with all that it has read. */
const newReader = (feed: RevocationFeed) => {
  let cursor: string | undefined
  const reader = {
    ids: [] as string[],
    seqs: [] as number[],
    async read(): Promise<void> {
      for (;;) {
        const page = await feed.read(cursor, AT_ONCE)
        assert.ok(page.isComplete)
        reader.ids.push(...idsOf(page))
        reader.seqs.push(...entriesOf(page).map(({ seq }) => seq))
        cursor = cursorOf(page)
        if (!page.hasMore) return
      }
    },
  }
  return reader
}

describe('entries whose transactions commit in any order', () => {
  type Step = { does: 'begin' | 'commit' | 'roll back'; transaction: number } | { does: 'read'; readers: number[] }

  /** Two replicas, and readers at both. */
  const place = async (db: Database, other: Database) => {
    for (const table of ['revocations', 'new_revocations']) await db.run(`DELETE FROM ${table}`)
    await db.run("DELETE FROM installation WHERE name = 'last revocation'")
    const feeds = [feedOf(db), feedOf(other)]
    const readers = [0, 1, 0, 1].map((replica) => newReader(feeds[replica] ?? assert.fail()))
    const open = new Map<number, { id: string; commit: () => Promise<void>; rollBack: () => Promise<void> }>()
    const committed: string[] = []

    const begin = async (number: number): Promise<void> => {
      const { promise: id, resolve } = Promise.withResolvers<string>()
      const failed = new Error('rolled back')
      let fails = false
      const held = await holding(
        number % 2 ? db : other,
        async (transaction) => resolve(await recordEnd(transaction)),
        () => {
          if (fails) throw failed
        },
      )
      const rollBack = async () => {
        fails = true
        await assert.rejects(held.commit(), failed)
      }
      open.set(number, { id: await id, commit: held.commit, rollBack })
    }

    const run = async (step: Step): Promise<void> => {
      if (step.does === 'read')
        return void (await Promise.all(step.readers.map(async (index) => readers[index]?.read())))
      if (step.does === 'begin') return begin(step.transaction)
      const { id, commit, rollBack } = open.get(step.transaction) ?? assert.fail()
      open.delete(step.transaction)
      if (step.does === 'roll back') return rollBack()
      await commit()
      committed.push(id)
    }

    /** Every reader has every committed entry once, in the order of the numbers, which is the same for all. */
    const assertNothingMissed = async (): Promise<void> => {
      for (const reader of readers) await reader.read()
      const [first] = readers
      for (const { ids, seqs } of readers) {
        assert.deepEqual(ids.toSorted(), committed.toSorted())
        assert.deepEqual(ids, first?.ids)
        assert.deepEqual(
          seqs,
          ids.map((_, index) => index + 1),
        )
      }
    }
    return {
      run,
      assertNothingMissed,
      close: async () => Promise.all([...open.values()].map(({ rollBack }) => rollBack())),
    }
  }

  const runAll = async (dbs: [Database, Database], steps: readonly Step[]): Promise<void> => {
    const { run, assertNothingMissed, close } = await place(...dbs)
    try {
      for (const step of steps) await run(step)
      await assertNothingMissed()
    } finally {
      await close()
    }
  }

  /** Each order of steps in which those of one actor keep their order. */
  const interleavingsOf = (actors: readonly (readonly Step[])[]): Step[][] => {
    const left = actors.filter((steps) => steps.length > 0)
    if (left.length === 0) return [[]]
    return left.flatMap((steps) => {
      const [first, ...rest] = steps
      const others = left.map((each) => (each === steps ? rest : each))
      return interleavingsOf(others).map((tail) => (first ? [first, ...tail] : tail))
    })
  }

  testOnPostgres('two transactions, a reader at each replica: every order of what they do', async (t) => {
    const { db, open } = await freshDatabase(t)
    const other = await open()
    const all = interleavingsOf([
      [
        { does: 'begin', transaction: 0 },
        { does: 'commit', transaction: 0 },
      ],
      [
        { does: 'begin', transaction: 1 },
        { does: 'commit', transaction: 1 },
      ],
      [
        { does: 'read', readers: [0] },
        { does: 'read', readers: [1] },
      ],
    ])
    assert.equal(all.length, 90)
    for (const steps of all) await runAll([db, other], steps)
  })

  /** Up to five transactions, each of which begins before it ends, and readers who read by themselves or at once. */
  const plans = fc
    .array(
      fc.oneof(
        { weight: 3, arbitrary: fc.record({ transaction: fc.nat(4), rollsBack: fc.nat(5).map((n) => n === 0) }) },
        { weight: 2, arbitrary: fc.record({ readers: fc.uniqueArray(fc.nat(3), { minLength: 1 }) }) },
      ),
      { maxLength: 24 },
    )
    .map((acts) => {
      const isOpen = new Set<number>()
      return acts.map((act): Step => {
        if ('readers' in act) return { does: 'read', readers: act.readers }
        const { transaction, rollsBack } = act
        if (isOpen.delete(transaction)) return { does: rollsBack ? 'roll back' : 'commit', transaction }
        isOpen.add(transaction)
        return { does: 'begin', transaction }
      })
    })

  testOnPostgres('any number of transactions and readers: random orders', async (t) => {
    const { db, open } = await freshDatabase(t)
    const other = await open()
    await fc.assert(
      fc.asyncProperty(plans, (steps) => runAll([db, other], steps)),
      { numRuns: 40 },
    )
  })

  test('many at once, with readers at both replicas: each is read once by each', async (t) => {
    const { db, open } = await freshDatabase(t)
    const other = await open()
    const readers = [newReader(feedOf(db)), newReader(feedOf(other))]
    const written: string[] = []
    const write = async (index: number) =>
      written.push(await (index % 2 ? db : other).inTransaction((transaction) => recordEnd(transaction)))
    for (let round = 0; round < 5; round += 1) {
      const writing = Array.from({ length: 8 }, (_, index) => write(index))
      await Promise.all([...writing, ...readers.map((reader) => reader.read())])
    }
    for (const { ids, read } of readers) {
      await read()
      assert.deepEqual(ids.toSorted(), written.toSorted())
    }
  })
})

describe('a reader', () => {
  test('gets at most 1,000 entries at once, and goes on after each page', async (t) => {
    const { db } = await freshDatabase(t)
    const reader = newReader(feedOf(db))
    const written = await db.inTransaction(async (transaction) => {
      const ids: string[] = []
      for (let count = 0; count < 2050; count += 1) ids.push(await recordEnd(transaction, `user ${count}`, T0 + count))
      return ids
    })
    const page = await feedOf(db).read(undefined, AT_ONCE)
    assert.equal(page.entries.length, 1000)
    assert.ok(page.hasMore)
    await reader.read()
    if (databaseChoice === 'sqlite') assert.deepEqual(reader.ids, written)
    else assert.deepEqual(reader.ids.toSorted(), written.toSorted())
    assert.equal(reader.seqs.at(-1), 2050)
  })

  test('with a cursor of another database, of before a restored backup or of the future is told so', async (t) => {
    const [{ db }, { db: another }] = [await freshDatabase(t), await freshDatabase(t)]
    const [feed, foreign] = [feedOf(db), feedOf(another)]
    const start = cursorOf(await feed.read(undefined, AT_ONCE))
    assert.ok(!(await foreign.read(start, AT_ONCE)).isComplete, 'a feed without entries, of another database')
    for (const each of [db, another]) for (let count = 0; count < 3; count += 1) await recordEnd(each)
    const cursor = cursorOf(await feed.read(undefined, AT_ONCE))
    assert.ok(!(await foreign.read(cursor, AT_ONCE)).isComplete, 'the same number in another database')
    assert.equal((await feed.read(start, AT_ONCE)).entries.length, 3, 'the beginning of the same database')
    const { next } = await foreign.read(undefined, AT_ONCE)
    assert.ok(!(await feed.read(toCursor({ seq: 99, mark: next?.mark ?? '' }), AT_ONCE)).isComplete)
    // A backup from before the last entry, in which another one gets its number.
    await db.run('DELETE FROM revocations WHERE seq = 3')
    const { mark } = (await feedOf(another).read(undefined, AT_ONCE)).next ?? assert.fail()
    assert.ok(mark)
    const second = await db.get<{ id: string }>('SELECT id FROM revocations WHERE seq = 2')
    await db.run(
      "UPDATE installation SET value = '2 ' || ? || SUBSTR(value, LENGTH(value) - 16) WHERE name = 'last revocation'",
      second?.id ?? '',
    )
    await recordEnd(db)
    const restored = feedOf(db)
    assert.ok(!(await restored.read(cursor, AT_ONCE)).isComplete)
    assert.equal((await restored.read(toCursor({ seq: 2, mark: second?.id ?? '' }), AT_ONCE)).entries.length, 1)
  })

  test('with what is no cursor is refused', async (t) => {
    const { db } = await freshDatabase(t)
    const feed = feedOf(db)
    await recordEnd(db)
    const good = cursorOf(await feed.read(undefined, AT_ONCE))
    const changed = Buffer.from(Buffer.from(good, 'base64url').toString().replace(/^1/, '2')).toString('base64url')
    const made = Buffer.from('1 a b').toString('base64url')
    for (const cursor of ['', 'x', 'MSAx', made, changed, `${good}=`, ` ${good}`, good.slice(0, -1), 'A'.repeat(5000)])
      await assert.rejects(feed.read(cursor, AT_ONCE), { code: 'invalid_request', field: 'cursor' })
  })
})

const nowOf = (db: Database) => (db.dialect === 'sqlite' ? T0 : Date.now())

test('a stream whose client is gone counts no more, also where it was gone before the stream began', async (t) => {
  const { db } = await freshDatabase(t)
  const counts: number[] = []
  const feed = createRevocationFeed({
    db,
    clock: { now: () => T0 },
    stopping: NEVER,
    maxReaders: 1,
    onReaders: (count) => counts.push(count),
  })
  for (const isGone of [true, false]) {
    const client = new AbortController()
    if (isGone) client.abort()
    const pages = feed.follow(undefined, { signal: client.signal, mayGoOn: async () => true })
    // Nobody asks for the rest.
    await pages.next()
    client.abort()
    assert.equal(counts.at(-1), 0)
  }
})

describe('entries past their time', () => {
  test('are shown no longer; cleanup deletes them, and a reader who missed none goes on', async (t) => {
    const { db } = await freshDatabase(t)
    const nowMs = nowOf(db)
    const keptMs = LONGEST_TOKEN_MS + 5 * MINUTE_MS
    let passedMs = 0
    const clock = { now: () => nowMs + passedMs }
    const feed = feedOf(db, clock)
    const write = () => db.inTransaction((transaction) => recordEnd(transaction, 'ada', nowMs + passedMs))
    const older = await write()
    const atOlder = cursorOf(await feed.read(undefined, AT_ONCE))
    await write()
    const late = await feed.read(undefined, AT_ONCE)
    const [shown = assert.fail()] = entriesOf(late)
    assertIsKept(shown, keptMs)
    assert.deepEqual(idsOf(late)[0], older)

    // The clock of the server goes on, so its rows are made older.
    if (db.dialect === 'sqlite') passedMs = keptMs + MINUTE_MS
    else await db.run('UPDATE revocations SET expires_at = expires_at - ?', keptMs + MINUTE_MS)
    assert.deepEqual(idsOf(await feedOf(db, clock).read(undefined, AT_ONCE)), [])
    assert.equal(await feed.deleteExpired(nowMs + passedMs), 1, 'the last one stays')
    assert.ok(!(await feed.read(atOlder, AT_ONCE)).isComplete)
    const last = cursorOf(late)
    assert.ok((await feed.read(last, AT_ONCE)).isComplete)

    const fresh = await write()
    assert.equal(await feed.deleteExpired(nowMs + passedMs), 0)
    assert.deepEqual(idsOf(await feed.read(last, AT_ONCE)), [fresh])
    await write()
    assert.equal(await feed.deleteExpired(nowMs + passedMs), 0, 'the one before the first that matters stays')
    assert.equal((await feed.read(last, AT_ONCE)).entries.length, 2)
  })

  test('are deleted too when nobody has ever read them, 1,300 in several batches', async (t) => {
    const { db } = await freshDatabase(t)
    const nowMs = nowOf(db)
    await db.inTransaction(async (transaction) => {
      for (let count = 0; count < 1300; count += 1) await recordEnd(transaction, 'ada', nowMs)
    })
    const feed = feedOf(db)
    assert.equal(await feed.deleteExpired(nowMs + MINUTE_MS), 0)
    assert.equal(await feed.deleteExpired(nowMs + 60 * MINUTE_MS), 1300)
  })
})

describe('an entry', () => {
  test('has 200 ids at most, of one user', async (t) => {
    const { db } = await freshDatabase(t)
    const ended = Array.from({ length: 450 }, (_, index) => ({
      id: randomUUIDv7(),
      userId: index < 401 ? 'ada' : 'bob',
    }))
    await db.inTransaction((transaction) => recordingAt(T0).sessionsEnded(transaction, ended, 'logout'))
    const page = await feedOf(db).read(undefined, AT_ONCE)
    const lengths = entriesOf(page).map(({ session_ids: ids = [] }) => ids.length)
    assert.deepEqual(
      lengths.toSorted((one, other) => one - other),
      [1, 49, 200, 200],
    )
    assert.deepEqual(idsOf(page).toSorted(), ended.map(({ id }) => id).toSorted())
  })

  testOnPostgres(
    'of changed claims names the time of the commit: a token of just before it holds the old ones',
    async (t) => {
      const { db, open } = await freshDatabase(t)
      const other = await open()
      const change = await holding(db, (transaction) => recordingAt(Date.now()).claimsChanged(transaction, 'ada'))
      const feed = feedOf(other)
      await feed.read(undefined, AT_ONCE)
      await new Promise((resolve) => setTimeout(resolve, 1100))
      const issuedAt = Math.floor(Date.now() / 1000)
      await change.commit()
      const [entry] = entriesOf(await feed.read(undefined, AT_ONCE))
      assert.ok((entry?.not_before ?? 0) >= issuedAt)
      assert.ok(Math.floor(Date.parse(entry?.at ?? '') / 1000) < issuedAt)
    },
  )

  test('of changed claims that is read a day later names a time soon after the change all the same', async (t) => {
    const { db } = await freshDatabase(t)
    const nowMs = db.dialect === 'sqlite' ? T0 : Date.now()
    await db.inTransaction((transaction) => recordingAt(nowMs).claimsChanged(transaction, 'ada'))
    if (db.dialect === 'postgres') await db.run('UPDATE new_revocations SET at = at - ?', 24 * 60 * MINUTE_MS)
    const later = { now: () => T0 + 5 * MINUTE_MS }
    const [entry] = entriesOf(await feedOf(db, later).read(undefined, AT_ONCE))
    const at = Math.floor(Date.parse(entry?.at ?? '') / 1000)
    assert.ok(entry?.not_before !== undefined && entry.not_before > at && entry.not_before <= at + 40)
  })
})
