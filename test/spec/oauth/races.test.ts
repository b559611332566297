// Runs on SQLite and PostgreSQL.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { currentUser, signedUp } from '../../support/client/accounts.ts'
import { assertErrorPage, assertRedirect } from '../../support/client/assertions.ts'
import type { Claims } from '../../support/provider/misbehaving-provider-faults.ts'
import { RETURN_TO } from '../../support/provider/provider-failure-page.ts'
import { newClaims, startFaultyProviders } from '../../support/provider/provider-faults.ts'
import { assertNoSession, pendingOn, statusesOf } from '../../support/provider/provider-service.ts'
import { returnFromProvider } from '../../support/provider/provider-sign-in.ts'

const { service, newAgent, rows, countRows, callbackFor } = await startFaultyProviders()

/** The browser of a person who has just signed in at the provider, so that the session is fresh. */
const freshlySignedIn = async (person: Claims, name: 'corp' | 'rival' = 'corp') => {
  const agent = newAgent()
  const now = { ...person, auth_time: Math.floor(Date.now() / 1000) }
  assertRedirect(await returnFromProvider(agent, await callbackFor(agent, now, name)), RETURN_TO)
  return agent
}

const identitiesOf = (userId: string) => rows('SELECT id, provider, subject FROM identities WHERE user_id = ?', userId)

const assertEverybodyHasAWay = async () => {
  const lost = `SELECT id FROM users WHERE password_hash IS NULL AND NOT EXISTS
    (SELECT 1 FROM identities WHERE identities.user_id = users.id)`
  assert.deepEqual(await rows(lost), [])
  const orphans = 'SELECT id FROM identities WHERE NOT EXISTS (SELECT 1 FROM users WHERE users.id = identities.user_id)'
  assert.deepEqual(await rows(orphans), [])
}

/** A user of both providers without a password, with a browser signed in with each. */
const userOfTwo = async () => {
  const [atCorp, atRival] = [newClaims(), newClaims()]
  const one = await freshlySignedIn(atCorp)
  const linked = await returnFromProvider(one, await callbackFor(one, atRival, 'rival', { intent: 'link' }))
  assertRedirect(linked, '/auth/account?done=linked')
  const other = await freshlySignedIn(atRival, 'rival')
  const { id } = await currentUser(one)
  assert.equal((await currentUser(other)).id, id)
  const identities = await identitiesOf(id)
  const idAt = (name: string) => String(identities.find(({ provider }) => provider === name)?.id)
  return { id, one, other, atCorp, atRival, corpId: idAt('corp'), rivalId: idAt('rival') }
}

