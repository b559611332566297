// Runs on SQLite and PostgreSQL.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { adminSettings } from '../../support/admin/origin-admin.ts'
import { createBackend } from '../../support/client/backend.ts'
import { openDatabase } from '../../support/database/database.ts'
import { databaseChoice } from '../../support/database/database-choice.ts'
import { runCommandOf } from '../../support/service/operator-commands.ts'
import { startService } from '../../support/service/service.ts'
import { eventually } from '../../support/wait.ts'

const service = await startService({ env: { SVC_NAMES: 'optional' } })
const database = await openDatabase(service)
const backend = await createBackend(service, ['users:write', 'users:read'])

type Page = { users: { id: string; email: string }[]; next_cursor: string | null }

const found = async (search: string, more = ''): Promise<string[]> => {
  const answer = await backend.call('GET', `/users?search=${encodeURIComponent(search)}${more}`)
  assert.equal(answer.status, 200, answer.text)
  return answer.json<Page>().users.map(({ email }) => email)
}

const made = async (email: string, name?: string): Promise<string> => {
  const answer = await backend.call('POST', '/users', { email, name })
  assert.equal(answer.status, 201, answer.text)
  return answer.json<{ id: string }>().id
}

const indexed = (text: string) => database.rows(`SELECT rowid FROM user_search WHERE user_search MATCH ?`, `"${text}"`)

const isSqlite = databaseChoice === 'sqlite'

describe('§10.5 search', () => {
  test('finds any part of email, username and name, with the index and before it, for what changes as well', async () => {
    const ada = await made('ada.lovelace@search.example', 'Ada  Königin "O\'Hara" 100%_\\')
    const parts = ['love', 'LACE@sea', 'könig', 'KÖNIGIN', 'ko\u0308ni', `"o'h`, '100%_\\', '%_\\', 'a  k', 'ad']
    for (const part of parts) assert.deepEqual(await found(part), ['ada.lovelace@search.example'], part)
    for (const part of ['a k', 'a%e', 'love*', 'love OR ada', '"love"', 'lovex'])
      assert.deepEqual(await found(part), [])
    if (!isSqlite) await database.rows('CREATE EXTENSION pg_trgm')
    assert.match(await runCommandOf(service, ['database', 'index']), /Made the index/)
    assert.match(await runCommandOf(service, ['database', 'index']), /an index already/)
    for (const part of parts) assert.deepEqual(await found(part), ['ada.lovelace@search.example'], part)
    for (const part of ['a k', 'a%e', 'love*', 'love OR ada', '"love"', 'lovex'])
      assert.deepEqual(await found(part), [])
    await made('grace@search.example', 'Grace Hopper')
    assert.deepEqual(await found('race@sea'), ['grace@search.example'])
    await backend.call('PATCH', `/users/${ada}`, { name: 'Countess' })
    assert.deepEqual([await found('könig'), await found('ntes')], [[], ['ada.lovelace@search.example']])
    assert.deepEqual(await found('search.ex', '&disabled=true'), [])
    assert.deepEqual(await found('a', '&limit=1'), ['ada.lovelace@search.example'])
  })

  if (!isSqlite)
    test('svc doctor misses the index where administrators search among many users, until there is one', async (t) => {
      const own = await startService({ t, env: await adminSettings() })
      const users = await openDatabase(own, t)
      const codes = async (): Promise<string[]> => {
        const { stdout } = await own.cli(['doctor', '--json'])
        return (JSON.parse(stdout) as { findings: { code: string }[] }).findings.map(({ code }) => code)
      }
      const addUsers = (from: number, to: number) =>
        users.rows(`INSERT INTO users (id, email, email_lower, username, roles, disabled, created_at, updated_at)
          SELECT n, n || '@many.example', n || '@many.example', 'name' || n, '[]', 0, 1, 1
          FROM generate_series(${from}, ${to}) AS n`)
      await addUsers(1, 5000)
      assert.ok(!(await codes()).includes('search_unindexed'))
      await addUsers(5001, 5001)
      assert.ok((await codes()).includes('search_unindexed'))
      const refused = await own.cli(['database', 'index'])
      assert.match(refused.stderr, /CREATE EXTENSION pg_trgm/)
      await users.rows('CREATE EXTENSION pg_trgm')
      await runCommandOf(own, ['database', 'index'])
      assert.ok(!(await codes()).includes('search_unindexed'))
    })

  if (isSqlite)
    test('a deleted user is gone from the files, the index and the log included', async () => {
      // Letters that nothing else here has: three of them are a row of the index.
      const name = 'ꙮ𐍈ꙮ'
      const id = await made('vanishing-vivian@search.example', name)
      await backend.call('POST', '/users', { email: 'staying@search.example' })
      assert.deepEqual(await found('vivian'), ['vanishing-vivian@search.example'])
      await runCommandOf(service, ['database', 'index'])
      assert.equal((await indexed(name)).length, 1)
      const traces = async (): Promise<string[]> => {
        const contents = await database.contents()
        return [name, '𐍈ꙮ', 'vivian', 'VIVIAN'].filter((text) => contents.includes(text))
      }
      assert.deepEqual(await traces(), [name, '𐍈ꙮ', 'vivian'])
      assert.equal((await backend.call('DELETE', `/users/${id}`)).status, 204)
      assert.equal((await indexed(name)).length, 0)
      await eventually('every trace is gone', async () => (await traces()).length === 0)
      assert.deepEqual(await found('staying'), ['staying@search.example'])
    })
})
