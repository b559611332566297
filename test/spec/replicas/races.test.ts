// Runs on PostgreSQL.
import assert from 'node:assert/strict'
import { randomInt } from 'node:crypto'
import { type TestContext, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterwards } from '../../support/cleanup.ts'
import {
  type Person,
  currentUser,
  loggedIn,
  logIn,
  logOut,
  newAgent,
  newPerson,
  signedUp,
} from '../../support/client/accounts.ts'
import { assertCanLogIn, assertCannotLogIn, assertSignedIn } from '../../support/client/assertions.ts'
import { createUserAgent, type UserAgent } from '../../support/client/user-agent.ts'
import { databaseChoice } from '../../support/database/database-choice.ts'
import { connect } from '../../support/postgres/postgres-databases.ts'
import { HASHES_THAT_WAIT } from '../../support/service/command.ts'
import { at, eachRound, inTurn, openOperator, startReplicaProcesses } from '../../support/service/replicas.ts'

// Checks of passwords take long, which makes races more likely.
const replicas = await startReplicaProcesses({ env: { SVC_HASHES_AT_ONCE: '4', NODE_OPTIONS: HASHES_THAT_WAIT } })
const operator = await openOperator(replicas[0])

/** Waits for a random part of the time of two checks of a password. */
const someTime = () => sleep(randomInt(60))

/** Checks that neither replica accepts a cookie of the agent. */
const assertDead = async (agent: UserAgent, what: string) => {
  for (const replica of replicas) {
    const visitor = at(replica, createUserAgent(replica, agent.cookies.copy()))
    assert.equal((await visitor.get('/auth/api/v1/user')).status, 401, what)
    assert.equal((await visitor.refresh()).status, 401, what)
  }
}

/** Logs in at a random time during a change, and resolves to the agents that were signed in. */
const logInMeanwhile = async (person: Person, round: number, change: () => Promise<unknown>): Promise<UserAgent[]> => {
  const [here] = inTurn(replicas, round)
  const logins = Array.from({ length: 3 }, async () => {
    const agent = newAgent(here)
    await someTime()
    const { status, text } = await logIn(agent, person)
    assert.ok([303, 401].includes(status), `${status} ${text}`)
    return status === 303 ? [agent] : []
  })
  await someTime()
  await change()
  return (await Promise.all(logins)).flat()
}

describe('a login whose password check is under way on one replica never ends with a live session', () => {
  test('while the password is changed on the other, 20 rounds', async () => {
    await eachRound(4, 4, async (start) => {
      const { agent, person } = await signedUp(replicas[0])
      for (let round = start; round < start + 5; round++) {
        const next = newPerson().password
        const changing = at(inTurn(replicas, round)[1], agent)
        const change = { current_password: person.password, new_password: next }
        const signedIn = await logInMeanwhile(person, round, async () => {
          const answer = await changing.post('/auth/account/password', change)
          assert.equal(answer.status, 303, answer.text)
        })
        for (const each of signedIn) await assertDead(each, `round ${round}`)
        await assertSignedIn(changing)
        person.password = next
      }
    })
  })

  test('while the user is disabled as by the command line, 20 rounds; enabling does not restore the sessions', async () => {
    await eachRound(4, 4, async (start) => {
      const { agent, person } = await signedUp(replicas[0])
      const { id } = await currentUser(agent)
      for (let round = start; round < start + 5; round++) {
        const signedIn = await logInMeanwhile(person, round, () => operator.users.change(id, { disabled: true }))
        for (const each of signedIn) await assertDead(each, `round ${round}`)
        await operator.users.change(id, { disabled: false })
        for (const each of signedIn) await assertDead(each, `round ${round}, enabled again`)
      }
    })
  })

  test('while the account is deleted on the other, 20 rounds', async () => {
    await eachRound(20, 5, async (round) => {
      const { agent, person } = await signedUp(replicas[0])
      const deleting = at(inTurn(replicas, round)[1], agent)
      const signedIn = await logInMeanwhile(person, round, async () => {
        const answer = await deleting.post('/auth/account/delete', { password: person.password })
        assert.equal(answer.status, 303, answer.text)
      })
      for (const each of signedIn) await assertDead(each, `round ${round}`)
    })
  })
})

