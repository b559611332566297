// Runs on SQLite and PostgreSQL.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { currentUser, loggedIn, signedUp } from '../../support/client/accounts.ts'
import { assertJsonError, assertSignedIn, assertSignedOut } from '../../support/client/assertions.ts'
import { createBackend } from '../../support/client/backend.ts'
import { type Answer, createUserAgent } from '../../support/client/user-agent.ts'
import { turnedClock } from '../../support/clock/turned-clock.ts'
import { openDatabase } from '../../support/database/database.ts'
import { startMeteredService } from '../../support/service/metrics.ts'
import { runCommandOf, runJsonCommandOf } from '../../support/service/operator-commands.ts'
import { startReplicas } from '../../support/service/replicas.ts'
import { eventually } from '../../support/wait.ts'

const HOUR_MS = 3_600_000
const NOBODY = '/users/019e6f3c-7f0a-7c11-a1b2-3c4d5e6f7a8b/sessions'

type Listed = { id: string; name: string; state: string; last_used_at: string | null; expires_at: string | null }

const clock = turnedClock()
const replicas = await startReplicas({ clock })
const [one, other] = replicas
const all = await createBackend(one, ['sessions:read', 'sessions:write'])
const list = (): Promise<Listed[]> => runJsonCommandOf<Listed[]>(one, ['api-keys', 'list'])
const nameOf = async (id: string): Promise<string> => (await list()).find((key) => key.id === id)?.name ?? ''

const assertUnauthorized = (answer: Answer): void => {
  assertJsonError(answer, 401, 'unauthorized')
  assert.match(answer.headers['www-authenticate'] ?? '', /^Bearer\b/)
  assert.deepEqual(answer.setCookies, [])
}

describe('§10.1 a key', () => {
  test('opens the server API on every replica', async () => {
    for (const replica of replicas) assertJsonError(await all.at(replica).call('GET', NOBODY), 404, 'not_found')
  })

  test('is refused everywhere from the next request on once it is revoked, by name or by id', async () => {
    for (const namesIt of [true, false]) {
      const backend = await createBackend(one, ['sessions:read'])
      for (const replica of replicas) assert.equal((await backend.at(replica).call('GET', NOBODY)).status, 404)
      await runCommandOf(one, ['api-keys', 'revoke', namesIt ? await nameOf(backend.id) : backend.id])
      for (const replica of replicas) assertUnauthorized(await backend.at(replica).call('GET', NOBODY))
    }
  })

  test('that is wrong, missing or of another scheme is 401', async () => {
    const last = all.key.endsWith('A') ? 'B' : 'A'
    for (const authorization of [
      undefined,
      '',
      'Bearer',
      `Basic ${all.key}`,
      all.key,
      `Bearer ${all.key} ${all.key}`,
      `Bearer ${all.key},`,
      `Bearer ${all.key.slice(0, -1)}${last}`,
      `Bearer ${all.key}A`,
      `Bearer svc_sk_`,
      `Bearer ${'x'.repeat(8000)}`,
    ]) {
      const headers = authorization === undefined ? {} : { authorization }
      assertUnauthorized(await createUserAgent(one).send({ method: 'GET', path: `/auth/api/v2${NOBODY}`, headers }))
    }
  })

  test('is refused when it comes twice, even the same', async () => {
    const twice = [`Bearer ${all.key}`, `Bearer ${all.key}`]
    assertUnauthorized(await all.call('GET', NOBODY, undefined, { Authorization: twice }))
  })

  test('without the scope of a route is 403, which names it; each scope opens what it is for', async () => {
    const reader = await createBackend(one, ['sessions:read'])
    assert.match(assertJsonError(await reader.call('DELETE', NOBODY), 403, 'forbidden'), /sessions:write/)
    const writer = await createBackend(one, ['sessions:write'])
    assert.match(assertJsonError(await writer.call('GET', NOBODY), 403, 'forbidden'), /sessions:read/)
    assert.equal((await writer.call('DELETE', NOBODY)).status, 204)
  })

  test('is refused with an Origin header, good or not, and no cookie counts or is set', async () => {
    for (const origin of ['http://svc.example', 'null', 'https://evil.example'])
      assertJsonError(await all.call('GET', NOBODY, undefined, { origin }), 403, 'forbidden')
    const { agent } = await signedUp(one)
    const cookie = `${agent.cookies.header('/auth')}; svc_access=a; svc_access=b; svc_csrf=c; svc_csrf=d`
    const bare = await createUserAgent(one).send({ method: 'GET', path: `/auth/api/v2${NOBODY}`, headers: { cookie } })
    assertUnauthorized(bare)
    const keyed = await all.call('GET', NOBODY, undefined, { cookie })
    assert.deepEqual([keyed.status, keyed.setCookies], [404, []])
  })

  test('is in no log line, and neither is a wrong one', async () => {
    const wrong = `${all.key.slice(0, -4)}zzzz`
    const writer = await createBackend(one, ['users:write'])
    await all.call('GET', `${NOBODY}?${all.key}`)
    await writer.call('POST', '/users', { [all.key]: 1 })
    await writer.call('POST', '/users', `{"${all.key}":1,"${all.key}":2}`)
    await writer.call('POST', '/users', { email: all.key, username: all.key, roles: [all.key] })
    await writer.call('PATCH', `/users/${all.key}`, {})
    await createUserAgent(one).get(`/auth/api/v2${NOBODY}`, { authorization: `Bearer ${wrong}` })
    await all.call('DELETE', `/sessions/${all.key}`)
    await all.call('PUT', `/sessions/${all.key}`)
    await all.call('GET', `/${all.key}`)
    const text = one.logs()
    const shown = one
      .logLines()
      .filter((line) => [all.key, wrong].some((key) => JSON.stringify(line).includes(key.slice(7))))
    assert.deepEqual(shown, [])
    assert.ok(text.includes(all.id), 'the log names the key by its id')
    assert.match(text, /"route":"\/auth\/api\/v2\/users\/\{id\}\/sessions"/)
  })
})

