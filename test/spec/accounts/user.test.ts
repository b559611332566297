// Runs on SQLite.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { currentUser, newPerson, signedUp } from '../../support/client/accounts.ts'
import { setRoles } from '../../support/service/operator-commands.ts'
import { startService } from '../../support/service/service.ts'

const service = await startService()

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

test('§2.1 the user has id, email, username, roles, disabled and created_at, and nothing else', async () => {
  const { agent } = await signedUp(service)
  const user = await currentUser(agent)
  assert.deepEqual(Object.keys(user).sort(), ['created_at', 'disabled', 'email', 'id', 'roles', 'username'])
})

test('§2.1 id: string, UUID', async () => {
  const { agent } = await signedUp(service)
  assert.match((await currentUser(agent)).id, uuid)
})

test('§2.1 id: two users never share one, and it stays the same', async () => {
  const [one, other] = await Promise.all([signedUp(service), signedUp(service)])
  const { id } = await currentUser(one.agent)
  assert.notEqual(id, (await currentUser(other.agent)).id)
  assert.equal(id, (await currentUser(one.agent)).id)
})

test('§2.1 email: email address, as entered', async () => {
  const person = newPerson()
  const email = person.email.replace('p', 'P').replace('example', 'Example')
  const { agent } = await signedUp(service, { ...person, email })
  assert.equal((await currentUser(agent)).email, email)
})

test('§2.1 username: string', async () => {
  const { agent, person } = await signedUp(service)
  assert.equal((await currentUser(agent)).username, person.username)
})

test('§2.1 roles: array of roles; an empty array is possible', async () => {
  const { agent } = await signedUp(service)
  assert.deepEqual((await currentUser(agent)).roles, [])
})

test('§2.1 roles: the next response contains the roles that the command line sets', async () => {
  const { agent, person } = await signedUp(service)
  await setRoles(service, person.email, ['admin', 'billing:read'])
  assert.deepEqual((await currentUser(agent)).roles.sort(), ['admin', 'billing:read'])
  await setRoles(service, person.email, [])
  assert.deepEqual((await currentUser(agent)).roles, [])
})

test('§2.1 disabled: boolean', async () => {
  const { agent } = await signedUp(service)
  assert.equal((await currentUser(agent)).disabled, false)
})

test('§2.1 created_at: ISO 8601 UTC timestamp of the signup', async () => {
  const before = Date.now()
  const { agent } = await signedUp(service)
  const { created_at } = await currentUser(agent)
  assert.match(created_at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/)
  const createdAtMs = Date.parse(created_at)
  assert.ok(createdAtMs >= before - 1000 && createdAtMs <= Date.now(), created_at)
})
