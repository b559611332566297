// Runs on SQLite and PostgreSQL.
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import net from 'node:net'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { currentUser, logOut, signedUp } from '../../support/client/accounts.ts'
import { assertJsonError } from '../../support/client/assertions.ts'
import { createBackend } from '../../support/client/backend.ts'
import { openDatabase } from '../../support/database/database.ts'
import { databaseChoice, testOnSqlite } from '../../support/database/database-choice.ts'
import { startPostgres } from '../../support/postgres/postgres.ts'
import { ask, openStream, read, type Revocation, type Stream } from '../../support/revocations/feed.ts'
import { at, startReplicaProcesses, startReplicas } from '../../support/service/replicas.ts'
import { startService } from '../../support/service/service.ts'
import { startServiceProcess } from '../../support/service/service-process.ts'
import { eventually, within } from '../../support/wait.ts'

const testOnPostgres = (title: string, run: (t: TestContext) => Promise<void>): void => {
  if (databaseChoice === 'postgres') test(title, run)
}

const SETTINGS = { SVC_SECRET: randomBytes(32).toString('hex'), SVC_DATABASE_TIMEOUT: '1s' }

/** Collects the ids of all sessions that a stream tells of, and its comments. */
const follow = (stream: Stream) => {
  const seen = { ids: [] as string[], comments: 0, hasEnded: false }
  void (async () => {
    for (let block = await stream.next(); block; block = await stream.next()) {
      if (block.isComment) seen.comments += 1
      seen.ids.push(...((block.data as Revocation | undefined)?.session_ids ?? []))
    }
    seen.hasEnded = true
  })()
  return seen
}

const sidOf = (cookies: { get(name: string): string | undefined }): string =>
  cookies.get('svc_refresh')?.split('.')[0] ?? ''

testOnPostgres(
  'while PostgreSQL is away, a wait is 503 and a stream says nothing; nothing is missed afterwards',
  async (t) => {
    const postgres = await startPostgres({ t })
    const env = { ...SETTINGS, SVC_DATABASE_URL: await postgres.createDatabase() }
    const [service, other] = await startReplicas({ t, env })
    const backend = await createBackend(service, ['revocations:read'])
    const agents = await Promise.all(Array.from({ length: 4 }, () => signedUp(service)))
    const ids = agents.map(({ agent }) => sidOf(agent.cookies))
    const { next_cursor: cursor } = await read(backend)
    const streams = await Promise.all([service, other].map(({ url }) => openStream({ url, key: backend.key })))
    const seen = streams.map(follow)
    const [first, ...rest] = agents
    await logOut(first?.agent ?? assert.fail())
    await eventually('both have the first', () => seen.every((each) => each.ids.length === 1))
    const waits = ask(backend, { cursor: (await read(backend, { cursor })).next_cursor, wait: 4 })
    await sleep(300)

    await postgres.stop('fast')
    await sleep(1500)
    const comments = seen.map((each) => each.comments)
    assertJsonError(await waits, 503, 'unavailable')
    assertJsonError(await ask(backend, { cursor, wait: 30 }), 503, 'unavailable')
    assert.deepEqual(
      seen.map((each) => each.comments),
      comments,
    )

    await postgres.start()
    await eventually('svc is back', async () => (await backend.call('GET', '/revocations')).status === 200)
    for (const { agent } of rest) assert.equal((await logOut(agent)).status, 303)
    await eventually('both have all', () => seen.every((each) => each.ids.length === 4))
    for (const each of seen) assert.deepEqual(each.ids, ids)
    const page = await read(backend.at(other), { cursor, wait: 30 })
    assert.deepEqual(
      page.events.flatMap(({ session_ids: all = [] }) => all),
      ids,
    )
    await eventually('both say so', () => seen.every((each, index) => each.comments > (comments[index] ?? 0)))
    assert.ok(seen.every((each) => !each.hasEnded))
    for (const stream of streams) stream.close()
  },
)

testOnPostgres('a connection that hangs makes a wait 503 too, and never an empty list', async (t) => {
  const postgres = await startPostgres({ t })
  const service = await startService({ t, env: { ...SETTINGS, SVC_DATABASE_URL: await postgres.createDatabase() } })
  const backend = await createBackend(service, ['revocations:read'])
  const { next_cursor: cursor } = await read(backend)
  const waits = ask(backend, { cursor, wait: 5 })
  await sleep(300)
  await postgres.freeze()
  assertJsonError(await waits, 503, 'unavailable')
  postgres.thaw()
  await eventually('svc is back', async () => (await ask(backend, { cursor })).status === 200)
})

