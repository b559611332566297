// Runs on SQLite and PostgreSQL.
import assert from 'node:assert/strict'
import { randomUUID, randomUUIDv7 } from 'node:crypto'
import { describe, test } from 'node:test'
import { hash as argon2 } from '@node-rs/argon2'
import { currentUser, loggedIn, newPerson, signedUp } from '../../support/client/accounts.ts'
import {
  assertCanLogIn,
  assertCannotLogIn,
  assertJsonError,
  assertSignedIn,
  assertSignedOut,
} from '../../support/client/assertions.ts'
import { createBackend } from '../../support/client/backend.ts'
import type { Answer } from '../../support/client/user-agent.ts'
import { turnedClock } from '../../support/clock/turned-clock.ts'
import { startWebhookReceiver } from '../../support/network/webhook-receiver.ts'
import { runJsonCommandOf } from '../../support/service/operator-commands.ts'
import { at, startReplicas } from '../../support/service/replicas.ts'

type ApiUser = {
  id: string
  email: string
  username: string
  roles: string[]
  disabled: boolean
  created_at: string
  email_verified: boolean
  updated_at: string
  last_seen_at: string | null
  has_password: boolean
  identities: unknown[]
  second_factors: string[]
  passkeys: number
  invite_url?: string
}

const clock = turnedClock()
const receiver = await startWebhookReceiver()
const env = { SVC_WEBHOOK_URL: receiver.url, SVC_WEBHOOK_SECRET: 'a secret of the tests' }
const [one, other] = await startReplicas({ clock, env })
const backend = await createBackend(one, ['users:write', 'credentials:write'])

/** A hash of another program. */
const argon2Of = (password: string): Promise<string> =>
  argon2(password, { memoryCost: 64, timeCost: 1, parallelism: 1 })

const created = async (given: object = {}): Promise<ApiUser> => {
  const answer = await backend.call('POST', '/users', { email: newPerson().email, ...given })
  assert.equal(answer.status, 201, answer.text)
  return answer.json<ApiUser>()
}
const found = async (id: string): Promise<ApiUser> => {
  const answer = await backend.at(other).call('GET', `/users/${id}`)
  assert.equal(answer.status, 200, answer.text)
  return answer.json<ApiUser>()
}
const patched = async (id: string, changes: object): Promise<ApiUser> => {
  const answer = await backend.call('PATCH', `/users/${id}`, changes)
  assert.equal(answer.status, 200, answer.text)
  assert.deepEqual(await found(id), answer.json(), 'the answer is the user as they are now')
  return answer.json<ApiUser>()
}
const assertField = (answer: Answer, status: 409 | 422, field: string): void => {
  assertJsonError(answer, status, status === 409 ? 'conflict' : 'unprocessable')
  assert.equal(answer.json<{ error: { field: string } }>().error.field, field, answer.text)
}
/** Events of a user, once a later one of them has arrived. */
const changesTold = async (id: string): Promise<(string[] | undefined)[]> => {
  await backend.call('DELETE', `/users/${id}`)
  await receiver.receivedEvent(({ event }) => event.type === 'user.deleted' && event.data.user_id === id)
  const events = receiver.deliveries.map(({ event }) => event).filter(({ data }) => data.user_id === id)
  return events.filter(({ type }) => type === 'user.updated').map(({ data }) => data.changed)
}
let minutes = 0
/** Time passes, so that a later change has a later time. */
const aMinuteLater = () => clock.turnTo((minutes += 1) * 60_000)

