// Runs on SQLite and PostgreSQL.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { currentUser, logIn, newAgent, signedUp } from '../../support/client/accounts.ts'
import { assertJsonError, assertSignedIn, assertSignedOut } from '../../support/client/assertions.ts'
import { createBackend } from '../../support/client/backend.ts'
import { turnedClock } from '../../support/clock/turned-clock.ts'
import { createAuthenticator } from '../../support/passkeys/authenticator.ts'
import { addPasskey, logInWithPasskey } from '../../support/passkeys/passkeys.ts'
import { setUpApp } from '../../support/second-factor/app-set-up.ts'
import { startService } from '../../support/service/service.ts'

type Shown = { second_factors: string[]; passkeys: number; updated_at: string }

const clock = turnedClock()
const service = await startService({ clock })
const backend = await createBackend(service, ['users:read', 'credentials:write'])

let minutes = 0
/** Time passes, so that a later change has a later time. */
const aMinuteLater = () => clock.turnTo((minutes += 1) * 60_000)

const found = async (id: string): Promise<Shown> => (await backend.call('GET', `/users/${id}`)).json<Shown>()
const reset = (id: string, query = '') => backend.call('DELETE', `/users/${id}/second-factors${query}`)

/** A user with codes and a passkey, and what the server API showed after each. */
const withBoth = async () => {
  const { agent, person } = await signedUp(service)
  const { id } = await currentUser(agent)
  const authenticator = createAuthenticator({ origin: service.url })
  const shown = [await found(id)]
  await aMinuteLater()
  await setUpApp(agent, clock.now())
  shown.push(await found(id))
  await aMinuteLater()
  await addPasskey(agent, authenticator)
  shown.push(await found(id))
  return { agent, person, id, authenticator, shown }
}

test('§10.5 users are shown with their second factors and passkeys, and a change of them is an update', async () => {
  const { id, shown } = await withBoth()
  assert.deepEqual(
    shown.map(({ second_factors, passkeys }) => [second_factors, passkeys]),
    [
      [[], 0],
      [['totp'], 0],
      [['totp'], 1],
    ],
  )
  const times = shown.map(({ updated_at }) => updated_at)
  assert.deepEqual([...new Set(times)], times.toSorted(), 'each change is later than the one before')
  assert.equal(new Set(times).size, 3)
  const list = await backend.call('GET', `/users?updated_since=${times[2]}`)
  const listed = list.json<{ users: (Shown & { id: string })[] }>().users.find((user) => user.id === id)
  assert.deepEqual(listed, await found(id))
})

test('§10.5 DELETE takes the codes away, ends sessions and leaves passkeys', async () => {
  const { agent, person, id, authenticator, shown } = await withBoth()
  await assertSignedIn(agent)
  await aMinuteLater()
  const answer = await reset(id)
  assert.deepEqual([answer.status, answer.text], [204, ''])
  await assertSignedOut(agent)
  const after = await found(id)
  assert.deepEqual([after.second_factors, after.passkeys], [[], 1])
  assert.ok(after.updated_at > (shown[2]?.updated_at ?? ''))
  assert.equal((await logIn(newAgent(service), person)).location, '/', 'no code is asked for')
  assert.equal((await logInWithPasskey(newAgent(service), authenticator)).status, 200)
  assert.equal((await reset(id)).status, 204, 'also when there is none')
})

test('§10.5 DELETE with passkeys=true takes these too', async () => {
  const { id, authenticator } = await withBoth()
  await aMinuteLater()
  assert.equal((await reset(id.toUpperCase(), '?passkeys=true')).status, 204)
  const after = await found(id)
  assert.deepEqual([after.second_factors, after.passkeys], [[], 0])
  assert.equal((await logInWithPasskey(newAgent(service), authenticator)).status, 401)
})

test('§10.5 DELETE is refused for other queries and users, and without the scope', async () => {
  const { agent, id } = await withBoth()
  for (const query of ['?passkeys=1', '?passkeys=', '?passkeys', '?passkeys=true&passkeys=true', '?passkey=true']) {
    assertJsonError(await reset(id, query), 400, 'invalid_request')
  }
  for (const unknown of [randomUUID(), 'nobody', '%00']) assert.equal((await reset(unknown)).status, 204)
  const weak = await createBackend(service, ['users:write', 'sessions:write'])
  assertJsonError(await weak.call('DELETE', `/users/${id}/second-factors`), 403, 'forbidden')
  await assertSignedIn(agent)
  assert.deepEqual((await found(id)).second_factors, ['totp'])
})
