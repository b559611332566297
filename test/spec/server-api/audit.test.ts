// Runs on SQLite and PostgreSQL.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, test } from 'node:test'
import { createAdmin } from '../../../sdk/src/admin.ts'
import { createUuidSequence } from '../../../src/lib/uuid.ts'
import { assertJsonError } from '../../support/client/assertions.ts'
import { createBackend } from '../../support/client/backend.ts'
import { openDatabase } from '../../support/database/database.ts'
import { runJsonCommandOf, showUser } from '../../support/service/operator-commands.ts'
import { startReplicas } from '../../support/service/replicas.ts'

interface Event {
  id: string
  at: string
  type: string
  user_id: string | null
  actor: string
  address: string | null
  user_agent: string | null
  details: Record<string, unknown>
}
type Page = { events: Event[]; next_cursor: string | null }

const [one, other] = await startReplicas({ env: { SVC_LOG_LEVEL: 'info', SVC_AUDIT_LOG: 'on' } })
const database = await openDatabase(one)
const backend = await createBackend(one, ['audit:read', 'users:write'])

const nextId = createUuidSequence()
const START_MS = Date.UTC(2026, 10, 22)
const HOSTILE = '\u001b]0;owned\u0007\u009b31m\u202e<script>'

/** What happened `minutes` after the start. */
const insert = async (minutes: number, { type = 'logout', userId = null as string | null, details = {} } = {}) => {
  const atMs = START_MS + minutes * 60_000
  const id = nextId(atMs)
  await database.rows(
    `INSERT INTO audit_events (id, at, type, user_id, actor, address, user_agent, details, count)
     VALUES (?, ?, ?, ?, 'user', '192.0.2.1', ?, ?, 1)`,
    id,
    atMs,
    type,
    userId,
    HOSTILE,
    JSON.stringify(details),
  )
  return id
}

const pageOf = async (query: string, service = one): Promise<Page> => {
  const answer = await backend.at(service).call('GET', `/audit?${query}`)
  assert.equal(answer.status, 200, answer.text)
  return answer.json<Page>()
}

/** All pages, in turn from both replicas; `between` runs before each but the first. */
const allOf = async (query: string, between = async () => {}): Promise<Event[]> => {
  const events: Event[] = []
  let cursor: string | null = ''
  for (let round = 0; cursor !== null; round += 1) {
    if (round > 0) await between()
    const page: Page = await pageOf(cursor === '' ? query : `${query}&cursor=${cursor}`, round % 2 ? other : one)
    events.push(...page.events)
    cursor = page.next_cursor
  }
  return events
}
const idsOf = (events: Event[]): string[] => events.map(({ id }) => id)

const USER = randomUUID()
const SOMEBODY = randomUUID()
const ids: string[] = []
for (let index = 0; index < 12; index += 1) {
  const type = index % 3 === 0 ? 'login.failed' : 'logout'
  ids.unshift(await insert(index, { type, userId: index % 2 ? USER : SOMEBODY, details: { count: index } }))
}
/** Not those that the start of this test has made. */
const LIST = 'since=2026-11-22T00:00:00Z&user_id='