describe('§10.5 GET /users/{id}', () => {
  test('is the user with the fields of the first version, and more, on every replica', async () => {
    const { agent, person } = await signedUp(one)
    const { id, ...user } = await currentUser(agent)
    const shown = await found(id)
    assert.deepEqual(Object.keys(shown), [
      'id',
      'email',
      'username',
      'roles',
      'disabled',
      'created_at',
      'language',
      'email_verified',
      'updated_at',
      'last_seen_at',
      'has_password',
      'identities',
      'second_factors',
      'passkeys',
    ])
    assert.partialDeepStrictEqual(shown, { ...user, id, email: person.email, email_verified: false })
    assert.deepEqual([shown.has_password, shown.identities, shown.second_factors, shown.passkeys], [true, [], [], 0])
    assert.equal(shown.updated_at, shown.created_at)
    assert.match(shown.last_seen_at ?? '', /^\d{4}-\d\d-\d\dT[\d:]+\.\d{3}Z$/)
  })

  test('shows when the user was last seen, also after a logout; that is no update', async () => {
    const { agent, person } = await signedUp(one)
    const { id } = await currentUser(agent)
    await aMinuteLater()
    const second = await loggedIn(other, person)
    const seen = await found(id)
    assert.ok((seen.last_seen_at ?? '') > seen.created_at)
    await second.post('/auth/logout')
    await agent.post('/auth/logout')
    const after = await found(id)
    assert.ok((after.last_seen_at ?? '') > seen.created_at)
    assert.equal(after.updated_at, seen.created_at)
  })

  test('is the same one by an id in upper case, which some databases write', async () => {
    const { id } = await created()
    const inUpperCase = id.toUpperCase()
    const answer = await backend.call('GET', `/users/${inUpperCase}`)
    assert.equal(answer.json<ApiUser>().id, id, answer.text)
    await backend.call('DELETE', `/users/${inUpperCase}`)
    assertJsonError(await backend.call('GET', `/users/${id}`), 404, 'not_found')
  })

  test('is 404 for any other id', async () => {
    for (const id of [randomUUID(), 'nobody', '%00', "'"])
      assertJsonError(await backend.call('GET', `/users/${id}`), 404, 'not_found')
  })
})

describe('§10.5 POST /users', () => {
  test('makes an account that exists at once, of an operator, with what is given', async () => {
    const person = newPerson()
    const roles = ['admin', 'a:b']
    const user = await created({ ...person, email: ` ${person.email.toUpperCase()} `, roles, email_verified: true })
    assert.partialDeepStrictEqual(user, {
      email: person.email.toUpperCase(),
      username: person.username,
      roles,
      disabled: false,
      email_verified: true,
      last_seen_at: null,
      has_password: true,
    })
    assert.deepEqual(await found(user.id), user)
    assert.equal('invite_url' in user, false)
    await assertCanLogIn(other, person)
    await receiver.receivedEvent(({ event }) => event.type === 'user.created' && event.data.user_id === user.id)
    const shown = await runJsonCommandOf<Record<string, unknown>>(one, ['users', 'show', user.id])
    assert.deepEqual([shown.self_made, shown.invited], [false, false])
  })

  test('with an email alone: not verified, a username of it, and no way in yet', async () => {
    const user = await created({ email: 'Grace.Hopper@navy.example' })
    assert.partialDeepStrictEqual(user, { username: 'grace-hopper', email_verified: false, has_password: false })
    const again = await created({ email: 'grace.hopper@other.example' })
    assert.match(again.username, /^grace-hopper\d+$/)
  })

  test('takes a hash of svc or of another system in place of the password', async () => {
    const { username, password, ...person } = newPerson()
    // bcrypt of "correct horse battery"
    const hashes = ['$2y$04$8zPtM0mQ3NpW9rS3bCH3EeZ8u2zTJr0OI1V0wq6yqzuTq7yqzJ2kO', await argon2Of(password)]
    for (const hash of hashes) {
      const user = await created({ email: newPerson().email, password_hash: hash })
      assert.equal(user.has_password, true)
    }
    await created({ ...person, password_hash: await argon2Of(password) })
    await assertCanLogIn(other, { ...person, username, password })
    for (const [value, field] of [
      ['plain text', 'password_hash'],
      ['', 'password_hash'],
      [
        '$argon2id$v=19$m=4194304,t=2,p=1$c3ZjLWR1bW15LXNhbHQtMQ$7I2tYHUbYRFoCpmbNnz1vdWbaq2zqnwqmOWdISF6m1E',
        'password_hash',
      ],
    ])
      assertField(
        await backend.call('POST', '/users', { email: newPerson().email, password_hash: value }),
        422,
        field ?? '',
      )
  })

  test('refuses a bad field with 422, and changes nothing', async () => {
    const { email, password } = newPerson()
    const bad: [object, string][] = [
      [{}, 'email'],
      [{ email: 'nobody' }, 'email'],
      [{ email: 7 }, 'email'],
      [{ email: [email] }, 'email'],
      [{ email, username: 'a b' }, 'username'],
      [{ email, username: '' }, 'username'],
      [{ email, username: null }, 'username'],
      [{ email, roles: 'admin' }, 'roles'],
      [{ email, roles: ['A B'] }, 'roles'],
      [{ email, roles: [null] }, 'roles'],
      [{ email, password: 'short' }, 'password'],
      [{ email, password: '' }, 'password'],
      [{ email, email_verified: 'yes' }, 'email_verified'],
      [{ email, invite: 1 }, 'invite'],
      [{ email, password, password_hash: await argon2Of(password) }, 'password_hash'],
      [{ email, password, invite: true }, 'invite'],
      [{ email, disabled: true }, 'disabled'],
      [{ email, id: randomUUIDv7() }, 'id'],
      [{ email, constructor: {} }, 'constructor'],
    ]
    for (const [body, field] of bad) assertField(await backend.call('POST', '/users', body), 422, field)
    assertField(
      await backend.call('POST', '/users', `{"email":"${email}","__proto__":{"roles":["admin"]}}`),
      422,
      '__proto__',
    )
    assert.deepEqual((await backend.call('GET', `/users?email=${email}`)).json(), { users: [], next_cursor: null })
  })

  test('a taken email or username is 409, in any letter case, and of two at once one is', async () => {
    const { email, username } = await created({ username: newPerson().username })
    assertField(await backend.call('POST', '/users', { email: email.toUpperCase() }), 409, 'email')
    assertField(await backend.call('POST', '/users', { email: newPerson().email, username }), 409, 'username')
    const body = { email: newPerson().email }
    const answers = await Promise.all(
      [one, other, one, other].map((each) => backend.at(each).call('POST', '/users', body)),
    )
    assert.deepEqual(
      answers.map(({ status }) => status).sort((a, b) => a - b),
      [201, 409, 409, 409],
    )
  })

  test('is repeated with the same Idempotency-Key: one account, and the same answer', async () => {
    const headers = { 'idempotency-key': randomUUID() }
    const body = { email: newPerson().email, invite: true }
    const answer = await backend.call('POST', '/users', body, headers)
    const again = await backend.at(other).call('POST', '/users', body, headers)
    assert.deepEqual([again.status, again.text], [201, answer.text])
    assert.equal(again.headers['idempotency-replayed'], 'true')
    const taken = { 'idempotency-key': randomUUID() }
    assertField(await backend.call('POST', '/users', body, taken), 409, 'email')
    await backend.call('DELETE', `/users/${answer.json<ApiUser>().id}`)
    assertField(await backend.call('POST', '/users', body, taken), 409, 'email')
  })
})