describe('§10.2 requests', () => {
  test('an unknown query parameter is 400, and names itself', async () => {
    const answer = await all.call('GET', `${NOBODY}?limit=1`)
    assert.match(assertJsonError(answer, 400, 'invalid_request'), /limit/)
    assert.equal(answer.json<{ error: { field: string } }>().error.field, 'limit')
  })

  test('other methods are 405 with those that there are, other paths 404', async () => {
    const answer = await all.call('PUT', NOBODY)
    assertJsonError(answer, 405, 'method_not_allowed')
    assert.equal(answer.headers.allow, 'GET, HEAD, DELETE')
    for (const path of ['', '/', '/users/', '/users//sessions', '/users/a/b/sessions', '/sessions/', `${NOBODY}/`])
      assertJsonError(await all.call('GET', path), 404, 'not_found')
  })
})

describe('§10.3 sessions', () => {
  test('of a user are listed, and ended at once on every replica: one, then all', async () => {
    const { agent, person } = await signedUp(one)
    const second = await loggedIn(other, person)
    const third = await loggedIn(one, person)
    const { id } = await currentUser(agent)
    const path = `/users/${id}/sessions`
    const sidOf = (it: typeof agent): string =>
      JSON.parse(Buffer.from((it.cookies.get('svc_access') ?? '').split('.')[1] ?? '', 'base64url').toString()).sid
    const listed = (await all.call('GET', path)).json<{ sessions: Record<string, string>[] }>().sessions
    assert.deepEqual(listed.map((it) => it.id ?? '').toSorted(), [agent, second, third].map(sidOf).toSorted())
    for (const session of listed) {
      assert.deepEqual(Object.keys(session), [
        'id',
        'user_id',
        'created_at',
        'last_seen_at',
        'expires_at',
        'user_agent',
        'address',
      ])
      assert.deepEqual((await all.at(other).call('GET', `/sessions/${session.id}`)).json(), session)
      assert.match(session.expires_at ?? '', /^\d{4}-\d\d-\d\dT[\d:]+\.\d{3}Z$/)
    }
    for (let again = 0; again < 2; again++) {
      const ended = await all.at(other).call('DELETE', `/sessions/${sidOf(third)}`)
      assert.deepEqual([ended.status, ended.text, ended.headers['content-length']], [204, '', undefined])
      await assertSignedOut(createUserAgent(one, third.cookies.copy()))
      assertJsonError(await all.call('GET', `/sessions/${sidOf(third)}`), 404, 'not_found')
    }
    await assertSignedIn(agent)
    for (let again = 0; again < 2; again++) assert.equal((await all.at(other).call('DELETE', path)).status, 204)
    await assertSignedOut(agent)
    await assertSignedOut(second)
    assert.deepEqual((await all.call('GET', path)).json(), { sessions: [] })
    const events = other.logLines().filter(({ event, user_id: userId }) => event === 'session_end' && userId === id)
    assert.equal(events[0]?.count, 2)
    assert.equal(events[0]?.api_key_id, all.id)
  })

  test('of a disabled user, and past their end, are found no more', async () => {
    const [disabled, late] = [await signedUp(one), await signedUp(one)]
    const [first, second] = await Promise.all(
      [disabled, late].map(async ({ agent }) => {
        const { id } = await currentUser(agent)
        const listed = (await all.call('GET', `/users/${id}/sessions`)).json<{ sessions: { id: string }[] }>()
        return `/sessions/${listed.sessions[0]?.id}`
      }),
    )
    assert.ok(first && second)
    assert.equal((await all.call('GET', first)).status, 200)
    await runCommandOf(other, ['users', 'disable', disabled.person.email])
    assertJsonError(await all.call('GET', first), 404, 'not_found')
    assert.equal((await all.call('GET', second)).status, 200)
    await clock.turnTo(300 * 24 * HOUR_MS)
    assertJsonError(await all.at(other).call('GET', second), 404, 'not_found')
    await clock.turnTo(0)
  })

  test('of nobody: 404 to list, 204 to end', async () => {
    for (const id of ['019e6f3c-7f0a-7c11-a1b2-3c4d5e6f7a8b', 'nobody', '%00', "' OR 1=1", 'x'.repeat(5000)]) {
      assertJsonError(await all.call('GET', `/users/${encodeURI(id)}/sessions`), 404, 'not_found')
      assert.equal((await all.call('DELETE', `/users/${encodeURI(id)}/sessions`)).status, 204)
      assert.equal((await all.call('DELETE', `/sessions/${encodeURI(id)}`)).status, 204)
      assertJsonError(await all.call('GET', `/sessions/${encodeURI(id)}`), 404, 'not_found')
    }
  })
})

