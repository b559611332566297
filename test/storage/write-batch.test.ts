// Runs on SQLite.
import assert from 'node:assert/strict'
import path from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, test } from 'node:test'
import { AppError } from '../../src/lib/errors.ts'
import { openSqlite } from '../../src/storage/sqlite/sqlite.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

const fail = (error: Error): never => {
  throw error
}

const openProbe = async () => {
  const file = path.join(temporaryDirectory(), 'svc.db')
  const db = await openSqlite({ file, onFailure: fail })
  await db.run('CREATE TABLE probe (id TEXT PRIMARY KEY, words TEXT)')
  return { db, file }
}

const INSERT = 'INSERT INTO probe (id, words) VALUES (?, ?)'

describe('single statements of one turn of the event loop', () => {
  test('share a commit: another connection sees all of them or none', async () => {
    const { db, file } = await openProbe()
    const other = new DatabaseSync(file)
    const count = other.prepare('SELECT count(*) AS count FROM probe')
    const seen = new Set<unknown>()
    const watched = db.autocommit(() => seen.add(count.get()?.count))
    await Promise.all(Array.from({ length: 30 }, (_, index) => watched.run(INSERT, `row ${index}`, '')))
    assert.deepEqual([...seen], [30])
    other.close()
    await db.close()
  })

  test('run in their order, each on what the one before it left', async () => {
    const { db } = await openProbe()
    const changes = await Promise.all([
      db.run(INSERT, 'row', '0'),
      ...Array.from({ length: 20 }, (_, index) =>
        db.run('UPDATE probe SET words = ? WHERE words = ?', String(index + 1), String(index)),
      ),
    ])
    assert.deepEqual(new Set(changes), new Set([1]))
    assert.equal((await db.get<{ words: string }>('SELECT words FROM probe'))?.words, '20')
    await db.close()
  })

  test('on a full disk, what is acknowledged is stored, and what is not is not', async () => {
    const { db, file } = await openProbe()
    await db.get('PRAGMA max_page_count = 40')
    const sizes = Array.from({ length: 200 }, (_, index) => (index % 3 === 0 ? 8000 : 10))
    const outcomes = await Promise.allSettled(
      sizes.map((size, index) => db.run(INSERT, `row ${index}`, 'x'.repeat(size))),
    )
    const acknowledged = outcomes.flatMap(({ status }, index) => (status === 'fulfilled' ? [`row ${index}`] : []))
    for (const outcome of outcomes)
      if (outcome.status === 'rejected')
        assert.ok(outcome.reason instanceof AppError && outcome.reason.code === 'unavailable')
    assert.ok(acknowledged.length < sizes.length, 'the disk is full')
    const other = new DatabaseSync(file)
    const stored = other.prepare('SELECT id FROM probe').all()
    assert.deepEqual(new Set(stored.map(({ id }) => id)), new Set(acknowledged))
    other.close()
    await db.get('PRAGMA max_page_count = 4000')
    assert.equal(await db.run(INSERT, 'later', ''), 1)
    await db.close()
  })

  test('are stored before a close that was called after them ends', async () => {
    const { db, file } = await openProbe()
    const writing = Promise.all([db.run(INSERT, 'last-1', ''), db.run(INSERT, 'last-2', '')])
    await db.close()
    assert.deepEqual(await writing, [1, 1])
    const other = new DatabaseSync(file)
    assert.equal(other.prepare('SELECT count(*) AS count FROM probe').get()?.count, 2)
    other.close()
  })

  test('wait for the lock of another process together, and none is lost or done twice', async () => {
    const { db, file } = await openProbe()
    const other = new DatabaseSync(file)
    other.exec('BEGIN IMMEDIATE')
    const early = Array.from({ length: 20 }, (_, index) => db.run(INSERT, `early ${index}`, ''))
    await new Promise((resolve) => setTimeout(resolve, 50))
    const late = Array.from({ length: 20 }, (_, index) => db.run(INSERT, `late ${index}`, ''))
    await new Promise((resolve) => setTimeout(resolve, 50))
    other.exec('COMMIT')
    assert.deepEqual(new Set(await Promise.all([...early, ...late])), new Set([1]))
    assert.equal(other.prepare('SELECT count(*) AS count FROM probe').get()?.count, 40)
    other.close()
    await db.close()
  })
})
