// Runs on SQLite and PostgreSQL.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { logOut, signedUp } from '../../support/client/accounts.ts'
import { assertJsonError } from '../../support/client/assertions.ts'
import { createBackend } from '../../support/client/backend.ts'
import { createUserAgent } from '../../support/client/user-agent.ts'
import { openDatabase } from '../../support/database/database.ts'
import {
  ask,
  assertIsKept,
  openStream,
  read,
  readAll,
  type Revocation,
  type Stream,
} from '../../support/revocations/feed.ts'
import { startMeteredService } from '../../support/service/metrics.ts'
import { runCommandOf } from '../../support/service/operator-commands.ts'
import { startReplicas } from '../../support/service/replicas.ts'
import { startService } from '../../support/service/service.ts'
import { eventually, within } from '../../support/wait.ts'

const replicas = await startReplicas()
const [service, other] = replicas
const backend = await createBackend(service, ['revocations:read'])

/** A user logs out; resolves to the id of the session. */
const anEnding = async (at = service): Promise<string> => {
  const { agent } = await signedUp(at)
  const id = agent.cookies.get('svc_refresh')?.split('.')[0] ?? ''
  assert.equal((await logOut(agent)).status, 303)
  return id
}

const idsIn = (events: readonly Revocation[]): string[] => events.flatMap(({ session_ids: ids = [] }) => ids)

const cursorNow = async (): Promise<string> => (await readAll(backend)).cursor

/** Reads for a minute with this parameter; resolves to the first entries that come. */
const waited = async (cursor: string, replica = service) => {
  const page = await within(20, 'an entry', read(backend.at(replica), { cursor, wait: 30 }))
  return idsIn(page.events)
}

