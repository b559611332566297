import assert from 'node:assert/strict'
import path from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { hash } from '@node-rs/argon2'
import { assertCanLogIn, assertCannotLogIn } from '../support/assertions.ts'
import { afterwards } from '../support/cleanup.ts'
import { signedUp } from '../support/people.ts'
import { startService } from '../support/service.ts'

const service = await startService()
const database = new DatabaseSync(path.join(service.directory, 'data', 'svc.db'))
database.exec('PRAGMA busy_timeout = 5000')
afterwards(undefined, () => database.close())

type Column = { table: string; name: string }

/** The one column that holds password hashes, wherever it is. */
const hashColumn = (): Column => {
  const columns = database
    .prepare(
      `SELECT m.name AS "table", c.name AS name FROM sqlite_master m, pragma_table_info(m.name) c WHERE m.type = 'table'`,
    )
    .all()
    .map(({ table, name }) => ({ table: String(table), name: String(name) }))
  const found = columns.filter(({ table, name }) =>
    database.prepare(`SELECT 1 FROM "${table}" WHERE "${name}" LIKE '$argon2%' LIMIT 1`).get(),
  )
  const [column] = found
  assert.ok(column && found.length === 1, JSON.stringify(found))
  return column
}

const storedHashes = () => {
  const { table, name } = hashColumn()
  return database
    .prepare(`SELECT "${name}" AS hash FROM "${table}"`)
    .all()
    .map(({ hash }) => String(hash))
}
const current = /^\$argon2id\$v=19\$m=19456,t=2,p=1\$[\w+/]{22,}\$[\w+/]{43,}$/

test('Argon2id, PHC string, 19 MiB, 2 passes, 1 lane, and another salt for each', async () => {
  const { person } = await signedUp(service)
  await signedUp(service, { ...person, email: `x${person.email}`, username: `x${person.username}` })
  const hashes = storedHashes()
  for (const each of hashes) assert.match(each, current)
  assert.equal(new Set(hashes.map((each) => each.split('$')[4])).size, hashes.length)
})

const older = [
  ['weaker parameters', { memoryCost: 8192, timeCost: 1, parallelism: 1 }],
  ['more lanes', { memoryCost: 8192, timeCost: 2, parallelism: 2 }],
  ['stronger parameters', { memoryCost: 32768, timeCost: 3, parallelism: 1 }],
] as const
for (const [what, options] of older) {
  test(`parameters are read from the string, and a login with an older or foreign hash rehashes: ${what}`, async () => {
    const before = new Set(storedHashes())
    const { person } = await signedUp(service)
    const made = storedHashes().find((each) => !before.has(each))
    assert.ok(made)
    const foreign = await hash(person.password, options)
    const { table, name } = hashColumn()
    database.prepare(`UPDATE "${table}" SET "${name}" = ? WHERE "${name}" = ?`).run(foreign, made)
    await assertCannotLogIn(service, { ...person, password: 'not the password' })
    assert.ok(storedHashes().includes(foreign), 'a wrong password changes nothing')
    await assertCanLogIn(service, person)
    const after = storedHashes()
    assert.ok(!after.includes(foreign))
    const fresh = after.filter((each) => !before.has(each))
    assert.equal(fresh.length, 1)
    assert.match(fresh[0] ?? '', current)
    await assertCanLogIn(service, person)
  })
}