describe('concurrent changes to one account: a way to sign in remains, and no identity belongs to two users', () => {
  const ROUNDS = 5
  const rounds = async (round: () => Promise<void>) => {
    for (let count = 0; count < ROUNDS; count += 1) await round()
  }

  test('two browsers disconnect each other’s provider', () =>
    rounds(async () => {
      const { id, one, other, atCorp, atRival, corpId, rivalId } = await userOfTwo()
      const answers = await Promise.all([
        one.post('/auth/account/identities', { identity_id: rivalId }),
        other.post('/auth/account/identities', { identity_id: corpId }),
        one.copy().post('/auth/account/identities', { identity_id: corpId }),
        other.copy().post('/auth/account/identities', { identity_id: rivalId }),
      ])
      for (const answer of answers) {
        assert.ok(answer.status < 500, `${answer.status}`)
        assert.notEqual(answer.location, '/auth/account/confirm', 'each of them may')
      }
      const [left, ...more] = await identitiesOf(id)
      assert.ok(left && more.length === 0, 'one of them is left')
      const agent = await freshlySignedIn(
        left.provider === 'corp' ? atCorp : atRival,
        left.provider === 'corp' ? 'corp' : 'rival',
      )
      assert.equal((await currentUser(agent)).id, id)
      await assertEverybodyHasAWay()
    }))

  test('five accounts link one provider account', () =>
    rounds(async () => {
      const atRival = newClaims()
      const agents = await Promise.all(Array.from({ length: 5 }, () => freshlySignedIn(newClaims())))
      const back = await Promise.all(agents.map((agent) => callbackFor(agent, atRival, 'rival', { intent: 'link' })))
      const answers = await Promise.all(
        agents.map((agent, index) => returnFromProvider(agent, back[index] ?? assert.fail())),
      )
      assert.deepEqual(statusesOf(answers), [303, 409, 409, 409, 409])
      assert.equal((await rows('SELECT id FROM identities WHERE subject = ?', String(atRival.sub))).length, 1)
    }))

  test('an account is deleted while providers are linked and disconnected, and users sign in with them', () =>
    rounds(async () => {
      const { id, one, other, atCorp, atRival, corpId } = await userOfTwo()
      const third = await callbackFor(one, newClaims(), 'rival', { intent: 'link' })
      const [asCorp, asRival] = [newAgent(), newAgent()]
      const [cameByCorp, cameByRival] = [
        await callbackFor(asCorp, atCorp),
        await callbackFor(asRival, atRival, 'rival'),
      ]
      const answers = await Promise.all([
        returnFromProvider(one, third),
        other.post('/auth/account/identities', { identity_id: corpId }),
        returnFromProvider(asCorp, cameByCorp),
        one.post('/auth/account/delete'),
        returnFromProvider(asRival, cameByRival),
        other.post('/auth/account/password', { new_password: 'a pass phrase of five words' }),
      ])
      for (const answer of answers) {
        assert.ok(answer.status < 500, `${answer.status}`)
        assert.notEqual(answer.location, '/auth/account/confirm', 'each of them may')
      }
      await assertEverybodyHasAWay()
      const agent = await freshlySignedIn(atRival, 'rival')
      const user = await currentUser(agent)
      if ((await rows('SELECT id FROM users WHERE id = ?', id)).length > 0) assert.equal(user.id, id)
    }))

  test('the owner of an email reclaims an account while an attacker who registered the address first tries everything', () =>
    rounds(async () => {
      const owner = newClaims()
      const attacker = { email: String(owner.email), password: 'a pass phrase of the attacker', username: '' }
      const { agent: waiting } = await signedUp(service, attacker)
      const { id } = await currentUser(waiting)
      const [atCorp, atRival] = [newClaims(), newClaims()]
      const links = [
        await callbackFor(waiting, atCorp, 'corp', { intent: 'link' }),
        await callbackFor(waiting, atRival, 'rival', { intent: 'link' }),
      ]
      const ownerAgent = newAgent()
      const page = await returnFromProvider(ownerAgent, await callbackFor(ownerAgent, owner))
      assertNoSession(ownerAgent, page, 409)
      const pending = pendingOn(page)
      const second = newAgent()
      const all = await Promise.all([
        returnFromProvider(waiting, links[0] ?? assert.fail()),
        second.post('/auth/login', { email: attacker.email, password: attacker.password }),
        ownerAgent.post('/auth/oauth/corp/claim', { pending }),
        returnFromProvider(waiting.copy(), links[1] ?? assert.fail()),
        waiting.copy().post('/auth/account/password', {
          current_password: attacker.password,
          new_password: 'another pass phrase of theirs',
        }),
        waiting.refresh(),
      ])
      for (const { status } of all) assert.ok(status < 500, `${status}`)
      assert.equal(all[2]?.status, 303, all[2]?.text)
      assert.equal((await currentUser(ownerAgent)).id, id)
      assert.deepEqual(
        (await identitiesOf(id)).map(({ subject }) => subject),
        [owner.sub],
      )
      const [user] = await rows('SELECT password_hash FROM users WHERE id = ?', id)
      assert.equal(user?.password_hash, null)
      assert.equal((await rows('SELECT id FROM sessions WHERE user_id = ?', id)).length, 1)
      for (const agent of [waiting, second]) assert.equal((await agent.get('/auth/api/v1/user')).status, 401)
      for (const [who, name] of [
        [atCorp, 'corp'],
        [atRival, 'rival'],
      ] as const) {
        assert.notEqual((await currentUser(await freshlySignedIn(who, name))).id, id)
      }
      const { sessions: before } = await countRows()
      assertRedirect(await ownerAgent.post('/auth/oauth/corp/claim', { pending }), RETURN_TO)
      assert.equal((await countRows()).sessions, before, 'no second sign-in')
      await ownerAgent.post('/auth/logout')
      assertNoSession(ownerAgent, await ownerAgent.post('/auth/oauth/corp/claim', { pending }), 400)
    }))
})

test('opening the callback of a refused link again does not say that it is linked', async () => {
  const atRival = newClaims()
  const first = newAgent()
  assertRedirect(await returnFromProvider(first, await callbackFor(first, atRival, 'rival')), RETURN_TO)
  const { agent } = await signedUp(service)
  const callback = await callbackFor(agent, atRival, 'rival', { intent: 'link' })
  assertErrorPage(await returnFromProvider(agent, callback), 409)
  const again = await returnFromProvider(agent, callback)
  assert.notEqual(again.location, '/auth/account?done=linked#signing-in')
})