describe('§10.8 the revocation feed', () => {
  test('an entry says what has ended, whose it was, why, and until when it matters', async () => {
    const cursor = await cursorNow()
    const { agent } = await signedUp(service)
    const { id: userId } = (await agent.get('/auth/api/v1/user')).json<{ id: string }>()
    const sid = agent.cookies.get('svc_refresh')?.split('.')[0]
    const beforeMs = Date.now()
    await logOut(agent)
    const page = await read(backend, { cursor })
    const [{ seq, at, expires_at, ...entry } = assert.fail(), ...more] = page.events
    assert.deepEqual(more, [])
    assert.deepEqual(entry, { type: 'session-revoked', user_id: userId, session_ids: [sid], reason: 'logout' })
    assert.ok(Number.isInteger(seq) && seq > 0)
    for (const time of [at, expires_at]) assert.match(time, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
    assert.ok(Math.abs(Date.parse(at) - beforeMs) < 60_000)
    // Ten minutes of a token, and five.
    assertIsKept({ at, expires_at }, 900_000)
    assert.deepEqual(Object.keys(page), ['events', 'next_cursor', 'more', 'complete'])
    assert.deepEqual([page.more, page.complete], [false, true])
  })

  test('without a cursor it gives all that still matters, at once; with one, what came after it', async () => {
    const first = await anEnding()
    const { events, cursor } = await readAll(backend)
    assert.ok(idsIn(events).includes(first))
    const second = await anEnding(other)
    for (const replica of replicas) {
      assert.deepEqual(idsIn((await readAll(backend.at(replica), cursor)).events), [second])
      assert.ok(idsIn((await read(backend.at(replica), { wait: 30 })).events).includes(second))
    }
  })

  test('with clients, entries are kept as long as a setting may let a token be good', async (t) => {
    const own = await startService({ env: { SVC_CLIENTS: 'on' }, t })
    const reader = await createBackend(own, ['revocations:read'])
    await anEnding(own)
    const [entry = assert.fail()] = (await read(reader)).events
    assertIsKept(entry, 86_400_000 + 300_000)
  })

  test('a wait ends with the first entry, also one of another replica', async () => {
    for (const replica of replicas) {
      const cursor = await cursorNow()
      const waits = waited(cursor, replica)
      const id = await anEnding(service)
      assert.deepEqual(await waits, [id])
    }
  })

  test('a wait without an entry ends with an empty list and the same cursor', async () => {
    const cursor = await cursorNow()
    const page = await read(backend, { cursor, wait: 1 })
    assert.deepEqual(page, { events: [], next_cursor: cursor, more: false, complete: true })
    assert.deepEqual(await read(backend, { cursor }), page)
  })

  test('replicas answer alike, and a cursor of one is good at the other', async () => {
    for (let count = 0; count < 3; count += 1) await anEnding(replicas[count % 2])
    const [one, two] = [await readAll(backend), await readAll(backend.at(other))]
    assert.deepEqual(one, two)
    const id = await anEnding(other)
    assert.deepEqual(idsIn((await read(backend.at(other), { cursor: one.cursor })).events), [id])
    assert.deepEqual(idsIn((await read(backend, { cursor: two.cursor })).events), [id])
  })

  test('a cursor of another installation is not complete, and what is none is 400', async (t) => {
    const stranger = await startService({ t })
    const reader = await createBackend(stranger, ['revocations:read'])
    await anEnding(stranger)
    const { next_cursor: cursor } = await read(reader)
    const foreign = { events: [], next_cursor: null, more: false, complete: false }
    assert.deepEqual(await read(backend, { cursor, wait: 30 }), foreign)
    for (const bad of ['', 'x', `${cursor}A`, cursor.slice(1), '%00', 'A'.repeat(4000)]) {
      const answer = await ask(backend, { cursor: bad })
      assertJsonError(answer, 400, 'invalid_request')
      assert.equal(answer.json<{ error: { field: string } }>().error.field, 'cursor')
    }
  })

  for (const query of ['wait=31', 'wait=-1', 'wait=1.5', 'wait=', 'wait=1s', 'limit=5', 'wait=1&wait=2', 'Cursor=x'])
    test(`?${query} is 400, and waits for nothing`, async () => {
      const answer = await within(
        5,
        'an answer',
        backend.call('GET', `/revocations?cursor=${await cursorNow()}&${query}`),
      )
      assertJsonError(answer, 400, 'invalid_request')
    })

  test('a repeated cursor is 400', async () => {
    const cursor = await cursorNow()
    assertJsonError(await backend.call('GET', `/revocations?cursor=${cursor}&cursor=${cursor}`), 400, 'invalid_request')
  })

  test('needs the scope revocations:read, and no other will do; a page gets nothing', async () => {
    const others = await createBackend(service, ['sessions:read', 'sessions:write', 'audit:read', 'users:write'])
    const answer = await ask(others, { wait: 30 })
    assertJsonError(answer, 403, 'forbidden')
    assert.match(answer.text, /revocations:read/)
    assertJsonError(await createUserAgent(service).get('/auth/api/v2/revocations'), 401, 'unauthorized')
    const { agent } = await signedUp(service)
    assertJsonError(await agent.get('/auth/api/v2/revocations'), 401, 'unauthorized')
    assertJsonError(await backend.call('GET', '/revocations', undefined, { origin: service.url }), 403, 'forbidden')
    assertJsonError(await backend.call('GET', '/users'), 403, 'forbidden')
    assertJsonError(await backend.call('POST', '/revocations', {}), 405, 'method_not_allowed')
  })

  test('a HEAD waits for nothing', async () => {
    const path = `/revocations?wait=30&cursor=${await cursorNow()}`
    for (const accept of ['application/json', 'text/event-stream'])
      assert.equal((await within(5, 'an answer', backend.call('HEAD', path, undefined, { accept }))).status, 200)
  })

  test('1,000 entries at most at once', async (t) => {
    const own = await startService({ t })
    const reader = await createBackend(own, ['revocations:read'])
    const database = await openDatabase(own, t)
    const rows = Array.from(
      { length: 2001 },
      (_, index) => `('e${index}', 1, 'token-claims-change', 'ada', 9000000000000)`,
    )
    await database.rows(`INSERT INTO new_revocations (id, at, type, user_id, expires_at) VALUES ${rows.join(', ')}`)
    const pages = [await read(reader)]
    while (pages.at(-1)?.more) pages.push(await read(reader, { cursor: pages.at(-1)?.next_cursor ?? '', wait: 30 }))
    assert.deepEqual(pages.map(({ events }) => events.length).filter(Boolean), [1000, 1000, 1])
    const seqs = pages.flatMap(({ events }) => events.map(({ seq }) => seq))
    assert.deepEqual(
      seqs,
      Array.from({ length: 2001 }, (_, index) => index + 1),
    )
  })
})

const open = (options: { replica?: { url: string }; query?: string; headers?: Record<string, string> } = {}) =>
  openStream({ url: (options.replica ?? service).url, key: backend.key, ...options })

const eventIds = async (stream: Stream, count: number): Promise<string[]> => {
  const ids: string[] = []
  while (ids.length < count) ids.push(...idsIn([(await stream.event())?.data as Revocation]))
  return ids
}

describe('§10.8 the feed as an event stream', () => {
  test('gives the entries, each with its cursor, and then says that these are all', async () => {
    await anEnding()
    const { events } = await readAll(backend)
    const stream = await open()
    assert.equal(stream.status, 200)
    assert.equal(stream.headers['content-type'], 'text/event-stream')
    assert.equal(stream.headers['x-accel-buffering'], 'no')
    assert.equal(stream.headers['cache-control'], 'no-store')
    for (const entry of events) {
      const block = await stream.next()
      assert.deepEqual(block?.data, entry)
      assert.equal(block?.event, undefined)
      const rest = await read(backend, { cursor: block?.id ?? '' })
      assert.deepEqual(rest.events, events.filter(({ seq }) => seq > entry.seq).slice(0, 1000))
    }
    assert.ok((await stream.next())?.isComment)
    stream.close()
  })

  test('goes on with entries of every replica, and with comments while there are none', async () => {
    const stream = await open({ replica: other, query: `?cursor=${await cursorNow()}` })
    const ids = [await anEnding(service), await anEnding(other)]
    assert.deepEqual(await eventIds(stream, 2), ids)
    for (let count = 0; count < 2; count += 1) assert.ok((await stream.next())?.isComment)
    stream.close()
  })

  test('goes on after Last-Event-ID, which is newer than the cursor of the address', async () => {
    const cursor = await cursorNow()
    const first = await anEnding()
    const stream = await open({ query: `?cursor=${cursor}` })
    const block = await stream.event()
    assert.deepEqual(idsIn([block?.data as Revocation]), [first])
    stream.close()
    const second = await anEnding()
    const again = await open({ query: `?cursor=${cursor}`, headers: { 'last-event-id': block?.id ?? '' } })
    assert.deepEqual(await eventIds(again, 1), [second])
    again.close()
  })

  test('tells a reader who has seen no entry where it is', async (t) => {
    const own = await startService({ t })
    const { key } = await createBackend(own, ['revocations:read'])
    const stream = await openStream({ url: own.url, key })
    const block = await stream.next()
    assert.ok(block?.isComment && block.id)
    stream.close()
    const id = await anEnding(own)
    const again = await openStream({ url: own.url, key, headers: { 'last-event-id': block.id } })
    assert.deepEqual(await eventIds(again, 1), [id])
    again.close()
  })

  test('answers a cursor that is not complete with one event, and ends', async (t) => {
    const stranger = await startService({ t })
    const reader = await createBackend(stranger, ['revocations:read'])
    const { next_cursor: id } = await read(reader)
    const stream = await open({ headers: { 'last-event-id': id } })
    assert.deepEqual(await stream.next(), { event: 'incomplete', data: { complete: false }, isComment: false })
    assert.equal(await stream.next(), undefined)
  })

  test('refuses before it begins: a cursor that cannot be read, a key without the scope', async () => {
    for (const headers of [{ 'last-event-id': 'x' }, { 'last-event-id': '' }, { authorization: 'Bearer x' }]) {
      const stream = await open({ headers })
      assert.ok(stream.status === 400 || stream.status === 401)
      assert.equal(stream.headers['content-type'], 'application/json')
    }
  })

  test('ends when its key is revoked, at every replica', async () => {
    const { key, id } = await createBackend(service, ['revocations:read'])
    const streams = await Promise.all(replicas.map(({ url }) => openStream({ url, key })))
    for (const stream of streams) assert.equal(stream.status, 200)
    await runCommandOf(service, ['api-keys', 'revoke', id])
    for (const stream of streams) {
      for (let block = await stream.next(); block; block = await stream.next()) assert.ok(!block.event)
    }
  })

  test('gives thousands of entries in parts', async (t) => {
    const own = await startService({ t })
    const { key } = await createBackend(own, ['revocations:read'])
    const database = await openDatabase(own, t)
    const rows = Array.from(
      { length: 2500 },
      (_, index) => `('e${index}', 1, 'token-claims-change', 'ada', 9000000000000)`,
    )
    await database.rows(`INSERT INTO new_revocations (id, at, type, user_id, expires_at) VALUES ${rows.join(', ')}`)
    const stream = await openStream({ url: own.url, key })
    for (let seq = 1; seq <= 2500; seq += 1) {
      const { data } = (await stream.next()) ?? assert.fail()
      assert.equal((data as Revocation).seq, seq)
    }
    assert.ok((await stream.next())?.isComment)
    stream.close()
  })
})

test('two hundred readers get each entry once, and hear that it was the last', async () => {
  const query = `?cursor=${await cursorNow()}`
  const streams = await Promise.all(
    Array.from({ length: 200 }, (_, index) => open({ query, replica: replicas[index % 2] ?? service })),
  )
  for (const stream of streams) assert.ok((await stream.next())?.isComment)
  const ids = [await anEnding(service), await anEnding(other)]
  for (const stream of streams) {
    assert.deepEqual(await eventIds(stream, 2), ids)
    assert.ok((await stream.next())?.isComment)
    stream.close()
  }
})

test('a reader that is cut off at any event, before or after it has kept the cursor, misses nothing', async () => {
  let cursor = await cursorNow()
  const ids = [await anEnding(service), await anEnding(other), await anEnding(service)]
  const read: string[] = []
  for (const isKept of [true, false, true, true]) {
    const stream = await open({ replica: replicas[read.length % 2] ?? service, query: `?cursor=${cursor}` })
    const block = await stream.event()
    read.push(...idsIn([block?.data as Revocation]))
    if (isKept) cursor = block?.id ?? assert.fail()
    stream.close()
  }
  assert.deepEqual(read, [ids[0], ids[1], ids[1], ids[2]])
})

test('metrics show the readers that wait, and how long they waited for an entry', async (t) => {
  const metered = await startMeteredService({ t })
  const reader = await createBackend(metered, ['revocations:read'])
  const readers = async () => (await metered.scrape()).value('svc_revocation_readers')
  assert.equal(await readers(), 0)
  const { next_cursor: cursor } = await read(reader)
  const stream = await openStream({ url: metered.url, key: reader.key })
  const waits = read(reader, { cursor, wait: 30 })
  await eventually('two readers wait', async () => (await readers()) === 2)
  await anEnding(metered)
  await waits
  assert.equal((await metered.scrape()).value('svc_revocation_lag_seconds_count'), 1)
  stream.close()
  await eventually('nobody waits', async () => (await readers()) === 0)
})
