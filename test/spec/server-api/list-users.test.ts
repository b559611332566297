// Runs on SQLite and PostgreSQL.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, test } from 'node:test'
import { currentUser, signedUp } from '../../support/client/accounts.ts'
import { assertJsonError } from '../../support/client/assertions.ts'
import { createBackend } from '../../support/client/backend.ts'
import { openDatabase } from '../../support/database/database.ts'
import { turnedClock } from '../../support/clock/turned-clock.ts'
import { startReplicas } from '../../support/service/replicas.ts'

type Listed = { id: string; email: string; username: string; updated_at: string; created_at: string }
type Page = { users: Listed[]; next_cursor: string | null }

const clock = turnedClock()
const [one, other] = await startReplicas({ clock })
const database = await openDatabase(one)
const backend = await createBackend(one, ['users:write'])

const pageOf = async (query: string, service = one): Promise<Page> => {
  const answer = await backend.at(service).call('GET', `/users?${query}`)
  assert.equal(answer.status, 200, answer.text)
  return answer.json<Page>()
}
/** All pages, in turn from both replicas. */
const allOf = async (query: string, from: string | null = ''): Promise<Listed[]> => {
  const users: Listed[] = []
  let cursor = from
  for (let round = 0; cursor !== null; round += 1) {
    const page: Page = await pageOf(cursor === '' ? query : `${query}&cursor=${cursor}`, round % 2 ? other : one)
    users.push(...page.users)
    cursor = page.next_cursor
  }
  return users
}
const idsOf = (users: Listed[]): string[] => users.map(({ id }) => id)

let made = 0
const created = async (
  given: object = {},
  name = `user-${(made += 1)}-${randomUUID().slice(0, 8)}`,
): Promise<Listed> => {
  const answer = await backend.call('POST', '/users', { email: `${name}@list.example`, ...given })
  assert.equal(answer.status, 201, answer.text)
  // Users of the same millisecond are in the order of their ids.
  await clock.turnTo(clock.aheadMs() + 1)
  return answer.json<Listed>()
}

/** Inserts a user as an import does: with an id and a time of creation of another system. */
const imported = async (createdAtMs: number): Promise<string> => {
  const id = randomUUID()
  await database.rows(
    `INSERT INTO users (id, email, email_lower, username, roles, disabled, created_at, updated_at, self_made) VALUES (?, ?, ?, ?, '[]', 0, ?, ?, 0)`,
    id,
    `${id}@import.example`,
    `${id}@import.example`,
    id.slice(0, 18),
    createdAtMs,
    createdAtMs,
  )
  return id
}

