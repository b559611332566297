// Runs on SQLite and PostgreSQL.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { currentUser, newPerson, signedUp, signUp } from '../../support/client/accounts.ts'
import { assertRedirect } from '../../support/client/assertions.ts'
import { createUserAgent } from '../../support/client/user-agent.ts'
import type { Delivery } from '../../support/network/webhook-receiver.ts'
import { startWebhookReceiver } from '../../support/network/webhook-receiver.ts'
import { createUser, deleteUser, showUser } from '../../support/service/operator-commands.ts'
import { startService } from '../../support/service/service.ts'

const receiver = await startWebhookReceiver()
const service = await startService({
  env: { SVC_WEBHOOK_URL: receiver.url, SVC_WEBHOOK_SECRET: 'a secret of enough bytes' },
})

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

test('§6.1 no other change of a user causes an event: login, refresh, password and username', async () => {
  const { agent, person } = await signedUp(service)
  const { id } = await currentUser(agent)
  const next = newPerson()
  await agent.refresh()
  await agent.post('/auth/account/username', { username: next.username })
  const passwords = { current_password: person.password, new_password: next.password }
  assertRedirect(await agent.post('/auth/account/password', passwords), '/auth/account?done=password')
  await agent.post('/auth/logout')
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
