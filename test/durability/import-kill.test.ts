// Runs on SQLite and PostgreSQL.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { openDatabase } from '../support/database/database.ts'
import { spawnSvc } from '../support/service/command.ts'
import { exportLines, importJson, toLines, writeInput } from '../support/service/imports.ts'
import { startService } from '../support/service/service.ts'

/** The last of them have passwords, whose hashes take longer than a test needs to notice the first. */
const [USERS, WITHOUT_PASSWORD] = [1500, 1000]

test('kill -9 in the middle of an import: users are there as a whole, and the next run adds the others', async (t) => {
  const service = await startService({ t })
  const lines = Array.from({ length: USERS }, (_, index) => {
    const id = randomUUID()
    const identities = [{ provider: 'corp', issuer: 'https://corp.example', subject: id }]
    return { id, email: `u${index}@example.com`, ...(index % 4 === 0 && { identities }) }
  })
  const slow = lines.map((line, index) => (index < WITHOUT_PASSWORD ? line : { ...line, password: randomUUID() }))
  const file = writeInput(service, 'users.jsonl', toLines(slow))
  const database = await openDatabase(service, t)
  const count = async () => Number((await database.rows('SELECT COUNT(*) AS count FROM users'))[0]?.count)

  const child = spawnSvc({ args: ['users', 'import', file], cwd: service.directory, env: service.env })
  const ended = once(child, 'exit')
  while ((await count()) === 0 && child.exitCode === null) await sleep(5)
  child.kill('SIGKILL')
  await ended
  const before = await count()
  assert.ok(before > 0 && before < lines.length, `${before} users were imported`)
  const connected = (await database.rows('SELECT COUNT(*) AS count FROM identities'))[0]?.count
  const expected = lines.slice(0, before).filter(({ identities }) => identities).length
  assert.equal(Number(connected), expected, 'every one of these with their connections')

  const again = await importJson(service, toLines(lines))
  assert.deepEqual([again.existing, again.imported, again.code], [before, lines.length - before, 0])
  assert.equal((await exportLines(service)).length, lines.length)
})