testOnSqlite('SIGTERM ends all waits at once', async (t) => {
  const service = await startServiceProcess({ t })
  const backend = await createBackend(service, ['revocations:read'])
  const { next_cursor: cursor } = await read(backend)
  const stream = await openStream({ url: service.url, key: backend.key })
  const seen = follow(stream)
  const waits = read(backend, { cursor, wait: 30 })
  await eventually('the stream has begun', () => seen.comments > 0)
  assert.equal(await within(15, 'the end', service.stop()), 0)
  assert.deepEqual(await waits, { events: [], next_cursor: cursor, more: false, complete: true })
  await eventually('the stream has ended', () => seen.hasEnded)
  const lines = service.logLines()
  const stopping = lines.findIndex(({ message }) => message === 'stopping')
  assert.ok(stopping > 0 && lines.slice(stopping).every(({ level }) => level === 'info'))
})

testOnPostgres('a replica that is killed and started again goes on where its readers were', async (t) => {
  const [service, other] = await startReplicaProcesses({ t })
  const backend = await createBackend(service, ['revocations:read'])
  const agents = await Promise.all(Array.from({ length: 3 }, () => signedUp(service)))
  const ids = agents.map(({ agent }) => sidOf(agent.cookies))
  const { next_cursor: cursor } = await read(backend)
  const stream = await openStream({ url: service.url, key: backend.key, query: `?cursor=${cursor}` })
  const [before, during, after] = agents.map(({ agent }) => agent)
  await logOut(before ?? assert.fail())
  const last = await stream.event()
  await service.kill()
  assert.equal(await stream.next(), undefined)
  await logOut(at(other, during ?? assert.fail()))
  await service.restart()
  await logOut(at(service, after ?? assert.fail()))
  const again = await openStream({ url: service.url, key: backend.key, headers: { 'last-event-id': last?.id ?? '' } })
  const blocks = [last, await again.event(), await again.event()]
  again.close()
  const told = blocks.flatMap((block) => (block?.data as Revocation | undefined)?.session_ids ?? [])
  assert.deepEqual(told, ids)
})

testOnSqlite('a restarted service goes on where a reader was', async (t) => {
  const service = await startServiceProcess({ t })
  const backend = await createBackend(service, ['revocations:read'])
  const { agent } = await signedUp(service)
  const { next_cursor: cursor } = await read(backend)
  const id = sidOf(agent.cookies)
  await logOut(agent)
  await service.kill()
  await service.restart()
  const { complete, events } = await read(backend, { cursor, wait: 30 })
  assert.deepEqual([complete, events.map(({ session_ids: ids }) => ids)], [true, [[id]]])
})

testOnSqlite('readers that read nothing take no memory, however much there is for them', async (t) => {
  const service = await startServiceProcess({ t })
  const { key } = await createBackend(service, ['revocations:read'])
  const database = await openDatabase(service, t)
  const ids = JSON.stringify(Array.from({ length: 200 }, () => '01a2223d-4bea-74c3-8a02-828609b6b4f7'))
  const rows = Array.from(
    { length: 2500 },
    (_, index) => `('e${index}', 1, 'session-revoked', 'ada', ?, 9000000000000)`,
  )
  const columns = 'id, at, type, user_id, session_ids, expires_at'
  for (const row of rows) await database.rows(`INSERT INTO new_revocations (${columns}) VALUES ${row}`, ids)
  const residentMiB = (): number =>
    (Number(readFileSync(`/proc/${service.pid()}/statm`, 'utf8').split(' ')[1]) * 4096) / 1024 ** 2
  const whole = await openStream({ url: service.url, key })
  for (let seq = 1; seq <= 2500; seq += 1) assert.ok((await whole.event())?.data)
  whole.close()
  const beforeMiB = residentMiB()
  const head = [
    'GET /auth/api/v2/revocations HTTP/1.1',
    `Host: localhost:${service.port}`,
    `Authorization: Bearer ${key}`,
  ]
  const request = [...head, 'Accept: text/event-stream', '', ''].join('\r\n')
  const sockets = Array.from({ length: 30 }, () => net.connect(service.port, '127.0.0.1').pause())
  t.after(() => sockets.forEach((socket) => socket.destroy()))
  for (const socket of sockets) socket.on('error', () => {}).write(request)
  await sleep(2000)
  // Each of them is sent 20 MB.
  assert.ok(residentMiB() - beforeMiB < 150, `${beforeMiB} MiB, then ${residentMiB()} MiB`)
})

test('readers take half of the connections at most: more are 503, and users are served', async (t) => {
  const service = await startService({ t, env: { SVC_MAX_CONNECTIONS: '8' } })
  const backend = await createBackend(service, ['revocations:read'])
  const { agent } = await signedUp(service)
  const streams = [await openStream({ url: service.url, key: backend.key })]
  while (streams.length < 4) streams.push(await openStream({ url: service.url, key: backend.key }))
  assert.ok(streams.every(({ status }) => status === 200))
  const { next_cursor: cursor } = await read(backend)
  const refused = await ask(backend, { cursor, wait: 30 })
  assertJsonError(refused, 503, 'unavailable')
  assert.match(refused.headers['retry-after'] ?? '', /^[1-9]\d*$/)
  await currentUser(agent)
  for (const stream of streams) stream.close()
  await eventually('there is room again', async () => (await ask(backend, { cursor, wait: 1 })).status === 200)
})
