// Runs on SQLite.
import assert from 'node:assert/strict'
import { type TestContext, describe, test } from 'node:test'
import { currentUser, newPerson, signedUp } from '../../support/client/accounts.ts'
import { assertCanLogIn } from '../../support/client/assertions.ts'
import {
  type Answering,
  type Delivery,
  type WebhookReceiver,
  flood,
  redirectTo,
  silence,
  startWebhookReceiver,
  status,
  drip,
  trickle,
} from '../../support/network/webhook-receiver.ts'
import type { Environment } from '../../support/service/command.ts'
import { startService } from '../../support/service/service.ts'
import { startServiceProcess } from '../../support/service/service-process.ts'

const webhooksTo = ({ url }: WebhookReceiver) => ({
  SVC_WEBHOOK_URL: url,
  SVC_WEBHOOK_SECRET: 'a secret of enough bytes',
})

const start = async (t: TestContext, env: Environment = {}) => {
  const receiver = await startWebhookReceiver({ t })
  return { receiver, service: await startService({ t, env: { ...webhooksTo(receiver), ...env } }) }
}

/** The same with a service that can be killed. */
const startProcess = async (t: TestContext, env: Environment) => {
  const receiver = await startWebhookReceiver({ t })
  return { receiver, service: await startServiceProcess({ t, env: { ...webhooksTo(receiver), ...env } }) }
}

const isFor = (userId: string) => (delivery: Delivery) => delivery.event.data.user_id === userId
const typesFor = (deliveries: Delivery[], userId: string) =>
  deliveries.filter(isFor(userId)).map(({ event }) => event.type)

const failures: [string, Answering][] = [
  ['500', status(500)],
  ['503', status(503)],
  ['429', status(429)],
  ['408', status(408)],
  ['404', status(404)],
  ['401', status(401)],
  ['302', redirectTo('http://127.0.0.1:9/')],
  ['a connection that breaks', (_, response) => void response.destroy()],
  ['a connection that is reset', (_, response) => void response.socket?.resetAndDestroy()],
  ['something other than HTTP', (_, response) => void response.socket?.end('SSH-2.0-OpenSSH_9.9\r\n')],
  [
    'two lengths of one body',
    (_, response) => void response.socket?.end('HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nx'),
  ],
  [
    'half an answer',
    (_, response) => void response.writeHead(200, { 'content-length': 9 }).write('x', () => response.destroy()),
  ],
]

