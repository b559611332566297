// Runs on SQLite and PostgreSQL.
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { describe, test } from 'node:test'
import { newPerson } from '../../support/client/accounts.ts'
import { assertJsonError } from '../../support/client/assertions.ts'
import { type Backend, createBackend } from '../../support/client/backend.ts'
import type { Answer } from '../../support/client/user-agent.ts'
import { turnedClock } from '../../support/clock/turned-clock.ts'
import { openDatabase } from '../../support/database/database.ts'
import { deleteUser, listUsers } from '../../support/service/operator-commands.ts'
import { startReplicas } from '../../support/service/replicas.ts'
import { eventually } from '../../support/wait.ts'

type Problem = { error: { code: string; message: string; field: string; request_id: string } }

const HOUR_MS = 3_600_000
const [SECRET, NEXT_SECRET] = [randomBytes(32).toString('hex'), randomBytes(32).toString('hex')]

const clock = turnedClock()
const replicas = await startReplicas({ clock, env: { SVC_SECRET: SECRET, SVC_CLEANUP_INTERVAL: '100ms' } })
const [one, other] = replicas
const backend = await createBackend(one, ['users:write', 'credentials:write'])
const elsewhere = backend.at(other)

const newUser = () => ({ email: newPerson().email })
const post = (by: Backend, name: string, body: unknown, path = '/users'): Promise<Answer> =>
  by.call('POST', path, body, { 'idempotency-key': name })
const withEmail = async (email: string) => (await listUsers(one)).filter((user) => user.email === email)
const replayed = ({ headers }: Answer) => headers['idempotency-replayed']

let names = 0
const newName = (): string => `key-${++names}`

describe('§10.4 Idempotency-Key', () => {
  test('the same request again gets the same answer, from every replica, and makes no other user', async () => {
    const user = newUser()
    const name = newName()
    const first = await post(backend, name, user)
    assert.equal(first.status, 201, first.text)
    assert.equal(replayed(first), undefined)
    for (const by of [backend, elsewhere, backend]) {
      const again = await post(by, name, user)
      assert.deepEqual([again.status, again.text, replayed(again)], [201, first.text, 'true'])
      assert.equal(again.headers['content-type'], first.headers['content-type'])
      assert.notEqual(again.headers['x-request-id'], first.headers['x-request-id'])
    }
    assert.equal((await withEmail(user.email)).length, 1)
  })

  test('30 at once over two replicas: one effect, and all are answered alike in the end', async () => {
    const user = newUser()
    const name = newName()
    const send = async (index: number): Promise<Answer> => {
      for (;;) {
        const answer = await post(index % 2 ? backend : elsewhere, name, user)
        if (answer.status !== 409) return answer
        assertJsonError(answer, 409, 'conflict')
        assert.ok(Number(answer.headers['retry-after']) >= 1)
        assert.equal(answer.json<Problem>().error.field, 'Idempotency-Key')
      }
    }
    const answers = await Promise.all(Array.from({ length: 30 }, (_, index) => send(index)))
    assert.deepEqual([...new Set(answers.map(({ status }) => status))], [201])
    assert.equal(new Set(answers.map(({ text }) => text)).size, 1)
    assert.equal(answers.filter((answer) => replayed(answer) === undefined).length, 1)
    assert.equal((await withEmail(user.email)).length, 1)
  })

  test('without it, the same request again is another one', async () => {
    const user = newUser()
    assert.equal((await backend.call('POST', '/users', user)).status, 201)
    assertJsonError(await backend.call('POST', '/users', user), 409, 'conflict')
  })

  test('a conflict and a bad value are repeated, with the field, even when they would succeed by now', async () => {
    const taken = newUser()
    assert.equal((await backend.call('POST', '/users', taken)).status, 201)
    for (const [status, body] of [
      [409, { ...newUser(), email: taken.email }],
      [422, { email: 'no address' }],
    ] as const) {
      const name = newName()
      const first = await post(backend, name, body)
      const code = status === 409 ? 'conflict' : 'unprocessable'
      assertJsonError(first, status, code)
      if (status === 409) await deleteUser(one, taken.email)
      const again = await post(elsewhere, name, body)
      assertJsonError(again, status, code)
      assert.equal(replayed(again), 'true')
      const [{ error: before }, { error: after }] = [first.json<Problem>(), again.json<Problem>()]
      assert.deepEqual([after.message, after.field], [before.message, before.field])
      assert.equal(after.field, 'email')
      assert.notEqual(after.request_id, before.request_id)
    }
  })

  test('another body or path is 422, and nothing happens', async () => {
    const user = newUser()
    const name = newName()
    const { id } = (await post(backend, name, user)).json<{ id: string }>()
    const others = [
      post(backend, name, { ...user, roles: ['admin'] }),
      post(backend, name, `${JSON.stringify(user)} `),
      post(elsewhere, name, user, `/users/${id}/links`),
    ]
    for (const answer of await Promise.all(others)) {
      assertJsonError(answer, 422, 'unprocessable')
      assert.equal(answer.json<Problem>().error.field, 'Idempotency-Key')
      assert.equal(replayed(answer), undefined)
    }
    assert.deepEqual((await withEmail(user.email))[0]?.roles, [])
  })

  test('other failures are not kept: the same key is good for a request that is right', async () => {
    const user = newUser()
    const name = newName()
    const header = { 'idempotency-key': name }
    const failures = [
      await backend.call('POST', '/users', user, { ...header, 'content-type': 'text/plain' }),
      await backend.call('POST', '/users', '{', header),
      await backend.call('POST', '/users', `{"email":"${'x'.repeat(70_000)}"}`, header),
      await backend.call('POST', '/users?limit=1', user, header),
      await backend.call('POST', '/users', user, { ...header, origin: 'https://evil.example' }),
      await post(
        { ...backend, call: backend.at(one).call },
        name,
        user,
        '/users/019e6f3c-7f0a-7c11-a1b2-3c4d5e6f7a8b/x',
      ),
    ]
    assert.deepEqual(
      failures.map(({ status }) => status),
      [415, 400, 413, 400, 403, 404],
    )
    const good = await post(backend, name, user)
    assert.deepEqual([good.status, replayed(good)], [201, undefined])
  })

  test('belongs to one API key', async () => {
    const name = newName()
    const second = await createBackend(one, ['users:write'])
    const answers = [await post(backend, name, newUser()), await post(second, name, newUser())]
    for (const answer of answers) assert.deepEqual([answer.status, replayed(answer)], [201, undefined])
  })

  test('is 1 to 255 visible ASCII characters, once; anything else is 400', async () => {
    for (const header of ['', ' ', 'two words', 'tab\there', 'x'.repeat(256), 'caf\u00e9', ['one', 'two']]) {
      const user = newUser()
      const answer = await backend.call('POST', '/users', user, { 'idempotency-key': header })
      assertJsonError(answer, 400, 'invalid_request')
      assert.deepEqual(await withEmail(user.email), [])
    }
    assert.equal((await post(backend, `~!"'/\\${'x'.repeat(249)}`, newUser())).status, 201)
  })

  test('a link is repeated, never made again, and stands nowhere in plain text', async () => {
    const { id } = (await post(backend, newName(), newUser())).json<{ id: string }>()
    const name = newName()
    const links = [
      await post(backend, name, { purpose: 'reset' }, `/users/${id}/links`),
      await post(elsewhere, name, { purpose: 'reset' }, `/users/${id}/links`),
    ]
    assert.equal(links[0]?.status, 201, links[0]?.text)
    assert.equal(links[1]?.text, links[0]?.text)
    const token = new URL(links[0]?.json<{ url: string }>().url ?? '').searchParams.get('token') ?? ''
    assert.ok(token.length > 30)
    const database = await openDatabase(one)
    const stored = [
      ...(await database.rows('SELECT * FROM idempotent_requests')),
      ...(await database.rows('SELECT * FROM links')),
    ]
    assert.ok(stored.length > 5)
    assert.ok(!JSON.stringify(stored).includes(token))
  })
})

