// Runs on SQLite and PostgreSQL.
import assert from 'node:assert/strict'
import { beforeEach, describe, test } from 'node:test'
import { createLog } from '../../src/lib/log.ts'
import { systemClock } from '../../src/lib/time.ts'
import { createCleanupTime } from '../../src/storage/cleanup.ts'
import { migrate } from '../../src/storage/migrations.ts'
import { turnedClock } from '../support/clock/turned-clock.ts'
import { emptyDatabase, testOnPostgres } from './databases.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR

const clock = turnedClock()
const { open, url } = await emptyDatabase()
await clock.turnDatabase(url)
const db = await open()
await migrate(db, systemClock)

/** What cleanup of one process goes by. */
const startProcess = (processClock = clock, queries: Pick<typeof db, 'get' | 'run'> = db) => {
  const lines: string[] = []
  const log = createLog('info', { write: (line: string) => lines.push(line) })
  const findTime = createCleanupTime({ db: queries, clock: processClock, log })
  return {
    lines,
    find: findTime,
    async assertDeletes() {
      const timeMs = await findTime()
      assert.ok(Math.abs((timeMs ?? 0) - clock.now()) < 10_000, `by ${timeMs}`)
    },
    assertKeepsAll: async () => assert.equal(await findTime(), undefined),
  }
}

describe('the time that cleanup deletes by', { concurrency: 1 }, () => {
  beforeEach(async () => {
    await clock.turnTo(0)
    await db.run(`DELETE FROM installation WHERE name = 'cleanup time'`)
  })

  test('goes on with the clock, however long svc runs', async () => {
    const process = startProcess()
    await process.assertDeletes()
    await clock.turnTo(100 * DAY)
    await process.assertDeletes()
    assert.deepEqual(process.lines, [])
  })

  test('goes on where much time passes between two answers of the database', async () => {
    let isSlow = true
    const process = startProcess(clock, {
      run: (...statement) => db.run(...statement),
      get: async <Row>(...query: Parameters<typeof db.get>) => {
        const row = await db.get<Row>(...query)
        if (isSlow) await clock.turnTo(7 * DAY)
        isSlow = false
        return row
      },
    })
    await process.find()
    await process.assertDeletes()
  })

  test('goes on where two clean-ups look at once, one before much time passes and one after', async () => {
    const { promise: stores, resolve: onStore } = Promise.withResolvers<void>()
    const process = startProcess(clock, {
      get: (...query) => db.get(...query),
      // Were both under way, the time of the first would be stored last.
      run: async (...statement) => {
        if (clock.aheadMs() === 0) {
          onStore()
          await new Promise((resolve) => setTimeout(resolve, 50))
        }
        return db.run(...statement)
      },
    })
    const first = process.find()
    await stores
    await clock.turnTo(7 * DAY)
    await Promise.all([first, process.find()])
    await process.assertDeletes()
  })

  test('a clock that is set a hundred days ahead deletes nothing, and the right one again at once', async () => {
    const process = startProcess()
    await process.assertDeletes()
    clock.setWallClockTo(100 * DAY)
    await process.assertKeepsAll()
    await process.assertKeepsAll()
    assert.equal(process.lines.length, 1)
    await startProcess().assertKeepsAll()
    clock.setWallClockTo(HOUR)
    await clock.turnTo(HOUR)
    await process.assertDeletes()
  })

  test('far ahead of the last clean-up at a start is believed after a day, whatever starts in between', async () => {
    await startProcess().assertDeletes()
    await clock.turnTo(100 * DAY)
    const process = startProcess()
    await process.assertKeepsAll()
    assert.match(process.lines.join(), /far ahead of the last clean-up: nothing is deleted until then/)
    await clock.turnTo(100 * DAY + 23 * HOUR)
    await process.assertKeepsAll()
    await startProcess().assertKeepsAll()
    await clock.turnTo(101 * DAY + HOUR)
    await startProcess().assertDeletes()
    await startProcess().assertDeletes()
  })

  test('a start within a day of the last clean-up deletes at once', async () => {
    await startProcess().assertDeletes()
    await clock.turnTo(23 * HOUR)
    await startProcess().assertDeletes()
  })

  testOnPostgres('is that of the server: a replica more than a minute off deletes nothing', async () => {
    for (const skewMs of [-50_000, 50_000]) await startProcess(clock.skewed(skewMs)).assertDeletes()
    for (const skewMs of [-70_000, 70_000]) {
      const process = startProcess(clock.skewed(skewMs))
      await process.assertKeepsAll()
      assert.match(process.lines.join(), /is not that of the database: nothing is deleted/)
    }
  })
})