describe('§10.5 PATCH /users/{id}', () => {
  test('changes what is given and nothing else, with one event for all of it', async () => {
    const { id, ...before } = await created({ roles: ['a'] })
    await aMinuteLater()
    const { email, username } = newPerson()
    const after = await patched(id, { email, username: username.toUpperCase(), roles: ['b', 'c', 'b'], disabled: true })
    const expected = { ...before, id, email, username, roles: ['b', 'c'], disabled: true }
    assert.deepEqual(after, { ...expected, updated_at: after.updated_at })
    assert.ok(after.updated_at > before.updated_at)
    await aMinuteLater()
    assert.deepEqual(await patched(id, {}), after)
    assert.deepEqual(
      await patched(id, { email, username, roles: ['b', 'c'], disabled: true }),
      after,
      'no change, no update',
    )
    const enabled = await patched(id, { disabled: false, email_verified: true })
    assert.deepEqual([enabled.disabled, enabled.email_verified], [false, true])
    assert.deepEqual(await changesTold(id), [
      ['email', 'username', 'roles', 'disabled'],
      ['disabled', 'email_verified'],
    ])
  })

  test('disabling ends the sessions at once on every replica, and enabling brings none back', async () => {
    const { agent, person } = await signedUp(one)
    const { id } = await currentUser(agent)
    await assertSignedIn(at(other, agent))
    await patched(id, { disabled: true })
    await assertSignedOut(at(other, agent))
    await assertCannotLogIn(other, person)
    await patched(id, { disabled: false })
    await assertSignedOut(agent)
    await assertCanLogIn(other, person)
  })

  test('a session goes on with other roles, email and username, and shows them at once', async () => {
    const { agent } = await signedUp(one)
    const { id } = await currentUser(agent)
    const { email, username } = newPerson()
    await patched(id, { email, username, roles: ['admin'] })
    assert.partialDeepStrictEqual(await currentUser(at(other, agent)), { email, username, roles: ['admin'] })
  })

  test('a new email is not verified unless the same request says so; other letters of the same one stay verified', async () => {
    const { id, email } = await created({ email_verified: true })
    const shouted = await patched(id, { email: email.toUpperCase() })
    assert.deepEqual([shouted.email, shouted.email_verified], [email.toUpperCase(), true])
    assert.equal((await patched(id, { email: newPerson().email })).email_verified, false)
    assert.equal((await patched(id, { email: newPerson().email, email_verified: true })).email_verified, true)
    assert.equal((await patched(id, { email_verified: false })).email_verified, false)
    assert.deepEqual(await changesTold(id), [
      ['email'],
      ['email', 'email_verified'],
      ['email', 'email_verified'],
      ['email_verified'],
    ])
  })

  test('is all or nothing: a bad or taken field changes nothing', async () => {
    const taken = await created({ username: newPerson().username })
    const user = await created()
    const roles = ['new']
    const refused: [object, 409 | 422, string][] = [
      [{ roles, email: taken.email.toUpperCase() }, 409, 'email'],
      [{ roles, username: taken.username }, 409, 'username'],
      [{ roles, username: '-' }, 422, 'username'],
      [{ roles, email: '@' }, 422, 'email'],
      [{ roles: ['?'], disabled: true }, 422, 'roles'],
      [{ roles, disabled: null }, 422, 'disabled'],
      [{ roles, password: 'another pass phrase' }, 422, 'password'],
    ]
    for (const [changes, status, field] of refused)
      assertField(await backend.call('PATCH', `/users/${user.id}`, changes), status, field)
    assert.deepEqual(await found(user.id), user)
    assertJsonError(await backend.call('PATCH', `/users/${randomUUID()}`, { roles }), 404, 'not_found')
  })

  test('email and its verification need the scope of credentials too', async () => {
    const writer = await createBackend(one, ['users:write'])
    const { id } = await created()
    for (const changes of [
      { email: newPerson().email },
      { email_verified: true },
      { roles: ['a'], email_verified: false },
    ])
      assert.match(
        assertJsonError(await writer.call('PATCH', `/users/${id}`, changes), 403, 'forbidden'),
        /credentials:write/,
      )
    assert.equal((await writer.call('PATCH', `/users/${id}`, { roles: ['a'] })).status, 200)
    assert.equal((await writer.call('GET', `/users/${id}`)).json<ApiUser>().email_verified, false)
  })

  test('many at once: each is whole, and the last event tells of the last change', async () => {
    const { id } = await created()
    const rounds = Array.from({ length: 8 }, (_, round) => ({
      roles: [`r${round}`],
      username: `u${round}-${id.slice(-12)}`,
    }))
    const answers = await Promise.all(
      rounds.map((changes, round) => backend.at(round % 2 ? one : other).call('PATCH', `/users/${id}`, changes)),
    )
    for (const [round, answer] of answers.entries()) assert.partialDeepStrictEqual(answer.json(), rounds[round] ?? {})
    const { roles, username } = await found(id)
    assert.ok(rounds.some((each) => each.roles[0] === roles[0] && each.username === username))
    assert.equal((await changesTold(id)).length, rounds.length)
  })
})

