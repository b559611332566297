// Runs on SQLite and PostgreSQL.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import {
  currentUser,
  logIn,
  newAgent,
  newPerson,
  type Person,
  signedUp,
  signUp,
} from '../../support/client/accounts.ts'
import type { UserAgent } from '../../support/client/user-agent.ts'
import {
  allow,
  answerToClient,
  authorizePath,
  CLIENT_SETTINGS,
  codeFor,
  madeClient,
} from '../../support/clients/authorization.ts'
import {
  assertEnded,
  assertOAuthError,
  granted,
  type Made,
  newlyGranted,
  refresh,
  trade,
  tokensIn,
  userInfo,
} from '../../support/clients/tokens.ts'
import { openDatabase } from '../../support/database/database.ts'
import { at, eachRound, inTurn, openOperator, startReplicas } from '../../support/service/replicas.ts'

const replicas = await startReplicas({ env: { ...CLIENT_SETTINGS, SVC_BASE_URL: 'http://localhost' } })
const [one] = replicas
const database = await openDatabase(one)
const core = await openOperator(one)
const { registry } = await core.loadClients()
const web = await madeClient(one)
const native = await madeClient(one, { name: 'Phone', options: ['--type', 'native'] })

const ROUNDS = 20
const HANGING = 'openid notes:read'

/** The two clients by turns, so that both replicas meet both in either order. */
const clientOf = (round: number): Made => (round % 4 < 2 ? web : native)

const grantsOf = async (userId: unknown) => database.rows('SELECT id FROM grants WHERE user_id = ?', String(userId))

const assertEndedAtBoth = async (client: Made, answer: Awaited<ReturnType<typeof refresh>>) => {
  for (const replica of replicas) await assertEnded(replica, client, tokensIn(answer))
}

describe('at two replicas at once', () => {
  test('a code gets tokens once, and its second use ends the grant', async () => {
    await eachRound(ROUNDS, 4, async (round) => {
      const [here, there] = inTurn(replicas, round)
      const { agent } = await signedUp(one)
      const { id } = await currentUser(agent)
      const client = clientOf(round)
      const code = await codeFor(agent, client.id)
      const answers = await Promise.all([trade(here, client, code), trade(there, client, code)])
      const [winner, ...more] = answers.filter(({ status }) => status === 200)
      assert.ok(winner && more.length === 0, answers.map(({ text }) => text).join())
      for (const answer of answers) if (answer !== winner) assertOAuthError(answer, 400, 'invalid_grant')
      await assertEndedAtBoth(client, winner)
      assert.deepEqual(await grantsOf(id), [])
      const made = "SELECT id FROM audit_events WHERE type = 'grant.created' AND user_id = ?"
      assert.equal((await database.rows(made, id)).length, 1)
    })
  })

  test('five refreshes of a public client get one token, and nobody is disconnected', async () => {
    const { tokens } = await newlyGranted(one, native)
    for (let round = 0, current = tokens.refresh; round < ROUNDS; round += 1) {
      const racers = Array.from({ length: 5 }, (_, index) =>
        refresh(inTurn(replicas, index + round)[0], native, current),
      )
      const next = new Set((await Promise.all(racers)).map((answer) => tokensIn(answer).refresh))
      const [only = ''] = next
      assert.ok(next.size === 1 && only !== current, `round ${round}`)
      current = only
    }
  })

  test('a refresh raced with Disconnect gives nothing afterwards', async () => {
    await eachRound(ROUNDS, 4, async (round) => {
      const [here, there] = inTurn(replicas, round)
      const { agent } = await signedUp(one)
      const client = clientOf(round)
      const { refresh: token } = await granted(one, agent, client)
      const [disconnected, ...answers] = await Promise.all([
        at(there, agent).post('/auth/account/applications', { client_id: client.id }),
        ...[here, there, here].map((replica) => refresh(replica, client, token)),
      ])
      assert.equal(disconnected.status, 303, disconnected.text)
      for (const answer of answers) {
        if (answer.status === 200) await assertEndedAtBoth(client, answer)
        else assertOAuthError(answer, 400, 'invalid_grant')
      }
      assertOAuthError(await refresh(here, client, token), 400, 'invalid_grant')
    })
  })
})