describe('GET /auth/api/v2/audit', () => {
  test('lists what happened, the newest first, on pages', async () => {
    for (const limit of [1, 5, 6, 7]) {
      assert.deepEqual(
        idsOf(await allOf(`user_id=${USER}&limit=${limit}`)),
        ids.filter((_, index) => index % 2 === 0),
      )
    }
    const [latest] = (await pageOf(`user_id=${USER}&limit=1`)).events
    assert.deepEqual(latest, {
      id: ids[0],
      at: '2026-11-22T00:11:00.000Z',
      type: 'logout',
      user_id: USER,
      actor: 'user',
      address: '192.0.2.1',
      user_agent: HOSTILE,
      request_id: null,
      session_id: null,
      details: { count: 11 },
    })
  })

  test('finds by time, type and user, and by all of them', async () => {
    const [u, s] = [await allOf(`user_id=${USER.toUpperCase()}`), await allOf(`user_id=${SOMEBODY}`)]
    assert.deepEqual([...u, ...s].map(({ id }) => id).sort(), ids.toSorted())
    const late = await allOf(`since=2026-11-22T01%3A10%3A00%2B01%3A00&type=logout`)
    assert.deepEqual(idsOf(late).slice(-2), ids.slice(0, 2))
    const failures = await allOf(`user_id=${USER}&type=login.failed&limit=1`)
    assert.deepEqual(
      failures.map(({ details }) => details.count),
      [9, 3],
    )
    assert.deepEqual(await allOf(`${LIST}${randomUUID()}`), [])
    assert.deepEqual(idsOf(await allOf(`${LIST}${USER}&type=login.failed&limit=1000`)), idsOf(failures))
  })

  test('finds the few of a type among many of a user, a page of which may be empty', async () => {
    const userId = randomUUID()
    const few = [await insert(20, { type: 'signup', userId }), await insert(10_000, { type: 'signup', userId })]
    await database.rows(
      `INSERT INTO audit_events (id, at, type, user_id, actor, details, count)
       WITH RECURSIVE n (value) AS (SELECT 0 UNION ALL SELECT value + 1 FROM n WHERE value < 11999)
       SELECT '019aa8d5-0000-7000-8000-' || substr(CAST(100000000000 + value AS TEXT), 1, 12), ${START_MS + 3_600_000}, 'logout', '${userId}', 'user', '{}', 1 FROM n`,
    )
    const pages: Page[] = []
    let cursor: string | null = ''
    while (cursor !== null) {
      const page: Page = await pageOf(`user_id=${userId}&type=signup${cursor && `&cursor=${cursor}`}`)
      pages.push(page)
      cursor = page.next_cursor
    }
    assert.deepEqual(
      pages.flatMap(({ events }) => idsOf(events)),
      few.toReversed(),
    )
    assert.ok(pages.length > 2)
    await database.rows('DELETE FROM audit_events WHERE user_id = ?', userId)
  })

  test('misses nothing and repeats nothing while others write, also what is committed late', async () => {
    const userId = randomUUID()
    const before: string[] = []
    for (let index = 0; index < 20; index += 1) before.unshift(await insert(100 + index * 2, { userId }))
    let written = 0
    const seen = idsOf(
      await allOf(`user_id=${userId}&limit=3`, async () => {
        // One in the middle of what was read, and one that is newer than everything.
        await insert(101 + written * 2, { userId })
        await insert(1000 + written, { userId })
        written += 1
      }),
    )
    assert.equal(new Set(seen).size, seen.length)
    assert.deepEqual(
      seen.filter((id) => before.includes(id)),
      before,
    )
    assert.ok(written > 5)
    assert.equal((await allOf(`user_id=${userId}&limit=1000`)).length, before.length + 2 * written)
  })

  test('refuses what it does not know, with the parameter', async () => {
    const { next_cursor: cursor } = await pageOf(`user_id=${USER}&limit=1`)
    const refused: [string, string][] = [
      ['since=yesterday', 'since'],
      ['since=2026-11-22', 'since'],
      ['since=2026-02-29T00:00:00Z', 'since'],
      ['type=login', 'type'],
      ['type=', 'type'],
      ['user_id=ada', 'user_id'],
      ['limit=0', 'limit'],
      ['limit=1001', 'limit'],
      ['cursor=x', 'cursor'],
      [`cursor=${cursor}`, 'cursor'],
      [`user_id=${SOMEBODY}&cursor=${cursor}`, 'cursor'],
      [`user_id=${USER}&cursor=${cursor}A`, 'cursor'],
      ['user=ada', 'user'],
      [`user_id=${USER}&user_id=${USER}`, 'user_id'],
    ]
    for (const [query, field] of refused) {
      const answer = await backend.call('GET', `/audit?${query}`)
      assertJsonError(answer, 400, 'invalid_request')
      assert.equal(answer.json<{ error: { field: string } }>().error.field, field, query)
    }
    const typed = await backend.call('GET', '/audit?type=login')
    assert.match(typed.json<{ error: { message: string } }>().error.message, /one of login\.succeeded, /)
  })

  test('needs a key with the scope audit:read', async () => {
    const without = await createBackend(one, ['users:write', 'sessions:read'])
    assertJsonError(await without.call('GET', '/audit'), 403, 'forbidden')
    assert.equal((await backend.call('POST', '/audit', {})).status, 405)
    assert.equal((await backend.call('DELETE', '/audit')).status, 405)
  })

  test('is called by the SDK', async () => {
    const admin = createAdmin({ url: one.url, apiKey: backend.key })
    const found: string[] = []
    for await (const { id } of admin.audit.all({ user_id: USER, type: 'logout', limit: 2 })) found.push(id)
    assert.deepEqual(found, idsOf(await allOf(`user_id=${USER}&type=logout`)))
    const page = await admin.audit.list({ user_id: USER, limit: 1 })
    assert.deepEqual([page.events.length, typeof page.next_cursor], [1, 'string'])
  })
})