describe('§10.1 the commands', () => {
  test('make a key for a year, for a time, or without limit; a name is taken until its key is revoked', async () => {
    const nowMs = Date.now()
    const make = (...args: string[]) => runJsonCommandOf<Listed>(one, ['api-keys', 'create', ...args])
    const year = await make('named', '--scope', 'users:read')
    assert.ok(Math.abs(Date.parse(year.expires_at ?? '') - nowMs - 8760 * HOUR_MS) < 60_000)
    assert.equal((await make('endless', '--scope', 'users:read', '--expires', 'never')).expires_at, null)
    const taken = await one.cli(['api-keys', 'create', 'named', '--scope', 'users:read'])
    assert.deepEqual([taken.code, /there is a key with the name "named" already/.test(taken.stderr)], [1, true])
    await runCommandOf(one, ['api-keys', 'revoke', 'named'])
    await make('named', '--scope', 'users:read')
    await runCommandOf(one, ['api-keys', 'revoke', 'named'])
    const states = (await list()).filter(({ name }) => name === 'named').map(({ state }) => state)
    assert.deepEqual(states, ['revoked', 'revoked'])
  })

  test('print the key alone on stdout, once, and store a hash of it', async (t) => {
    const { stdout, stderr } = await one.cli(['api-keys', 'create', 'shown', '--scope', 'users:read'])
    assert.match(stdout, /^svc_sk_[\w-]{43}\n$/)
    const [event] = stderr.split('\n').filter((line) => line.includes('api_key_create'))
    const { id } = JSON.parse((await one.cli(['api-keys', 'list', '--json'])).stdout)[0]
    assert.equal(JSON.parse(event ?? '{}').api_key_id, id)
    const { stdout: table } = await one.cli(['api-keys', 'list'])
    const { stdout: listing } = await one.cli(['api-keys', 'list', '--json'])
    const key = stdout.trim().slice('svc_sk_'.length)
    for (const text of [stderr, table, listing]) assert.ok(!text.includes(key))
    const contents = await (await openDatabase(one, t)).contents()
    assert.ok(contents.includes(id), 'the right bytes are looked at')
    for (const each of [key, Buffer.from(key, 'base64url')]) assert.ok(!contents.includes(each))
  })

  for (const [code, args] of [
    [2, ['create', 'x']],
    [2, ['create', 'x', '--scope', 'users']],
    [2, ['create', 'x', '--scope', 'users:read', '--expires', '1d']],
    [2, ['create', 'x', '--scope', 'users:read', '--expires', '0s']],
    [2, ['create']],
    [1, ['create', 'two words', '--scope', 'users:read']],
    [1, ['create', 'x'.repeat(65), '--scope', 'users:read']],
    [1, ['create', '019e6f3c-7f0a-7c11-a1b2-3c4d5e6f7a8b', '--scope', 'users:read']],
    [1, ['revoke', 'nobody']],
  ] as const)
    test(`exit ${code}: api-keys ${args.join(' ').slice(0, 60)}`, async () => {
      assert.equal((await one.cli(['api-keys', ...args])).code, code)
    })
})

