// Runs on SQLite.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Person, newAgent, newPerson, signedUp } from '../../support/client/accounts.ts'
import { assertPage, assertRedirect } from '../../support/client/assertions.ts'
import type { Answer } from '../../support/client/user-agent.ts'
import { HASHES_THAT_WAIT } from '../../support/service/command.ts'
import { startServiceProcess } from '../../support/service/service-process.ts'
import { eventually } from '../../support/wait.ts'

const WAITING = 150
const service = await startServiceProcess({
  env: { NODE_OPTIONS: HASHES_THAT_WAIT, SVC_HASHES_AT_ONCE: '1', SVC_HASH_QUEUE: String(WAITING) },
})

const logInFrom = (address: string, { email, password }: Person): Promise<Answer> =>
  newAgent(service).post('/auth/login', { email, password }, { 'x-forwarded-for': address })

test('300 logins of one network at once, which fill the queue of hashes, do not delay a login of another network', async () => {
  const { person } = await signedUp(service)
  const answers: Answer[] = []
  const withStatus = (status: number) => answers.filter((answer) => answer.status === status)
  const flood = Array.from({ length: 300 }, async (_, index) => {
    // The addresses of an IPv6 /64 are one network.
    answers.push(await logInFrom(`2001:db8:1:2::${index.toString(16)}`, newPerson()))
  })
  await eventually('the queue is full', () => withStatus(503).length > 0)
  const answer = await logInFrom('198.51.100.7', person)
  const servedBefore = withStatus(401).length
  await Promise.all(flood)
  assertRedirect(answer, '/')
  assert.ok(servedBefore < WAITING - 20, `${servedBefore} of the ${WAITING} that waited came first`)
  assert.equal(withStatus(401).length + withStatus(503).length, 300)
  for (const answer of withStatus(503)) {
    assertPage(answer, 503)
    assert.match(answer.headers['retry-after'] ?? '', /^[1-9]\d*$/)
  }
})