/** The changes on the account page, while another device of the user is signed in too. */
type Change = (person: Person, otherSession: string) => [path: string, form: Record<string, string>]

const CHANGES: Change[] = [
  () => ['/auth/account/username', { username: newPerson().username }],
  ({ password }) => ['/auth/account/password', { current_password: password, new_password: newPerson().password }],
  ({ password }) => ['/auth/account/delete', { password }],
  () => ['/auth/account/sessions', { all_others: '1' }],
  (_, session_id) => ['/auth/account/sessions', { session_id }],
]

const assertUntouched = async (person: Person) => {
  const user = await currentUser(await loggedIn(replicas[0], person))
  assert.equal(user.username, person.username)
}

describe('a change on the account page of one replica by a session that is logged out on the other', () => {
  test('is made completely or not at all, as the response says, 30 rounds', async () => {
    await eachRound(30, 6, async (round) => {
      const [here, there] = inTurn(replicas, round)
      const { agent, person } = await signedUp(here)
      const next = { ...person, password: newPerson().password }
      const leaving = at(there, agent.copy())
      const changing = agent.post('/auth/account/password', {
        current_password: person.password,
        new_password: next.password,
      })
      await someTime()
      assert.equal((await logOut(leaving)).status, 303)
      const { status, location, text } = await changing
      const isMade = location === '/auth/account?done=password#signing-in'
      assert.ok(isMade || status === 401 || location?.startsWith('/auth/login'), `${status} ${location} ${text}`)
      await assertDead(agent, `round ${round}`)
      await assertCanLogIn(there, isMade ? next : person)
      await assertCannotLogIn(here, isMade ? person : next)
    })
  })

  test('is refused when the logout was answered before the request, 20 rounds', async () => {
    await eachRound(20, 6, async (round) => {
      const [here, there] = inTurn(replicas, round)
      const { agent, person } = await signedUp(here)
      await assertSignedIn(agent)
      assert.equal((await logOut(at(there, agent.copy()))).status, 303)
      const answer = await agent.post(...(CHANGES[round % CHANGES.length] ?? assert.fail())(person, 'none'))
      assert.ok(
        answer.status === 401 || answer.location?.startsWith('/auth/login'),
        `${answer.status} ${answer.location}`,
      )
      await assertUntouched(person)
    })
  })
})

/** Locks the rows of a user and of all their sessions but one, until the returned function is called. */
const holdUser = async (t: TestContext, userId: string, exceptSession: string): Promise<() => Promise<void>> => {
  const client = await connect(replicas[0].env.SVC_DATABASE_URL ?? assert.fail('a URL'))
  afterwards(t, () => client.end())
  await client.query('BEGIN')
  await client.query('SELECT id FROM users WHERE id = $1 FOR UPDATE', [userId])
  await client.query('SELECT id FROM sessions WHERE user_id = $1 AND id <> $2 FOR UPDATE', [userId, exceptSession])
  return async () => void (await client.query('COMMIT'))
}

const sessionOf = (agent: UserAgent): string => (agent.cookies.get('svc_refresh') ?? '').split('.')[0] ?? ''

// Only PostgreSQL can lock a single row, so that the change waits in the middle of its work.
if (databaseChoice === 'postgres') {
  for (const [index, change] of CHANGES.entries()) {
    const [path, form] = change(newPerson(), 'another')
    test(`${path} ${Object.keys(form).join(' ')}: refused when its session is logged out elsewhere while it waits`, async (t) => {
      const [here, there] = inTurn(replicas, index)
      const { agent, person } = await signedUp(here)
      const device = await loggedIn(there, person)
      const { id } = await currentUser(agent)
      const release = await holdUser(t, id, sessionOf(agent))
      const leaving = at(there, agent.copy())
      const changing = agent.post(...change(person, sessionOf(device)))
      // Long enough for the check of the password, and shorter than the time limit for a lock.
      await sleep(600)
      assert.equal((await logOut(leaving)).status, 303)
      await release()
      const answer = await changing
      assert.equal(answer.status, 401, `${answer.location} ${answer.text}`)
      await assertSignedIn(device)
      await assertUntouched(person)
    })
  }
}
