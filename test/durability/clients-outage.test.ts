// Runs once.
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { signedUp } from '../support/client/accounts.ts'
import { assertErrorPage } from '../support/client/assertions.ts'
import type { Answer } from '../support/client/user-agent.ts'
import { answerToClient, authorizePath, CLIENT_SETTINGS, madeClient } from '../support/clients/authorization.ts'
import { assertOAuthError, granted, refresh, tokensIn } from '../support/clients/tokens.ts'
import { turnedClock } from '../support/clock/turned-clock.ts'
import { startPostgres } from '../support/postgres/postgres.ts'
import { startService } from '../support/service/service.ts'
import { eventually } from '../support/wait.ts'

const postgres = await startPostgres()
const clock = turnedClock()
const service = await startService({
  clock,
  env: {
    ...CLIENT_SETTINGS,
    SVC_DATABASE_URL: await postgres.createDatabase(),
    SVC_DATABASE_TIMEOUT: '1s',
    SVC_SECRET: randomBytes(32).toString('base64'),
  },
})

const assertAway = (answer: Answer) => {
  assertErrorPage(answer, 503)
  assert.match(answer.headers['retry-after'] ?? '', /^[1-9]\d*$/)
  assert.deepEqual([answer.location, answer.headers.refresh], [undefined, undefined])
}

test('while the database is away, a client that was just known learns so, and nobody is led anywhere else', async () => {
  const own = await madeClient(service, { options: ['--first-party'] })
  const unseen = await madeClient(service, { name: 'Unseen' })
  const gone = await madeClient(service, { name: 'Gone' })
  const former = await madeClient(service, { name: 'Seen six minutes ago' })
  const { agent } = await signedUp(service)
  assert.equal((await agent.get(authorizePath(former.id))).status, 200)
  await clock.turnTo(6 * 60_000)
  const tokens = await granted(service, agent, own)
  await agent.get(authorizePath(gone.id))
  assert.equal((await service.cli(['clients', 'disable', gone.id])).code, 0)
  assert.equal((await agent.get(authorizePath(gone.id))).status, 400)
  await postgres.stop('fast')

  for (const changes of [{}, { prompt: 'none' }]) {
    const told = answerToClient(await agent.get(authorizePath(own.id, changes)))
    assert.equal(told.get('error'), 'temporarily_unavailable')
    assert.deepEqual([told.get('state'), told.get('iss')], ['st4te', `${service.url}/auth`])
  }
  assertAway(await agent.get(authorizePath(own.id, { redirect_uri: 'https://evil.example/' })))
  assertAway(await agent.get(`${authorizePath(own.id)}&redirect_uri=https%3A%2F%2Fevil.example`))
  assertAway(await agent.get(authorizePath(unseen.id)))
  assertAway(await agent.get(authorizePath(gone.id)))
  assertOAuthError(await refresh(service, own, tokens.refresh), 503, 'temporarily_unavailable')
  assertAway(await agent.get(authorizePath(former.id)))

  await postgres.start()
  await eventually('svc answers again', async () => (await agent.get('/auth/ready')).status === 200)
  tokensIn(await refresh(service, own, tokens.refresh))
  assert.ok(answerToClient(await agent.get(authorizePath(own.id))).get('code'))
})
