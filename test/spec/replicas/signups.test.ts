// Runs on PostgreSQL.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { currentUser, loggedIn, newPerson, signUp } from '../../support/client/accounts.ts'
import { createUserAgent } from '../../support/client/user-agent.ts'
import { startWebhookReceiver } from '../../support/network/webhook-receiver.ts'
import { listUsers } from '../../support/service/operator-commands.ts'
import { inTurn, startReplicas } from '../../support/service/replicas.ts'

const receiver = await startWebhookReceiver()
const replicas = await startReplicas({
  env: { SVC_WEBHOOK_URL: receiver.url, SVC_WEBHOOK_SECRET: 'a secret of enough bytes' },
})
const [one, other] = replicas

test('50 parallel signups of one email over both replicas: exactly one account and one event, 8 rounds', async () => {
  const winners: string[] = []
  for (let round = 0; round < 8; round++) {
    const { email, password } = newPerson()
    const agents = Array.from({ length: 50 }, (_, index) => createUserAgent(index % 2 ? one : other))
    for (const agent of agents) agent.cookies.set('svc_csrf', 'x'.repeat(43))
    const answers = await Promise.all(agents.map((agent) => signUp(agent, { email, password })))
    const statuses = answers.map(({ status }) => String(status)).toSorted()
    assert.deepEqual(statuses, ['303', ...Array<string>(49).fill('409')])
    const winner = agents.find((_, index) => answers[index]?.status === 303) ?? assert.fail('nobody has won')
    const user = await currentUser(winner)
    const [here] = inTurn(replicas, round)
    assert.deepEqual(await currentUser(await loggedIn(here, { email, password, username: '' })), user)
    winners.push(`user.created ${user.id}`)
    await receiver.receivedEvent(({ event }) => event.data.user_id === user.id)
  }
  const users = await listUsers(one)
  assert.deepEqual(users.map(({ id }) => `user.created ${id}`).toSorted(), winners.toSorted())
  const announced = receiver.deliveries.map(({ event }) => `${event.type} ${event.data.user_id}`)
  assert.deepEqual(announced.toSorted(), winners.toSorted())
})