describe('§10.5 DELETE /users/{id}', () => {
  test('deletes the user with their sessions, and is 204 again when they are gone', async () => {
    const { agent, person } = await signedUp(one)
    const { id } = await currentUser(agent)
    for (let again = 0; again < 2; again += 1) {
      const answer = await backend.at(other).call('DELETE', `/users/${id}`)
      assert.deepEqual([answer.status, answer.text], [204, ''])
    }
    await assertSignedOut(agent)
    await assertCannotLogIn(other, person)
    assertJsonError(await backend.call('GET', `/users/${id}`), 404, 'not_found')
    assert.equal((await backend.call('DELETE', '/users/nobody')).status, 204)
    await receiver.receivedEvent(({ event }) => event.type === 'user.deleted' && event.data.user_id === id)
    const told = receiver.deliveries.filter(({ event }) => event.data.user_id === id && event.type === 'user.deleted')
    assert.equal(told.length, 1)
  })
})

describe('§10.5 the log', () => {
  test('has an account event for each change, with the id of the key', async () => {
    const { id } = await created()
    await patched(id, { email: newPerson().email, username: newPerson().username, roles: ['x'], disabled: true })
    await patched(id, { disabled: false, email_verified: true })
    await patched(id, {})
    await backend.call('DELETE', `/users/${id}`)
    const lines = one.logLines().filter((line) => line.user_id === id && line.event !== undefined)
    assert.deepEqual(
      lines.map(({ event }) => event),
      [
        'account_create',
        'email_change',
        'username_change',
        'roles_change',
        'account_disable',
        'account_enable',
        'email_verification',
        'account_delete',
      ],
    )
    for (const line of lines) assert.deepEqual([line.outcome, line.api_key_id], ['succeeded', backend.id])
  })
})
