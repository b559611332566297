// Runs on SQLite.
import assert from 'node:assert/strict'
import { cpSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, test } from 'node:test'
import type { Database } from '../../src/storage/database.ts'
import { openSqlite } from '../../src/storage/sqlite/sqlite.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

const INSERT = 'INSERT INTO probe (words) VALUES (?)'

const open = async (file: string): Promise<{ db: Database; problems: string[] }> => {
  const problems: string[] = []
  const db = await openSqlite({ file, onFailure: (error) => problems.push(error.message) })
  return { db, problems }
}

/** A database in the folder `data` with the row 'before', which is also in a copy of it, and the row 'after' in its log. */
const openProbe = async () => {
  const folder = temporaryDirectory()
  const file = path.join(folder, 'data', 'svc.db')
  const { db, problems } = await open(file)
  await db.run('CREATE TABLE probe (words TEXT)')
  await db.run('CREATE TABLE installation (name TEXT)')
  await db.run(INSERT, 'before')
  const copy = path.join(folder, 'copy.db')
  await db.backup(copy)
  await db.run(INSERT, 'after')
  return { db, problems, folder, file, copy }
}

type Probe = Awaited<ReturnType<typeof openProbe>>

const assertRefuses = async (db: Database): Promise<void> => {
  const message = /removed or replaced/
  await assert.rejects(db.run(INSERT, 'refused'), message)
  await assert.rejects(
    db.inTransaction((transaction) => transaction.run(INSERT, 'refused')),
    message,
  )
  await assert.rejects(db.requireHealthy(), message)
  assert.equal((await db.all('SELECT * FROM probe')).length, 2, 'reads go on')
}

/** What another process finds that opens the file, which is what the next start does. */
const wordsOf = (file: string): unknown[] => {
  const database = new DatabaseSync(file)
  try {
    assert.equal(database.prepare('PRAGMA integrity_check').get()?.integrity_check, 'ok')
    return database
      .prepare('SELECT words FROM probe')
      .all()
      .map(({ words }) => words)
  } finally {
    database.close()
  }
}

/** What is done to the files, and what each of them holds afterwards. */
const REPLACEMENTS: Record<string, { replace: (probe: Probe) => void; after: (probe: Probe) => Promise<void> | void }> =
  {
    'a copy moved over the database': {
      replace: ({ file, copy }) => renameSync(copy, file),
      after: ({ file }) => assert.deepEqual(wordsOf(file), ['before']),
    },
    'the database moved away, and a copy put in its place': {
      replace: ({ file, copy, folder }) => {
        renameSync(file, path.join(folder, 'data', 'svc.db.former'))
        renameSync(copy, file)
      },
      after: ({ file }) => {
        assert.deepEqual(wordsOf(file), ['before'])
        assert.deepEqual(wordsOf(`${file}.former`), ['before', 'after'], 'with the log that was set aside')
      },
    },
    'the database removed': {
      replace: ({ file }) => rmSync(file),
      after: async ({ file }) => {
        await assert.rejects(open(file), /database is missing, but its log is there.*svc\.db/)
        assert.ok(!existsSync(file) && existsSync(`${file}-wal`))
      },
    },
    'the log removed': {
      replace: ({ file }) => rmSync(`${file}-wal`),
      after: ({ file }) => assert.deepEqual(wordsOf(file), ['before', 'after']),
    },
    'the log replaced': {
      replace: ({ file }) => {
        renameSync(`${file}-wal`, `${file}-log`)
        writeFileSync(`${file}-wal`, '')
      },
      after: ({ file }) => {
        assert.equal(readFileSync(`${file}-wal`).length, 0)
        renameSync(`${file}-log`, `${file}-wal`)
        assert.deepEqual(wordsOf(file), ['before', 'after'])
      },
    },
    'the index of the log removed': {
      replace: ({ file }) => rmSync(`${file}-shm`),
      after: ({ file }) => assert.deepEqual(wordsOf(file), ['before', 'after']),
    },
    'the index of the log replaced': {
      replace: ({ file }) => {
        rmSync(`${file}-shm`)
        writeFileSync(`${file}-shm`, '')
      },
      after: ({ file }) => assert.deepEqual(wordsOf(file), ['before', 'after']),
    },
    'the folder replaced': {
      replace: ({ file, copy, folder }) => {
        renameSync(path.dirname(file), path.join(folder, 'former'))
        mkdirSync(path.dirname(file))
        renameSync(copy, file)
      },
      after: ({ file, folder }) => {
        assert.deepEqual(wordsOf(file), ['before'])
        assert.deepEqual(wordsOf(path.join(folder, 'former', 'svc.db')), ['before', 'after'])
      },
    },
  }

describe('files of a database that are removed or replaced while it is open', () => {
  for (const [title, { replace, after }] of Object.entries(REPLACEMENTS))
    test(`${title}: nothing is written any more, and the files stay as they are`, async () => {
      const probe = await openProbe()
      replace(probe)
      await assertRefuses(probe.db)
      await probe.db.close()
      await after(probe)
    })

  test('a symbolic link that names another database: both stay as they are', async () => {
    const probe = await openProbe()
    await probe.db.close()
    const link = path.join(probe.folder, 'link.db')
    symlinkSync(probe.file, link)
    const { db } = await open(link)
    await db.run(INSERT, 'by the link')
    rmSync(link)
    symlinkSync(probe.copy, link)
    await assert.rejects(db.run(INSERT, 'refused'), /removed or replaced/)
    await db.close()
    assert.deepEqual(wordsOf(probe.copy), ['before'])
    assert.deepEqual(wordsOf(probe.file), ['before', 'after', 'by the link'])
  })

  test('are used again once they are back', async () => {
    const { db, file, copy } = await openProbe()
    renameSync(file, `${file}.away`)
    await assertRefuses(db)
    renameSync(`${file}.away`, file)
    await db.run(INSERT, 'again')
    await db.requireHealthy()
    await db.close()
    assert.deepEqual(wordsOf(file), ['before', 'after', 'again'])
    assert.deepEqual(wordsOf(copy), ['before'])
  })

  test('a checkpoint that is due writes into neither database', async () => {
    const { db, file, copy, problems } = await openProbe()
    // A log of 6 MB, which the next commits would have moved.
    for (let count = 0; count < 14; count++)
      await Promise.all(Array.from({ length: 100 }, () => db.run(INSERT, 'x'.repeat(3500))))
    const former = `${file}.former`
    cpSync(file, `${file}.before`)
    renameSync(file, former)
    renameSync(copy, file)
    const left = readFileSync(file)
    for (let count = 0; count < 20; count++) await assert.rejects(db.run(INSERT, 'refused'), /removed or replaced/)
    await db.close()
    assert.deepEqual(readFileSync(file), left)
    assert.deepEqual(readFileSync(former), readFileSync(`${file}.before`))
    assert.equal(wordsOf(former).length, 1402)
    assert.match(problems.join(), /has been replaced. The log of the former one is now .*svc\.db\.former-wal/)
  })
})