const linesOf = (text: string): Event[] => text.split('\n').flatMap((line) => (line ? [JSON.parse(line) as Event] : []))

describe('svc audit', () => {
  test('list prints the same records, the newest first', async () => {
    const listed = await runJsonCommandOf<Event[]>(one, ['audit', 'list', '--user', USER, '--limit', '4'])
    assert.deepEqual(listed, (await pageOf(`user_id=${USER}&limit=4`)).events)
    const since = ['--since', '2026-11-22T00:06:00Z', '--type', 'login.failed', '--user', SOMEBODY]
    assert.deepEqual(
      (await runJsonCommandOf<Event[]>(one, ['audit', 'list', ...since])).map(({ details }) => details.count),
      [6],
    )
    assert.deepEqual(await runJsonCommandOf(one, ['audit', 'list', '--since', '1ms']), [])
  })

  test('list shows nothing that a terminal would obey', async () => {
    await insert(50_000, { userId: USER, details: { reason: HOSTILE, roles: ['a', 'b'] } })
    const { stdout, code } = await one.cli(['audit', 'list', '--user', USER, '--limit', '1'])
    assert.equal(code, 0)
    assert.doesNotMatch(stdout.replaceAll('\n', ''), /[\p{Cc}\p{Cf}]/u)
    assert.match(stdout, /logout +user +.*192\.0\.2\.1 +reason=\?\]0;owned/)
    assert.match(stdout, /roles=a,b/)
  })

  test('export prints all records of one moment, a line each, the oldest first', async () => {
    const { stdout, stderr } = await one.cli(['audit', 'export', '--user', SOMEBODY])
    assert.deepEqual(idsOf(linesOf(stdout)), ids.filter((_, index) => index % 2 === 1).toReversed())
    assert.match(stderr, /exported 6 records/)
    const all = linesOf((await one.cli(['audit', 'export'])).stdout)
    assert.deepEqual(idsOf(all), idsOf(all).toSorted())
    assert.ok(all.length >= ids.length)
  })

  test('answers a person, by any name, and finds what is left of a deleted user by the id', async () => {
    const { json } = await backend.call('POST', '/users', { email: 'Ada@audit.example' })
    const { id, username } = json<{ id: string; username: string }>()
    assert.equal((await showUser(one, 'ada@audit.example')).id, id)
    await insert(7, { userId: id })
    for (const name of [id, 'ada@AUDIT.example', username])
      assert.ok(
        linesOf((await one.cli(['audit', 'export', '--user', name])).stdout).every(({ user_id: of }) => of === id),
      )
    assert.match(
      (await one.cli(['audit', 'list', '--user', id])).stdout,
      /^\S+ \S+ +logout +user +Ada@audit\.example /m,
    )
    assert.equal((await backend.call('DELETE', `/users/${id}`)).status, 204)
    assert.match((await one.cli(['audit', 'list', '--user', id])).stdout, new RegExp(` ${id}$`, 'm'))
    assert.equal((await one.cli(['audit', 'list', '--user', 'ada@audit.example'])).code, 1)
    assert.ok(linesOf((await one.cli(['audit', 'export', '--user', id])).stdout).length > 0)
  })

  test('refuses what it does not know, and says what there is', async () => {
    for (const [args, expected] of [
      [['list', '--type', 'login'], /there is no type "login": the types are login\.succeeded, /],
      [['list', '--since', '2026-11-31T00:00:00Z'], /a duration such as 30m, 24h or 2160h, or a time such as 2026-/],
      [['list', '--since', 'yesterday'], /a duration such as 30m, 24h or 2160h, or a time such as 2026-/],
      [['list', '--limit', '0'], /a whole number from 1/],
      [['export', '--type', 'x'], /there is no type "x"/],
    ] as const) {
      const { code, stderr } = await one.cli(['audit', ...args])
      assert.equal(code, 2, args.join(' '))
      assert.match(stderr, expected)
    }
    const { code, stderr } = await one.cli(['audit', 'list', '--user', 'nobody@audit.example'])
    assert.deepEqual([code, /there is no user/.test(stderr)], [1, true])
  })
})
