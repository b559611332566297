// Runs on PostgreSQL.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { decodeProtectedHeader } from 'jose'
import { currentUser, loggedIn, logIn, logOut, newPerson, signedUp } from '../../support/client/accounts.ts'
import { assertJsonError, assertRedirect, assertSignedIn, assertSignedOut } from '../../support/client/assertions.ts'
import { createUserAgent, type UserAgent } from '../../support/client/user-agent.ts'
import { accessToken, publishedKeys } from '../../support/service/access-tokens.ts'
import { disableUser, runJsonCommandOf } from '../../support/service/operator-commands.ts'
import { at, eachRound, inTurn, openOperator, startReplicas } from '../../support/service/replicas.ts'
import type { Service } from '../../support/service/service.ts'

const replicas = await startReplicas()
const [one] = replicas
const operator = await openOperator(one)

/** A user who is signed in here, and has made requests to the other replica too. */
const knownAtBoth = async (here: Service, there: Service) => {
  const { agent, person } = await signedUp(here)
  await assertSignedIn(at(there, agent))
  await assertSignedIn(agent)
  return { agent, person, copy: createUserAgent(there, agent.cookies.copy()) }
}

/** Checks that the next request is refused with each of the cookies. */
const assertRefused = async (agent: UserAgent, round: number) => {
  const answer = await agent.get('/auth/api/v1/user')
  assert.equal(answer.status, 401, `round ${round}: ${answer.text}`)
  assertJsonError(await agent.refresh(), 401, 'unauthorized')
}

const sessionOf = (agent: UserAgent): string => (agent.cookies.get('svc_refresh') ?? '').split('.')[0] ?? ''

describe('security-relevant changes take effect on all replicas at once', { concurrency: 1 }, () => {
  test('revocation: logout on one replica is refused by the other on the next request, 8 times', async () => {
    await eachRound(8, 8, async (round) => {
      const [here, there] = inTurn(replicas, round)
      const { agent, copy } = await knownAtBoth(here, there)
      assertRedirect(await logOut(agent), '/')
      await assertRefused(copy, round)
    })
  })

  test('revocation: a session that is ended on the account page of one replica is refused by the other', async () => {
    await eachRound(4, 4, async (round) => {
      const [here, there] = inTurn(replicas, round >> 1)
      const { agent, person, copy } = await knownAtBoth(here, there)
      const own = await loggedIn(here, person)
      const form = round % 2 ? { all_others: '1' } : { session_id: sessionOf(agent) }
      const ended = await own.post('/auth/account/sessions', form)
      assertRedirect(ended, `/auth/account?done=${round % 2 ? 'sessions' : 'session'}`)
      await assertRefused(copy, round)
      await assertSignedIn(at(there, own))
    })
  })

  test('disable: refused by both replicas on the next request, 8 times; enabling brings no session back', async () => {
    await eachRound(8, 8, async (round) => {
      const [here, there] = inTurn(replicas, round)
      const { agent, person, copy } = await knownAtBoth(here, there)
      const { id } = await currentUser(agent)
      await operator.users.change(id, { disabled: true })
      await assertRefused(copy, round)
      await assertSignedOut(createUserAgent(here, copy.cookies.copy()))
      if (round > 0) return
      assert.equal((await logIn(createUserAgent(there), person)).status, 401)
      await operator.users.change(id, { disabled: false })
      await assertRefused(agent, round)
      await assertSignedIn(await loggedIn(there, person))
    })
  })

  test('disable by the command line of one replica is refused by the other on the next request', async () => {
    await eachRound(4, 2, async (round) => {
      const [here, there] = inTurn(replicas, round)
      const { person, copy } = await knownAtBoth(here, there)
      await disableUser(here, person.username)
      await assertRefused(copy, round)
    })
  })

  test('delete: an account deleted on one replica is refused by the other on the next request, 8 times', async () => {
    await eachRound(8, 8, async (round) => {
      const [here, there] = inTurn(replicas, round)
      const { agent, person, copy } = await knownAtBoth(here, there)
      assertRedirect(
        await agent.post('/auth/account/delete', { password: person.password }),
        '/auth/login?done=deleted',
      )
      await assertRefused(copy, round)
      if (round === 0) assert.equal((await logIn(createUserAgent(there), person)).status, 401)
    })
  })

  test('password change: every other session is refused by the other replica on the next request, 8 times', async () => {
    await eachRound(8, 8, async (round) => {
      const [here, there] = inTurn(replicas, round)
      const { person, copy } = await knownAtBoth(here, there)
      const own = await loggedIn(here, person)
      const next = `another ${person.password}`
      const change = { current_password: person.password, new_password: next }
      assertRedirect(await own.post('/auth/account/password', change), '/auth/account?done=password')
      await assertRefused(copy, round)
      await assertSignedIn(at(there, own))
      if (round > 0) return
      assert.equal((await logIn(createUserAgent(there), person)).status, 401)
      await assertSignedIn(await loggedIn(there, { ...person, password: next }))
    })
  })

  test('username and roles that are changed on one replica are shown by the other on the next request', async () => {
    await eachRound(8, 8, async (round) => {
      const [here, there] = inTurn(replicas, round)
      const { agent } = await knownAtBoth(here, there)
      const { username } = newPerson()
      assertRedirect(await agent.post('/auth/account/username', { username }), '/auth/account?done=username')
      const user = await currentUser(at(there, agent))
      assert.equal(user.username, username)
      await operator.users.change(user.id, { roles: [`round-${round}`] })
      assert.deepEqual((await currentUser(at(there, agent))).roles, [`round-${round}`])
    })
  })
})

const keyOf = (agent: UserAgent): string => decodeProtectedHeader(accessToken(agent)).kid ?? ''

test('keys rotate --now: the next login and refresh on each replica is signed with the new key, which all accept', async () => {
  const old = await signedUp(one)
  const formerly = [keyOf(old.agent)]
  for (let round = 0; round < 3; round++) {
    const [here, there] = inTurn(replicas, round)
    const waiting = await Promise.all([loggedIn(here, old.person), loggedIn(there, old.person)])
    const { id } = await runJsonCommandOf<{ id: string }>(here, ['keys', 'rotate', '--now'])
    assert.ok(!formerly.includes(id))
    const logins = await Promise.all([loggedIn(there, old.person), loggedIn(here, old.person)])
    for (const agent of waiting) assert.equal((await agent.refresh()).status, 200)
    for (const agent of [...logins, ...waiting]) {
      assert.equal(keyOf(agent), id)
      for (const replica of replicas) await assertSignedIn(at(replica, agent))
    }
    for (const replica of replicas) {
      assertJsonError(await at(replica, old.agent).get('/auth/api/v1/user'), 401, 'unauthorized')
      assert.deepEqual(
        (await publishedKeys(replica)).keys.map(({ kid }) => kid),
        [id],
      )
    }
    formerly.push(id)
  }
})