describe('§10.5 GET /users', () => {
  test('has every user once, in the order in which svc got to know them, whatever the size of the pages', async () => {
    const known = [await created(), await created(), await created(), await created(), await created()]
    const whole = idsOf(await allOf('limit=1000'))
    assert.deepEqual(whole.slice(-5), idsOf(known))
    for (const limit of [1, 2, 3, whole.length]) assert.deepEqual(idsOf(await allOf(`limit=${limit}`)), whole)
    assert.equal(new Set(whole).size, whole.length)
    const page = await pageOf('limit=2')
    assert.deepEqual([page.users.length, typeof page.next_cursor], [2, 'string'])
  })

  test('a user who is added while it is read is on a later page, imported ones with an older date too', async () => {
    await created()
    await created()
    const first = await pageOf('limit=1')
    const added = [(await created()).id, await imported(1000), await imported(1000)]
    const rest = idsOf(await allOf('limit=2', first.next_cursor))
    for (const id of added) assert.ok(rest.includes(id), id)
    const late = await imported(1)
    assert.equal(idsOf(await allOf('limit=1000')).at(-1), late)
  })

  test('a deleted user leaves no gap in which another one is missed', async () => {
    const last = await created()
    assert.equal(idsOf(await allOf('limit=1000')).at(-1), last.id)
    const before = await pageOf('limit=1000')
    const position = before.users.length - 1
    const page = await pageOf(`limit=${position}`)
    await backend.call('DELETE', `/users/${last.id}`)
    const next = await created()
    assert.deepEqual(idsOf((await pageOf(`limit=${position}&cursor=${page.next_cursor}`)).users), [next.id])
  })

  test('is empty, and has no cursor, where no user fits', async () => {
    for (const query of [
      `id=${randomUUID()}`,
      'email=no@body.example',
      'username=no-body',
      'role=none',
      'search=%25%5f',
    ])
      assert.deepEqual(await pageOf(query), { users: [], next_cursor: null }, query)
  })

  test('finds users by id, up to a hundred, and leaves out the unknown ones', async () => {
    const [a, b, c] = [await created(), await created(), await created()]
    const ids = [c.id, randomUUID(), a.id, b.id, a.id, ...Array.from({ length: 95 }, () => randomUUID())]
    const query = ids.map((id) => `id=${id}`).join('&')
    assert.deepEqual(await pageOf(query), { users: [a, b, c], next_cursor: null })
    assert.deepEqual(await allOf(`${query}&limit=1`), [a, b, c], 'also a page for each')
    assertJsonError(await backend.call('GET', `/users?${query}&id=${randomUUID()}`), 400, 'invalid_request')
  })

  test('finds users by email, username, role and whether they are disabled; all that is given must hold', async () => {
    const role = `role-${randomUUID().slice(0, 8)}`
    const [ada, bob] = [await created({ roles: ['x', role] }), await created({ roles: [role, `${role}-2`] })]
    assert.deepEqual((await pageOf(`email=${ada.email.toUpperCase()}`)).users, [ada])
    assert.deepEqual((await pageOf(`username=${bob.username.toUpperCase()}`)).users, [bob])
    assert.deepEqual((await pageOf(`role=${role}`)).users, [ada, bob])
    assert.deepEqual((await pageOf(`role=${role}-2`)).users, [bob])
    assert.deepEqual((await pageOf(`role=${role.slice(0, -1)}`)).users, [])
    assert.deepEqual((await pageOf(`role=${role}&disabled=true`)).users, [])
    await backend.call('PATCH', `/users/${bob.id}`, { disabled: true })
    assert.deepEqual(idsOf((await pageOf(`role=${role}&disabled=true`)).users), [bob.id])
    assert.deepEqual((await pageOf(`role=${role}&disabled=false`)).users, [ada])
    assert.deepEqual((await pageOf(`id=${ada.id}&email=${bob.email}`)).users, [])
  })

  test('searches in email and username, without wildcards', async () => {
    const tag = randomUUID().slice(0, 8)
    const [percent, plain] = [await created({}, `a%b_${tag}`), await created({ username: `u-${tag}` }, `axbx${tag}`)]
    assert.deepEqual((await pageOf(`search=${tag.toUpperCase()}`)).users, [percent, plain])
    assert.deepEqual((await pageOf(`search=${encodeURIComponent(`a%b_${tag}`)}`)).users, [percent])
    assert.deepEqual((await pageOf(`search=u-${tag}`)).users, [plain])
    assert.deepEqual((await pageOf(`search=${encodeURIComponent(`%${tag}`)}`)).users, [])
  })

  test('updated_since finds who was added or changed since then, and nobody who only signed in', async () => {
    const { agent } = await signedUp(one)
    const { id: seen } = await currentUser(agent)
    const changed = await created()
    await clock.turnTo(3_600_000)
    const since = new Date(clock.now()).toISOString()
    await agent.refresh()
    await backend.call('PATCH', `/users/${changed.id}`, { roles: ['changed'] })
    const added = await created()
    const found = idsOf(await allOf(`updated_since=${since}&limit=1`))
    assert.deepEqual(found, [changed.id, added.id])
    assert.ok(!found.includes(seen))
    assert.deepEqual((await pageOf(`updated_since=${added.created_at}`)).users.at(-1), added, 'that time included')
    const zoned = encodeURIComponent(since.replace('Z', '+00:00'))
    assert.deepEqual(idsOf((await pageOf(`updated_since=${zoned}`)).users), found)
  })

  test('a cursor is good for its list alone', async () => {
    await created()
    await created()
    const { next_cursor: cursor } = await pageOf('limit=1')
    assert.equal((await pageOf(`limit=5&cursor=${cursor}`)).users.length > 0, true)
    for (const query of [
      `search=a&cursor=${cursor}`,
      `disabled=false&cursor=${cursor}`,
      `updated_since=2020-01-01T00:00:00Z&cursor=${cursor}`,
      `cursor=${cursor}A`,
      `cursor=${String(cursor).slice(1)}`,
      'cursor=',
      'cursor=1',
      `cursor=${Buffer.from('1 x').toString('base64url')}`,
      `cursor=${Buffer.from(`${'9'.repeat(400)} x`).toString('base64url')}`,
    ]) {
      const answer = await backend.call('GET', `/users?${query}`)
      assertJsonError(answer, 400, 'invalid_request')
      assert.equal(answer.json<{ error: { field: string } }>().error.field, 'cursor', query)
    }
  })

  test('bad values are 400, and the answer names the parameter', async () => {
    for (const [field, ...values] of [
      ['limit', '0', '1001', '-1', '1.5', 'ten', '', '1e2', '+5'],
      ['disabled', 'yes', '', 'TRUE', '1'],
      ['id', 'nobody', '', "'"],
      ['email', 'nobody', '', '@'],
      ['username', 'a', '', 'a%20b', '%C3%A9'],
      ['role', 'A', '', 'a,b'],
      ['search', '', '%00', 'x'.repeat(255)],
      ['updated_since', '', 'yesterday', '1700000000', '2026-01-01', '2026-01-01T00:00:00', '2026-13-01T00:00:00Z'],
      ['sort', 'email'],
      ['updatedSince', '2026-01-01T00:00:00Z'],
    ]) {
      for (const value of values) {
        const answer = await backend.call('GET', `/users?${field}=${value}`)
        assertJsonError(answer, 400, 'invalid_request')
        assert.equal(answer.json<{ error: { field: string } }>().error.field, field, `${field}=${value}`)
      }
    }
    assertJsonError(await backend.call('GET', '/users?limit=1&limit=1'), 400, 'invalid_request')
  })

  test('needs the scope to read, which that to write includes', async () => {
    const reader = await createBackend(one, ['users:read'])
    assert.equal((await reader.call('GET', '/users?limit=1')).status, 200)
    assertJsonError(await reader.call('POST', '/users', { email: 'a@b.example' }), 403, 'forbidden')
    const sessions = await createBackend(one, ['sessions:write'])
    assertJsonError(await sessions.call('GET', '/users'), 403, 'forbidden')
  })
})