test('§10.4 a first request whose process has died counts as under way for 30 seconds', async () => {
  const user = newUser()
  const name = newName()
  await post(backend, name, user)
  await deleteUser(one, user.email)
  const database = await openDatabase(one)
  await database.rows('UPDATE idempotent_requests SET status = NULL, answer_sealed = NULL')
  const waiting = await post(elsewhere, name, user)
  assertJsonError(waiting, 409, 'conflict')
  assert.ok(Number(waiting.headers['retry-after']) >= 1)
  await clock.turnTo(31_000)
  const done = await post(elsewhere, name, user)
  assert.deepEqual([done.status, replayed(done)], [201, undefined])
})

test('§10.4 answers outlive a rotation of the root secret', async () => {
  const user = newUser()
  const name = newName()
  const first = await post(backend, name, user)
  for (const replica of replicas)
    await replica.restart({ env: { SVC_SECRET: NEXT_SECRET, SVC_SECRET_PREVIOUS: SECRET } })
  const again = await post(elsewhere, name, user)
  assert.deepEqual([again.status, again.text, replayed(again)], [201, first.text, 'true'])
  assertJsonError(await post(backend, name, { ...user, roles: ['x'] }), 422, 'unprocessable')
})

test('§10.4 answers are repeated for 24 hours, and deleted afterwards', async () => {
  const user = newUser()
  const name = newName()
  await post(backend, name, user)
  await clock.turnTo(23 * HOUR_MS)
  assert.equal(replayed(await post(elsewhere, name, user)), 'true')
  await clock.turnTo(25 * HOUR_MS)
  const database = await openDatabase(one)
  await eventually(
    'the rows are deleted',
    async () => (await database.rows('SELECT id FROM idempotent_requests')).length === 0,
  )
  const again = await post(elsewhere, name, user)
  assertJsonError(again, 409, 'conflict')
  assert.equal(again.json<Problem>().error.field, 'email')
  assert.equal(replayed(again), undefined)
})
