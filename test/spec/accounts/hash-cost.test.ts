// Runs on SQLite.
import assert from 'node:assert/strict'
import { availableParallelism } from 'node:os'
import { describe, test } from 'node:test'
import { readConfig } from '../../../src/config/config.ts'
import { createPasswords } from '../../../src/accounts/passwords/passwords.ts'
import { newPerson, type Person, signedUp } from '../../support/client/accounts.ts'
import { assertCanLogIn, assertCannotLogIn } from '../../support/client/assertions.ts'
import { openDatabase } from '../../support/database/database.ts'
import { exportLines, importLines } from '../../support/service/imports.ts'
import { createUser, setPassword } from '../../support/service/operator-commands.ts'
import { startService } from '../../support/service/service.ts'
import { startServiceProcess } from '../../support/service/service-process.ts'

const ACCEPTED = [
  'm=47104,t=1,p=1',
  'm=19456,t=2,p=1',
  'm=12288,t=3,p=1',
  'm=9216,t=4,p=1',
  'm=7168,t=5,p=1',
  'm=7168,t=1462,p=1',
  'm=65536,t=3,p=4',
  'm=1048576,t=1,p=1',
  'm=1048576,t=10,p=16',
]

const REFUSED = [
  'm=47103,t=1,p=1',
  'm=19455,t=2,p=1',
  'm=12287,t=3,p=1',
  'm=9215,t=4,p=1',
  'm=7167,t=5,p=1',
  'm=7167,t=100,p=1',
  'm=1048577,t=1,p=1',
  'm=1048576,t=11,p=1',
  'm=7168,t=1463,p=1',
  'm=65536,t=2,p=17',
  'm=65536,t=2,p=0',
  'm=65536,t=0,p=1',
  'm=65536,t=2',
  't=2,m=65536,p=1',
  'm=65536, t=2, p=1',
  'm=065536,t=2,p=1',
  'm=65536,t=2,p=1,data=eA',
  'm=64MiB,t=2,p=1',
  'm=6.5e4,t=2,p=1',
  'm=-65536,t=2,p=1',
  '$argon2id$v=19$m=65536,t=2,p=1',
  '19456,2,1',
]

const NAMED = 'm=47104,t=1 or m=19456,t=2 or m=12288,t=3 or m=9216,t=4 or m=7168,t=5'

const read = (env: Record<string, string>) => readConfig(env, () => '')

describe('§8.1 SVC_ARGON2', () => {
  test('every cost from the least of OWASP to 1 GiB and ten seconds is accepted', () => {
    for (const text of ACCEPTED) {
      const { memoryCost, timeCost, parallelism } = read({ SVC_ARGON2: text }).argon2
      assert.equal(`m=${memoryCost},t=${timeCost},p=${parallelism}`, text)
    }
    assert.deepEqual(read({}).argon2, { memoryCost: 19_456, timeCost: 2, parallelism: 1 })
  })

  for (const text of REFUSED) {
    test(`refused, and what is accepted is said: ${text}`, () => {
      assert.throws(
        () => read({ SVC_ARGON2: text }),
        ({ message }: Error) => message.startsWith(`SVC_ARGON2="${text}" is not accepted: `) && message.includes(NAMED),
      )
    })
  }

  test('each core computes one hash at a time unless SVC_HASHES_AT_ONCE says otherwise, and the start says so', async (t) => {
    assert.equal(read({}).hashesAtOnce, availableParallelism())
    assert.equal(read({ SVC_HASHES_AT_ONCE: '3' }).hashesAtOnce, 3)
    const service = await startServiceProcess({ t, env: { SVC_ARGON2: 'm=24576,t=2,p=1', SVC_HASHES_AT_ONCE: '3' } })
    const serving = service.logLines().find(({ message }) => message === 'svc is serving')
    assert.equal(serving?.password_hashes, 'm=24576,t=2,p=1; at most 3 at once, in 72 MiB')
  })

  test('a warning says when the hashes at once could take more than half of the memory', () => {
    const { warnings } = read({ SVC_ARGON2: 'm=1048576,t=1,p=1', SVC_HASHES_AT_ONCE: '1024' })
    assert.match(warnings.join('\n'), /^SVC_ARGON2 makes 1024 hashes at once hold 1048576 MiB, .*SVC_HASHES_AT_ONCE/)
    assert.deepEqual(read({ SVC_ARGON2: 'm=19456,t=2,p=1', SVC_HASHES_AT_ONCE: '1' }).warnings, [])
  })

  test('an email without an account costs a hash of the cost that is set', async () => {
    // Argon2 needs 8 KiB a lane: with less, a hash at this very cost fails.
    const passwords = createPasswords({
      atOnce: 1,
      waiting: 1,
      foreignBytes: 2 ** 30,
      cost: { memoryCost: 7, timeCost: 1, parallelism: 1 },
    })
    await assert.rejects(passwords.check('any password', null), /memory/i)
  })

  test('a login replaces a hash of another cost, up and down; a wrong password does not', async () => {
    const service = await startService({ fullHashes: true })
    const database = await openDatabase(service)
    const costOf = async ({ email }: Person) => {
      const [row] = await database.rows('SELECT password_hash FROM users WHERE email = ?', email)
      return String(row?.password_hash).split('$')[3]
    }
    const { person } = await signedUp(service)
    assert.equal(await costOf(person), 'm=19456,t=2,p=1')
    for (const cost of ['m=24576,t=2,p=2', 'm=7168,t=5,p=1', 'm=19456,t=2,p=1']) {
      const before = await costOf(person)
      await service.restart({ env: { SVC_ARGON2: cost } })
      await assertCannotLogIn(service, { ...person, password: 'not the password' })
      assert.equal(await costOf(person), before)
      await assertCanLogIn(service, person)
      assert.equal(await costOf(person), cost)
      await assertCanLogIn(service, person)
      const { person: fresh } = await signedUp(service)
      assert.equal(await costOf(fresh), cost)
    }
  })

  test('commands and imports hash at this cost, and take hashes of any', async () => {
    const service = await startService({ env: { SVC_ARGON2: 'm=9216,t=4,p=1' } })
    const [created, changed, imported] = [newPerson(), newPerson(), newPerson()]
    await createUser(service, created)
    await createUser(service, changed)
    await setPassword(service, changed.email, `new ${changed.password}`)
    await importLines(service, [{ email: imported.email, password: imported.password }])
    const lines = await exportLines(service)
    for (const { password_hash: hash } of lines) assert.match(String(hash), /^\$argon2id\$v=19\$m=9216,t=4,p=1\$/)
    assert.equal(lines.length, 3)
    await assertCanLogIn(service, { ...changed, password: `new ${changed.password}` })
  })
})
