// Runs once.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { AppError, unavailable } from '../../src/lib/errors.ts'
import type { Value } from '../../src/storage/database.ts'
import { createUpdateBatcher } from '../../src/storage/postgres/update-batcher.ts'

const UPDATE = 'UPDATE things SET size = ?, name = ? WHERE id = ? AND size < ?'
const rows: Value[][] = [1, 2, 3].map((size) => [size, `name ${size}`, `id ${size}`, size])

interface Server {
  /** The places that a common statement changes. */
  changed?: number[]
  failure?: Error
}

/** Runs the updates of all three rows in one turn, and records the statements. */
const runAll = async ({ changed = [], failure }: Server) => {
  const together: { sql: string; columns: Value[][] }[] = []
  const alone: Value[][] = []
  const run = createUpdateBatcher({
    runAlone: async (_sql, values) => {
      alone.push(values)
      return 7
    },
    runTogether: async (sql, columns) => {
      together.push({ sql, columns })
      if (failure) throw failure
      return changed.map((place) => ({ place }))
    },
    timeoutMs: 60_000,
  })
  const results = await Promise.allSettled(rows.map((values) => run(UPDATE, values)))
  return { results, together, alone }
}

test('updates of one turn of the event loop are one statement, with the values column by column', async () => {
  const { results, together, alone } = await runAll({ changed: [3, 1, 2] })
  assert.deepEqual(
    results.map((result) => result.status === 'fulfilled' && result.value),
    [1, 1, 1],
  )
  assert.equal(together.length, 1)
  assert.deepEqual(together[0]?.columns, [
    [1, 2, 3],
    ['name 1', 'name 2', 'name 3'],
    ['id 1', 'id 2', 'id 3'],
    [1, 2, 3],
  ])
  assert.match(together[0]?.sql ?? '', /CAST\(\? AS BIGINT\[\]\), CAST\(\? AS TEXT\[\]\)/)
  assert.deepEqual(alone, [])
})

test('one that the common statement has not changed runs alone', async () => {
  const { results, alone } = await runAll({ changed: [2] })
  assert.deepEqual(
    results.map((result) => result.status === 'fulfilled' && result.value),
    [7, 1, 7],
  )
  assert.deepEqual(alone, [rows[0], rows[2]])
})

test('all run alone where the server refuses the common statement', async () => {
  const { alone } = await runAll({ failure: new AppError('invalid_request', 'A text has a NUL character.') })
  assert.deepEqual(alone, rows)
})

test('none runs again where nobody knows whether the common statement was committed', async () => {
  const { results, alone } = await runAll({ failure: unavailable('The database cannot be reached.') })
  for (const result of results) assert.equal(result.status, 'rejected')
  assert.deepEqual(alone, [])
})

test('other statements run alone, at once', async () => {
  const alone: string[] = []
  const run = createUpdateBatcher({
    runAlone: async (sql) => alone.push(sql),
    runTogether: () => assert.fail(),
    timeoutMs: 60_000,
  })
  const statements = [
    'DELETE FROM things WHERE id = ?',
    'INSERT INTO things (id) VALUES (?)',
    'UPDATE things SET size = 0',
  ]
  const running = [...statements, ...statements].map((sql) => run(sql, ['id']))
  assert.deepEqual(alone, [...statements, ...statements])
  await Promise.all(running)
})

test('an update alone that waits for a lock keeps the next ones waiting for a moment only', async () => {
  const started: Value[] = []
  const gate = Promise.withResolvers<number>()
  const run = createUpdateBatcher({
    runAlone: ([...sql], [, , id = null]) => {
      assert.equal(sql.join(''), UPDATE)
      started.push(id)
      return gate.promise
    },
    runTogether: () => assert.fail(),
    timeoutMs: 60_000,
  })
  const running: Promise<number>[] = []
  for (const [index, values] of [...rows, ...rows].entries()) {
    running.push(run(UPDATE, values))
    while (started.length <= index) await sleep(1)
  }
  gate.resolve(1)
  assert.deepEqual(await Promise.all(running), [1, 1, 1, 1, 1, 1])
})
