// Runs on SQLite.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hash } from '@node-rs/argon2'
import { signedUp } from '../../support/client/accounts.ts'
import { assertCanLogIn, assertCannotLogIn } from '../../support/client/assertions.ts'
import { openDatabase } from '../../support/database/database.ts'
import { startService } from '../../support/service/service.ts'

const service = await startService({ fullHashes: true })
const database = await openDatabase(service)
// The column of the hashes is known by the first of them.
await signedUp(service)

type Column = { table: string; name: string }

/** The only column that contains password hashes. */
const findHashColumn = async (): Promise<Column> => {
  const found: Column[] = []
  for (const { table, name } of await database.columns()) {
    const rows = await database.rows(`SELECT 1 FROM "${table}" WHERE CAST("${name}" AS TEXT) LIKE '$argon2%' LIMIT 1`)
    if (rows.length > 0) found.push({ table, name })
  }
  const [column] = found
  assert.ok(column && found.length === 1, JSON.stringify(found))
  return column
}

const storedHashes = async () => {
  const { table, name } = await findHashColumn()
  const rows = await database.rows(`SELECT "${name}" AS hash FROM "${table}"`)
  return rows.map(({ hash }) => String(hash))
}
const current = /^\$argon2id\$v=19\$m=19456,t=2,p=1\$[\w+/]{22,}\$[\w+/]{43,}$/

test('Argon2id, PHC string, 19 MiB, 2 passes, 1 lane, with a different salt for each hash', async () => {
  const { person } = await signedUp(service)
  await signedUp(service, { ...person, email: `x${person.email}`, username: `x${person.username}` })
  const hashes = await storedHashes()
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
    const before = new Set(await storedHashes())
    const { person } = await signedUp(service)
    const made = (await storedHashes()).find((each) => !before.has(each))
    assert.ok(made)
    const foreign = await hash(person.password, options)
    const { table, name } = await findHashColumn()
    await database.rows(`UPDATE "${table}" SET "${name}" = ? WHERE "${name}" = ?`, foreign, made)
    await assertCannotLogIn(service, { ...person, password: 'not the password' })
    assert.ok((await storedHashes()).includes(foreign), 'a wrong password changes nothing')
    await assertCanLogIn(service, person)
    const after = await storedHashes()
    assert.ok(!after.includes(foreign))
    const fresh = after.filter((each) => !before.has(each))
    assert.equal(fresh.length, 1)
    assert.match(fresh[0] ?? '', current)
    await assertCanLogIn(service, person)
  })
}
