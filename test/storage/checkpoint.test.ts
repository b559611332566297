// Runs on SQLite.
import assert from 'node:assert/strict'
import { statSync } from 'node:fs'
import path from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, test } from 'node:test'
import { openSqlite } from '../../src/storage/sqlite/sqlite.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'
import { eventually } from '../support/wait.ts'

const fail = (error: Error): never => {
  throw error
}

const PAGE = 'x'.repeat(3500)
const MAX_LOG_BYTES = 16_000_000
/** A checkpoint is due at 1,500 pages of log, and looked for after every eighth commit. */
const PAGES_DUE = 2000

const openProbe = async () => {
  const file = path.join(temporaryDirectory(), 'svc.db')
  const db = await openSqlite({ file, onFailure: fail })
  await db.run('CREATE TABLE probe (id INTEGER PRIMARY KEY, words TEXT)')
  const other = new DatabaseSync(file)
  const log = () => other.prepare('PRAGMA wal_checkpoint(NOOP)').get() as { log: number; checkpointed: number }
  return {
    db,
    other,
    /** Writes pages, `atOnce` of them in one turn of the event loop. */
    async write(pages: number, atOnce: number) {
      for (let written = 0; written < pages; written += atOnce)
        await Promise.all(Array.from({ length: atOnce }, () => db.run('INSERT INTO probe (words) VALUES (?)', PAGE)))
    },
    logBytes: () => statSync(`${file}-wal`).size,
    log,
    /** Resolves when the log has no pages that a checkpoint is due for, or all of them are in the database. */
    checkpointed: () =>
      eventually(
        'the log is checkpointed',
        () => {
          const { log: pages, checkpointed } = log()
          return pages < PAGES_DUE || checkpointed === pages
        },
        10,
      ),
    async close() {
      other.close()
      await db.close()
    },
  }
}

describe('checkpoints', () => {
  test('a short log is left alone', async () => {
    const probe = await openProbe()
    await probe.write(20, 1)
    assert.equal(probe.log().checkpointed, 0)
    await probe.close()
  })

  for (const atOnce of [10, 50]) {
    test(`keep the log short, with ${atOnce} writes in one commit`, async () => {
      const probe = await openProbe()
      for (let written = 0; written < 8000; written += 500) {
        await probe.write(500, atOnce)
        // Its thread may be late on a busy machine, and commits go on while it waits.
        await probe.checkpointed()
        assert.ok(probe.logBytes() < MAX_LOG_BYTES, `${probe.logBytes()} bytes`)
      }
      assert.equal(probe.other.prepare('SELECT count(*) AS count FROM probe').get()?.count, 8000)
      await probe.close()
    })
  }

  test('go on after a reader in another process has held the log', async () => {
    const probe = await openProbe()
    await probe.write(10, 1)
    probe.other.exec('BEGIN')
    probe.other.prepare('SELECT count(*) FROM probe').get()
    await probe.write(4000, 50)
    probe.other.exec('COMMIT')
    const longest = probe.logBytes()
    await probe.write(4000, 50)
    await probe.checkpointed()
    await probe.write(50, 50)
    assert.ok(probe.logBytes() <= Math.max(longest, MAX_LOG_BYTES), `${probe.logBytes()} bytes after ${longest}`)
    await probe.close()
  })
})
