// Runs on SQLite.
import assert from 'node:assert/strict'
import { rmSync } from 'node:fs'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, describe, test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { createDataVersionReader } from '../../src/storage/sqlite/row-cache.ts'

const folder = await mkdtemp(join(tmpdir(), 'svc-data-version-'))
const [own, other] = ['own', 'other'].map(() => new DatabaseSync(join(folder, 'svc.db'))) as [
  DatabaseSync,
  DatabaseSync,
]
own.exec('PRAGMA journal_mode = WAL; CREATE TABLE probe (amount INTEGER)')
const commit = (connection: DatabaseSync) => connection.exec('INSERT INTO probe VALUES (1)')
const readDataVersion = createDataVersionReader(own)

after(() => {
  own.close()
  other.close()
  rmSync(folder, { recursive: true })
})

describe('the data version', () => {
  test('changes by the next turn of the event loop when another connection commits', async () => {
    for (let round = 0; round < 20; round++) {
      const before = readDataVersion()
      commit(other)
      await setImmediate()
      assert.notEqual(readDataVersion(), before)
    }
  })

  test('changes within a turn that takes long', () => {
    const before = readDataVersion()
    commit(other)
    for (const startMs = performance.now(); performance.now() - startMs < 1; );
    assert.notEqual(readDataVersion(), before)
  })

  test('stays when this connection commits', async () => {
    const before = readDataVersion()
    commit(own)
    await setImmediate()
    assert.equal(readDataVersion(), before)
  })
})
