// Runs on SQLite.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newPerson } from '../support/client/accounts.ts'
import { createBackend } from '../support/client/backend.ts'
import type { Answer } from '../support/client/user-agent.ts'
import { turnedProcessClock } from '../support/clock/turned-process-clock.ts'
import { HASHES_THAT_WAIT } from '../support/service/command.ts'
import { listUsers } from '../support/service/operator-commands.ts'
import { startServiceProcess } from '../support/service/service-process.ts'

type Sent = { name: string; body: { email: string; password?: string }; acknowledged?: string }

const ROUNDS = 6
const AT_ONCE = 8
const CLAIM_MS = 31_000

test('6 times kill -9 during requests with an Idempotency-Key: each has one effect, and keeps its first answer', async (t) => {
  const clock = turnedProcessClock(t)
  // Hashes that wait keep requests under way for a while.
  const options = `${clock.env.NODE_OPTIONS} ${HASHES_THAT_WAIT}`
  const service = await startServiceProcess({ t, env: { ...clock.env, NODE_OPTIONS: options } })
  const backend = await createBackend(service, ['users:write'])
  const send = ({ name, body }: Sent): Promise<Answer> =>
    backend.call('POST', '/users', body, { 'idempotency-key': name })
  const all: Sent[] = []
  let underWay = 0

  for (let round = 0; round < ROUNDS; round++) {
    const requests = Array.from({ length: AT_ONCE }, (_, index): Sent => {
      const { email, password } = newPerson()
      return { name: `round-${round}-${index}`, body: { email, ...(index > 2 && { password }) } }
    })
    all.push(...requests)
    const enough = Promise.withResolvers<void>()
    let answered = 0
    const attempts = requests.map(async (request) => {
      const answer = await send(request)
      assert.equal(answer.status, 201, answer.text)
      request.acknowledged = answer.text
      answered += 1
      if (answered > round % 5) enough.resolve()
    })
    await Promise.race([enough.promise, Promise.allSettled(attempts)])
    await service.kill()
    await Promise.allSettled(attempts)
    await service.restart()
    const retried = await Promise.all(requests.map(send))
    underWay += retried.filter(({ status }) => status === 409).length
    // What the killed process had begun is taken over.
    await clock.turnTo((round + 1) * CLAIM_MS)
    for (const request of requests) {
      const answer = await send(request)
      assert.equal(answer.status, 201, answer.text)
      assert.equal(answer.text, request.acknowledged ?? answer.text)
      request.acknowledged = answer.text
    }
  }

  const stored = await listUsers(service)
  assert.equal(stored.length, all.length)
  const ids = new Map(stored.map(({ id, email }) => [email, id]))
  for (const { body, acknowledged = '' } of all) assert.equal(JSON.parse(acknowledged).id, ids.get(body.email))
  assert.ok(underWay > 0, 'processes were killed in the middle of requests')
})
