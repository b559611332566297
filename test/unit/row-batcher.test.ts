// Runs once.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { AppError } from '../../src/lib/errors.ts'
import { createRowBatcher } from '../../src/storage/postgres/row-batcher.ts'

interface Row {
  id: string
}

const QUERY = { select: 'SELECT id FROM things', key: 'things.id', mapRow: ({ id }: Row) => id }

test('all reads in one turn of the event loop are one query, and each gets its own row', async () => {
  const queried: string[][] = []
  const rows = createRowBatcher<Row, string>({
    ...QUERY,
    timeoutMs: 60_000,
    read: async (_sql, keys) => {
      queried.push([keys].flat())
      return [keys].flat().flatMap((id) => (id === 'missing' ? [] : [{ id }]))
    },
  })
  assert.deepEqual(await Promise.all(['a', 'b', 'a', 'missing'].map(async (id) => rows.get(id))), [
    'a',
    'b',
    'a',
    undefined,
  ])
  assert.deepEqual(queried, [['a', 'b', 'missing']])
})

test('a single read compares with one key, for which the server can keep its plan', async () => {
  const queried: unknown[] = []
  const read = async (sql: string, keys: string | string[]): Promise<Row[]> => {
    queried.push([sql, keys])
    return [{ id: 'a' }]
  }
  const rows = createRowBatcher<Row, string>({ ...QUERY, timeoutMs: 60_000, read })
  assert.equal(await rows.get('a'), 'a')
  assert.deepEqual(queried, [['SELECT id FROM things WHERE things.id = ?', 'a']])
})

test('a read that has waited too long to begin fails, and is not made any more', async (t) => {
  let nowMs = 0
  t.mock.method(performance, 'now', () => nowMs)
  const queried: string[] = []
  const gate = Promise.withResolvers<void>()
  const rows = createRowBatcher<Row, string>({
    ...QUERY,
    timeoutMs: 1500,
    read: async (_sql, keys) => {
      queried.push(...[keys].flat())
      await gate.promise
      return [keys].flat().map((id) => ({ id }))
    },
  })
  const first = rows.get('first')
  while (queried.length < 1) await sleep(1)
  const second = rows.get('second')
  while (queried.length < 2) await sleep(1)
  const late = assert.rejects(
    async () => rows.get('late'),
    (error) => error instanceof AppError && error.code === 'unavailable',
  )
  nowMs = 1501
  gate.resolve()
  assert.deepEqual(await Promise.all([first, second]), ['first', 'second'])
  await late
  assert.deepEqual(queried, ['first', 'second'])
})