test('§10.1 the last use is written, at most once a minute', async () => {
  const backend = await createBackend(one, ['sessions:read'])
  const lastUse = async () => (await list()).find(({ id }) => id === backend.id)?.last_used_at
  assert.equal(await lastUse(), null)
  await backend.call('GET', NOBODY)
  await eventually('the use is written', async () => typeof (await lastUse()) === 'string')
  const first = await lastUse()
  await Promise.all(Array.from({ length: 20 }, () => backend.call('GET', NOBODY)))
  assert.equal(await lastUse(), first)
  await clock.turnTo(61_000)
  await backend.call('GET', NOBODY)
  await eventually('the next use is written', async () => (await lastUse()) !== first)
})

test('§10.1 a key ends at its time', async () => {
  const backend = await createBackend(one, ['sessions:read'], ['--expires', '2h'])
  const endless = await createBackend(one, ['sessions:read'], ['--expires', 'never'])
  await clock.turnTo(HOUR_MS)
  for (const replica of replicas) assert.equal((await backend.at(replica).call('GET', NOBODY)).status, 404)
  await clock.turnTo(2 * HOUR_MS + 61_000)
  for (const replica of replicas) assertUnauthorized(await backend.at(replica).call('GET', NOBODY))
  assert.equal((await endless.call('GET', NOBODY)).status, 404)
  assert.equal((await list()).find(({ id }) => id === backend.id)?.state, 'expired')
})

test('§10.1 wrong keys are limited by address, and a good one passes', async (t) => {
  const limited = await startMeteredService({ t, env: { SVC_RATE_LIMIT: 'on' } })
  const backend = await createBackend(limited, ['sessions:read'])
  const agent = createUserAgent(limited)
  const from = { 'x-forwarded-for': '198.51.100.7' }
  const wrong = () => agent.get(`/auth/api/v2${NOBODY}`, { ...from, authorization: `Bearer ${backend.key}x` })
  const answers = await Promise.all(Array.from({ length: 101 }, wrong))
  assert.deepEqual(
    answers.map(({ status }) => status).toSorted((a, b) => a - b),
    [...Array<number>(100).fill(401), 429],
  )
  const last = await wrong()
  assertJsonError(last, 429, 'rate_limited')
  assert.ok(Number(last.headers['retry-after']) > 0)
  const good = await agent.get(`/auth/api/v2${NOBODY}`, { ...from, authorization: `Bearer ${backend.key}` })
  assert.equal(good.status, 404)
  const { text } = await limited.scrape()
  assert.match(text, /route="\/auth\/api\/v2\/users\/\{id\}\/sessions"/)
  assert.match(text, /limit="wrong_key_of_address"/)
  assert.ok(!text.includes('svc_sk_') && !text.includes('019e6f3c'))
})