interface Given {
  agent: UserAgent
  person: Person
  userId: string
  client: Made
}

/** What ends the grants of a user or a client, and the scopes of the code that is traded at that moment. */
const ends: [what: string, scope: string | undefined, end: (given: Given) => Promise<unknown>][] = [
  ['Disconnect', undefined, ({ agent, client }) => agent.post('/auth/account/applications', { client_id: client.id })],
  ['a client that is disabled', undefined, ({ client }) => registry.change(client.id, { disabled: true })],
  ['a client that is deleted', undefined, ({ client }) => registry.delete(client.id)],
  ['a user who is disabled', undefined, ({ userId }) => core.users.change(userId, { disabled: true })],
  [
    'a user who is deleted',
    undefined,
    ({ agent, person }) => agent.post('/auth/account/delete', { password: person.password }),
  ],
  ['a logout', HANGING, ({ agent }) => agent.post('/auth/logout')],
]

describe('a code that is traded at the same moment as', () => {
  for (const [what, scope, end] of ends) {
    test(`${what} gives no grant that lives on`, async () => {
      await eachRound(8, 4, async (round) => {
        const [here, there] = inTurn(replicas, round)
        const client = await madeClient(one, { name: 'Gone' })
        const { agent, person } = await signedUp(one)
        const { id: userId } = await currentUser(agent)
        const code = await codeFor(agent, client.id, scope === undefined ? {} : { scope })
        const given = { agent: at(there, agent), person, userId, client }
        const ending = round % 4 < 2 ? end(given) : undefined
        const trading = trade(here, client, code)
        await (ending ?? end(given))
        const answer = await trading
        assert.deepEqual(await grantsOf(userId), [])
        assert.ok([200, 400, 401].includes(answer.status), answer.text)
        if (answer.status !== 200) return
        const { access } = tokensIn(answer)
        for (const replica of replicas) assertOAuthError(await userInfo(replica, access), 401, 'invalid_token')
      })
    })
  }
})

describe('in two tabs of a browser', () => {
  test('what a user allows while another one logs in is good for nothing', async () => {
    const another = newPerson()
    await signUp(newAgent(one), another)
    await eachRound(ROUNDS, 4, async (round) => {
      const [here, there] = inTurn(replicas, round)
      const { agent } = await signedUp(one)
      const { id } = await currentUser(agent)
      const page = await agent.get(authorizePath(web.id))
      const [tab, otherTab] = [at(here, agent), at(there, agent)]
      const loggingIn = round % 4 < 2 ? logIn(otherTab, another) : undefined
      const allowing = allow(tab, page)
      assert.equal((await (loggingIn ?? logIn(otherTab, another))).status, 303)
      const answer = await allowing
      if (answer.status === 200 && answer.headers.refresh) {
        const code = answerToClient(answer).get('code') ?? ''
        assertOAuthError(await trade(here, web, code), 400, 'invalid_grant')
      } else
        assert.ok(answer.status === 303 && answer.location?.startsWith('/auth/'), `${answer.status} ${answer.text}`)
      for (const userId of [id, (await currentUser(otherTab)).id]) assert.deepEqual(await grantsOf(userId), [])
    })
  })

  test('a request whose consent is remembered gets no code that outlives Disconnect', async () => {
    await eachRound(ROUNDS, 4, async (round) => {
      const [here, there] = inTurn(replicas, round)
      const { agent } = await signedUp(one)
      await codeFor(agent, web.id)
      const disconnect = () => at(there, agent).post('/auth/account/applications', { client_id: web.id })
      const disconnecting = round % 4 < 2 ? disconnect() : undefined
      const asking = at(here, agent).get(authorizePath(web.id))
      assert.equal((await (disconnecting ?? disconnect())).status, 303)
      const answer = await asking
      // It is asked again, or was there before: a code of before is good for nothing afterwards.
      if (answer.status === 200) return
      const code = answerToClient(answer).get('code') ?? ''
      assertOAuthError(await trade(here, web, code), 400, 'invalid_grant')
    })
  })
})