describe('§6.5', { concurrency: 4 }, () => {
  test('rule 2: failed deliveries are not retried: one attempt for each event, with any response', async (t) => {
    const { receiver, service } = await start(t)
    const people: string[] = []
    for (const [, answering] of failures) {
      receiver.answerWith(answering)
      const { agent } = await signedUp(service)
      const { id } = await currentUser(agent)
      people.push(id)
      await receiver.receivedEvent(isFor(id))
    }
    receiver.answerWith(status(204))
    const { agent, person } = await signedUp(service)
    await agent.post('/auth/account/delete', { password: person.password })
    await receiver.received(failures.length + 2)
    await service.restart()
    await signedUp(service)
    await receiver.received(failures.length + 3)
    for (const [index, id] of people.entries())
      assert.deepEqual(typesFor(receiver.deliveries, id), ['user.created'], failures[index]?.[0])
  })

  test('rule 2: SVC_WEBHOOK_MAX_ATTEMPTS above 1 retries 5xx with the same id and body until it succeeds', async (t) => {
    const { receiver, service } = await start(t, { SVC_WEBHOOK_MAX_ATTEMPTS: '3' })
    receiver.answerWith(status(503))
    await signedUp(service)
    await receiver.received(1)
    receiver.answerWith(status(204))
    const [first, second] = await receiver.received(2)
    assert.equal(second?.body, first?.body)
    assert.equal(second?.headers['x-svc-delivery'], first?.headers['x-svc-delivery'])
    assert.equal(second?.headers['x-svc-signature'], first?.headers['x-svc-signature'])
  })

  test('rule 2: with more attempts a refusal (400) is final all the same', async (t) => {
    const { receiver, service } = await start(t, { SVC_WEBHOOK_MAX_ATTEMPTS: '3' })
    receiver.answerWith(status(400))
    const refused = await currentUser((await signedUp(service)).agent)
    await receiver.received(1)
    receiver.answerWith(status(503))
    const retried = await currentUser((await signedUp(service)).agent)
    await receiver.received(3)
    assert.equal(typesFor(receiver.deliveries, refused.id).length, 1)
    assert.equal(typesFor(receiver.deliveries, retried.id).length, 2)
  })

  test('in order of creation for each user: user.deleted waits until user.created has been answered', async (t) => {
    const { receiver, service } = await start(t)
    const held = Promise.withResolvers<void>()
    let answered = false
    receiver.answerWith(({ event }, response) => {
      const answer = () => {
        answered = true
        response.writeHead(204).end()
      }
      if (event.type === 'user.deleted') response.writeHead(answered ? 204 : 409).end()
      else void held.promise.then(answer)
    })
    const { agent, person } = await signedUp(service)
    const { id } = await currentUser(agent)
    await receiver.received(1)
    await agent.post('/auth/account/delete', { password: person.password })
    const other = await currentUser((await signedUp(service)).agent)
    await receiver.receivedEvent(isFor(other.id))
    assert.deepEqual(typesFor(receiver.deliveries, id), ['user.created'], 'one user waits, the others do not')
    held.resolve()
    await receiver.received(3)
    assert.deepEqual(typesFor(receiver.deliveries, id), ['user.created', 'user.deleted'])
  })

  test('the request never waits for it: signup is answered while the receiver is silent', async (t) => {
    const { receiver, service } = await start(t, { SVC_WEBHOOK_TIMEOUT: '10m' })
    receiver.answerWith(silence)
    const { person } = await signedUp(service)
    await receiver.received(1)
    await assertCanLogIn(service, person)
    receiver.hangUp()
  })

  test('the request never waits for it: signup is answered while the receiver is down', async (t) => {
    const { service } = await start(t, { SVC_WEBHOOK_URL: 'http://127.0.0.1:9/nobody-listens' })
    const { person } = await signedUp(service)
    await assertCanLogIn(service, person)
  })

  for (const [what, answering] of [
    ['silent', silence],
    ['slow in its body', trickle],
    ['slow in its head', drip],
  ] as const) {
    test(`the timeout limits the whole exchange: the next event follows a receiver that is ${what}`, async (t) => {
      const { receiver, service } = await start(t, { SVC_WEBHOOK_TIMEOUT: '2s' })
      receiver.answerWith(answering)
      const { agent, person } = await signedUp(service)
      const { id } = await currentUser(agent)
      await receiver.received(1)
      await agent.post('/auth/account/delete', { password: person.password })
      await receiver.received(2)
      assert.deepEqual(typesFor(receiver.deliveries, id), ['user.created', 'user.deleted'])
    })
  }

  test('redirects are not followed', async (t) => {
    const elsewhere = await startWebhookReceiver({ t })
    const { receiver, service } = await start(t)
    receiver.answerWith(redirectTo(elsewhere.url))
    const { agent, person } = await signedUp(service)
    await agent.post('/auth/account/delete', { password: person.password })
    await receiver.received(2)
    assert.deepEqual(elsewhere.deliveries, [])
  })

  test('at most 64 KiB of the response is read', async (t) => {
    const { receiver, service } = await start(t, { SVC_WEBHOOK_TIMEOUT: '10m' })
    const closed = Promise.withResolvers<void>()
    let sentBytes = 0
    receiver.answerWith((delivery, response) => {
      response.once('close', closed.resolve)
      flood((bytes) => {
        sentBytes = bytes
        // The kernel buffers some megabytes for both sides; beyond that, the receiver must read.
        if (bytes > 64 * 1024 * 1024) closed.reject(new Error(`${bytes} bytes were taken`))
      })(delivery, response)
    })
    await signedUp(service)
    await closed.promise
    assert.ok(sentBytes > 0)
  })

  test('an event that was never attempted (the command line, while nothing runs) is delivered at the next start', async (t) => {
    const { receiver, service } = await start(t)
    await service.stop()
    const person = newPerson()
    const { code, stderr } = await service.cli(['users', 'create', person.email, '--username', person.username], {
      input: person.password,
    })
    assert.equal(code, 0, stderr)
    assert.equal(receiver.deliveries.length, 0, 'the command line leaves delivery to the running service')
    await service.restart()
    const [delivery] = await receiver.received(1)
    assert.equal(delivery?.event.type, 'user.created')
  })

  test('with --deliver the command line makes the attempt itself, and the service does not repeat it', async (t) => {
    const { receiver, service } = await start(t)
    await service.stop()
    const person = newPerson()
    const { code, stderr } = await service.cli(
      ['users', 'create', person.email, '--username', person.username, '--deliver'],
      { input: person.password },
    )
    assert.equal(code, 0, stderr)
    assert.equal(receiver.deliveries.length, 1)
    await service.restart()
    await signedUp(service)
    await receiver.received(2)
    assert.equal(new Set(receiver.deliveries.map(({ event }) => event.id)).size, 2)
  })

  test('exactly one attempt: one that a crash interrupted may have arrived, and is not made again', async (t) => {
    const { receiver, service } = await startProcess(t, { SVC_WEBHOOK_TIMEOUT: '500ms' })
    receiver.answerWith(silence)
    const { agent, person } = await signedUp(service)
    const { id } = await currentUser(agent)
    await receiver.received(1)
    await service.kill()
    receiver.answerWith(status(204))
    await service.restart()
    // The attempt counts as interrupted after its timeout and a margin; then the next event follows.
    await agent.post('/auth/account/delete', { password: person.password })
    await receiver.receivedEvent(({ event }) => event.type === 'user.deleted')
    assert.deepEqual(typesFor(receiver.deliveries, id), ['user.created', 'user.deleted'])
  })

  test('a crash between commit and delivery loses no event and repeats none: 40 signups, kill -9, start', async (t) => {
    const { receiver, service } = await startProcess(t, { SVC_WEBHOOK_TIMEOUT: '10m' })
    receiver.answerWith(silence)
    const people = await Promise.all(Array.from({ length: 40 }, () => signedUp(service)))
    const users = await Promise.all(people.map(({ agent }) => currentUser(agent)))
    // Hanging attempts fill the dispatcher. All attempts have begun when nothing more arrives.
    for (let before = -1; before < receiver.deliveries.length; ) {
      before = receiver.deliveries.length
      await new Promise((resolve) => setTimeout(resolve, 400))
    }
    await service.kill()
    receiver.answerWith(status(204))
    await service.restart()
    await receiver.received(users.length)
    const delivered = receiver.deliveries.map(({ event }) => event.data.user_id)
    assert.deepEqual(delivered.sort(), users.map(({ id }) => id).sort())
  })
})
