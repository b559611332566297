// Runs on SQLite.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { currentUser, newPerson, signedUp, signUp } from '../../support/client/accounts.ts'
import { assertRedirect } from '../../support/client/assertions.ts'
import { createUserAgent } from '../../support/client/user-agent.ts'
import { type Delivery, startWebhookReceiver } from '../../support/network/webhook-receiver.ts'
import {
  createUser,
  deleteUser,
  disableUser,
  enableUser,
  setPassword,
  setRoles,
  showUser,
} from '../../support/service/operator-commands.ts'
import { startService } from '../../support/service/service.ts'

const receiver = await startWebhookReceiver()
const service = await startService({
  env: { SVC_WEBHOOK_URL: receiver.url, SVC_WEBHOOK_SECRET: 'a secret of enough bytes' },
})

const DONE_USERNAME = '/auth/account?done=username'

const eventOf = (type: string, userId: string) => (delivery: Delivery) =>
  delivery.event.type === type && delivery.event.data.user_id === userId
const eventsOf = (userId: string) => receiver.deliveries.filter(({ event }) => event.data.user_id === userId)

/** Waits for a later event. An earlier one would have been sent before it. */
const signUpAnotherUser = async () => {
  const { agent } = await signedUp(service)
  const { id } = await currentUser(agent)
  await receiver.receivedEvent(eventOf('user.created', id))
}

test('§6.1 user.created: a user was created, by signing up', async () => {
  const { agent } = await signedUp(service)
  const { id } = await currentUser(agent)
  await receiver.receivedEvent(eventOf('user.created', id))
  assert.equal(eventsOf(id).length, 1)
})

test('§6.1 user.deleted: a user was deleted, by deleting the own account', async () => {
  const { agent, person } = await signedUp(service)
  const { id } = await currentUser(agent)
  const answer = await agent.post('/auth/account/delete', { password: person.password })
  assertRedirect(answer, '/auth/login?done=deleted')
  await receiver.receivedEvent(eventOf('user.deleted', id))
})

test('§6.1 the command line creates and deletes users with the same events; the running service delivers them', async () => {
  const person = newPerson()
  await createUser(service, person)
  const { id } = await showUser(service, person.email)
  await receiver.receivedEvent(eventOf('user.created', id))
  await deleteUser(service, person.email)
  await receiver.receivedEvent(eventOf('user.deleted', id))
  assert.deepEqual(
    eventsOf(id).map(({ event }) => event.type),
    ['user.created', 'user.deleted'],
  )
})

test('§6.5 a webhook is sent after the action has succeeded: never for a signup that failed', async () => {
  const { agent, person } = await signedUp(service)
  const { id } = await currentUser(agent)
  await receiver.receivedEvent(eventOf('user.created', id))
  const before = receiver.deliveries.length
  assert.equal((await signUp(createUserAgent(service), person)).status, 409)
  assert.equal((await signUp(createUserAgent(service), { ...newPerson(), password: 'short' })).status, 422)
  assert.equal((await signUp(createUserAgent(service), { ...newPerson(), return_to: '//x' })).status, 400)
  assert.equal((await agent.post('/auth/account/delete', { password: 'wrong password' })).status, 401)
  await signUpAnotherUser()
  assert.equal(receiver.deliveries.length, before + 1)
})

test('§6.1 user.updated: it names what has changed, in order of the changes', async () => {
  const { agent, person } = await signedUp(service)
  const { id } = await currentUser(agent)
  assertRedirect(await agent.post('/auth/account/username', { username: newPerson().username }), DONE_USERNAME)
  await setRoles(service, person.email, ['admin', 'editor'])
  await disableUser(service, person.email)
  await enableUser(service, person.email)
  await deleteUser(service, person.email)
  await receiver.receivedEvent(eventOf('user.deleted', id))
  assert.deepEqual(
    eventsOf(id).map(({ event: { type, data } }) => [type, data]),
    [
      ['user.created', { user_id: id }],
      ['user.updated', { user_id: id, changed: ['username'] }],
      ['user.updated', { user_id: id, changed: ['roles'] }],
      ['user.updated', { user_id: id, changed: ['disabled'] }],
      ['user.updated', { user_id: id, changed: ['disabled'] }],
      ['user.deleted', { user_id: id }],
    ],
  )
})

test('§6.1 what is set to its own value has not changed: no event; and none for a change that fails', async () => {
  const { agent, person } = await signedUp(service)
  const { person: other } = await signedUp(service)
  const { id, username } = await currentUser(agent)
  assertRedirect(await agent.post('/auth/account/username', { username: username.toUpperCase() }), DONE_USERNAME)
  assert.equal((await agent.post('/auth/account/username', { username: other.username })).status, 409)
  assert.equal((await agent.post('/auth/account/username', { username: 'a b' })).status, 422)
  await setRoles(service, person.email, [])
  await enableUser(service, person.email)
  assert.equal((await service.cli(['users', 'set-roles', person.email, 'No Role'])).code, 1)
  await signUpAnotherUser()
  assert.deepEqual(
    eventsOf(id).map(({ event }) => event.type),
    ['user.created'],
  )
})

test('§6.1 of two equal changes at once, one is a change', async () => {
  const { agent } = await signedUp(service)
  const { id } = await currentUser(agent)
  const { username } = newPerson()
  const rename = () => agent.post('/auth/account/username', { username })
  for (const answer of await Promise.all([rename(), rename(), rename()])) assertRedirect(answer, DONE_USERNAME)
  await signUpAnotherUser()
  assert.deepEqual(
    eventsOf(id).map(({ event }) => event.type),
    ['user.created', 'user.updated'],
  )
})

test('§6.1 no other change of a user causes an event: login, refresh and password', async () => {
  const { agent, person } = await signedUp(service)
  const { id } = await currentUser(agent)
  const next = newPerson()
  await agent.refresh()
  const passwords = { current_password: person.password, new_password: next.password }
  assertRedirect(await agent.post('/auth/account/password', passwords), '/auth/account?done=password')
  await agent.post('/auth/logout')
  await setPassword(service, person.email, newPerson().password)
  await signUpAnotherUser()
  assert.deepEqual(
    eventsOf(id).map(({ event }) => event.type),
    ['user.created'],
  )
})

test('§6.5 when the event arrives, a new user can already log in, and a deleted one no longer', async () => {
  const person = newPerson()
  const seen: Promise<string>[] = []
  receiver.answerWith(({ event }, response) => {
    const login = createUserAgent(service).post('/auth/login', { email: person.email, password: person.password })
    seen.push(login.then(({ status }) => `${event.type} ${status}`))
    response.writeHead(204).end()
  })
  const { agent } = await signedUp(service, person)
  const { id } = await currentUser(agent)
  await receiver.receivedEvent(eventOf('user.created', id))
  assert.deepEqual(await Promise.all(seen), ['user.created 303'])
  await agent.post('/auth/account/delete', { password: person.password })
  await receiver.receivedEvent(eventOf('user.deleted', id))
  assert.deepEqual(await Promise.all(seen), ['user.created 303', 'user.deleted 401'])
})
