// Runs on SQLite.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import {
  type Person,
  currentUser,
  loggedIn,
  logIn,
  newPerson,
  signedUp,
  signUp,
} from '../../support/client/accounts.ts'
import {
  assertCanLogIn,
  assertCannotLogIn,
  assertPage,
  assertRedirect,
  assertSignedIn,
  assertSignedOut,
} from '../../support/client/assertions.ts'
import type { UserAgent } from '../../support/client/user-agent.ts'
import { newGitHubPerson } from '../../support/provider/github-server.ts'
import { type OpenIdUser, newOpenIdUser } from '../../support/provider/openid-provider-users.ts'
import {
  githubPersonWith,
  linkByPassword,
  reclaim,
  startLinkingService,
} from '../../support/provider/provider-accounts.ts'
import { assertNoSession, pendingOn, statusesOf } from '../../support/provider/provider-service.ts'
import { returnFromProvider, signInBy, startAt } from '../../support/provider/provider-sign-in.ts'
import { accessToken, claimsOf } from '../../support/service/access-tokens.ts'
import { createUser, setRoles, showUser } from '../../support/service/operator-commands.ts'

const {
  service,
  database,
  newAgent,
  byCorp,
  byGithub,
  userOfCorp,
  linkGithub,
  atLinkAccountPage,
  providersOf,
  assertSignsIn,
} = await startLinkingService()

/** An attacker has registered an address first; then its owner comes from corp. */
const registeredByAttacker = async () => {
  const { person: attacker, agent: attackerAgent } = await signedUp(service)
  const user = await currentUser(attackerAgent)
  return { attacker, attackerAgent, user, ownerComes: () => atLinkAccountPage(attacker.email) }
}

/** The account is the owner's, and nothing that the attacker had gives access to it. */
const assertReclaimed = async (owner: UserAgent, userId: string, attacker: Person, visitor: OpenIdUser) => {
  assert.equal((await currentUser(owner)).id, userId)
  await assertCannotLogIn(service, attacker)
  assert.deepEqual(await providersOf(userId), ['corp'])
  await assertSignsIn('corp', visitor, userId)
}

describe('§4.3 no unverified local account can be used to lie in wait for its owner (pre-hijacking)', () => {
  test('when the owner of the email reclaims the account, the attacker’s password and sessions end', async () => {
    const { attacker, attackerAgent, user, ownerComes } = await registeredByAttacker()
    const [elsewhere, copied] = [await loggedIn(service, attacker), attackerAgent.copy()]
    const { agent, page, pending, person } = await ownerComes()
    assert.match(page.text, /action="\/auth\/oauth\/corp\/claim"/)
    await assertSignedIn(attackerAgent)
    assertRedirect(await reclaim(agent, pending), '/kept')
    for (const session of [attackerAgent, elsewhere, copied]) await assertSignedOut(session)
    await assertReclaimed(agent, user.id, attacker, person)
    assert.deepEqual(await currentUser(agent), user, 'the application sees the same id')
  })

  test('roles are taken away too: neither the next access token nor GET /user has them', async () => {
    const { attackerAgent, user, ownerComes } = await registeredByAttacker()
    await setRoles(service, user.id, ['admin', 'editor'])
    assert.deepEqual((await currentUser(attackerAgent)).roles, ['admin', 'editor'])
    const { agent, page, pending } = await ownerComes()
    assert.match(page.text, /Roles it was given are removed\./)
    assertRedirect(await reclaim(agent, pending), '/kept')
    assert.deepEqual((await currentUser(agent)).roles, [])
    assert.deepEqual(claimsOf(accessToken(agent)).roles, [])
    assert.deepEqual((await showUser(service, user.id)).roles, [])
  })

  test('roles stay when the user proves the account by its password instead', async () => {
    const { person, agent: owner } = await signedUp(service)
    await setRoles(service, person.email, ['admin'])
    const { agent, pending } = await atLinkAccountPage(person.email)
    assertRedirect(await linkByPassword(agent, pending, person.password), '/kept')
    await assertSignedOut(owner)
    assert.deepEqual((await currentUser(agent)).roles, ['admin'])
  })

  test('a provider that the attacker had linked is disconnected too', async () => {
    const { attacker, attackerAgent, user, ownerComes } = await registeredByAttacker()
    const octo = newGitHubPerson()
    assertRedirect(await linkGithub(attackerAgent, octo), '/auth/account?done=linked')
    const { agent, pending, person } = await ownerComes()
    assertRedirect(await reclaim(agent, pending), '/kept')
    await assertReclaimed(agent, user.id, attacker, person)
    const attackerAgain = newAgent()
    assertRedirect(await signInBy(attackerAgain, 'github', byGithub(octo)), '/')
    assert.notEqual((await currentUser(attackerAgain)).id, user.id)
  })

  test('a link, a confirmation and a proof that the attacker has begun fail', async () => {
    const { attacker, attackerAgent, user, ownerComes } = await registeredByAttacker()
    const octo = newGitHubPerson()
    assertRedirect(await linkGithub(attackerAgent, octo), '/auth/account?done=linked')
    const linking = await byGithub(newGitHubPerson())(await startAt(attackerAgent, 'github', { intent: 'link' }))
    const confirming = await byGithub(octo)(await startAt(attackerAgent, 'github', { intent: 'confirm' }))
    const signingIn = newAgent()
    const way = await byGithub(octo)(await startAt(signingIn, 'github'))
    const { agent: proving, pending: theirs } = await ownerComes()

    const { agent, pending, person } = await ownerComes()
    assertRedirect(await reclaim(agent, pending), '/kept')
    assertNoSession(proving, await linkByPassword(proving, theirs, attacker.password), 401)
    assertNoSession(proving, await reclaim(proving, theirs), 409)
    assertPage(await returnFromProvider(attackerAgent, linking), 401)
    assertPage(await returnFromProvider(attackerAgent, confirming), 401)
    assertRedirect(await returnFromProvider(signingIn, way), '/')
    assert.notEqual((await currentUser(signingIn)).id, user.id)
    await assertReclaimed(agent, user.id, attacker, person)
  })

  test('nothing that the attacker does at the same moment succeeds', async () => {
    for (let round = 0; round < 4; round += 1) {
      const { attacker, attackerAgent, user, ownerComes } = await registeredByAttacker()
      const { agent, pending, person } = await ownerComes()
      const late = newAgent()
      const linking = await byGithub(newGitHubPerson())(await startAt(attackerAgent, 'github', { intent: 'link' }))
      const other = attackerAgent.copy()
      const change = { current_password: attacker.password, new_password: `${attacker.password}!` }
      const [reclaimed] = await Promise.all([
        reclaim(agent, pending),
        logIn(late, attacker),
        returnFromProvider(attackerAgent, linking),
        attackerAgent.copy().refresh(),
        other.post('/auth/account/password', change),
      ])
      assertRedirect(reclaimed, '/kept')
      const { rows } = database
      const left = await rows('SELECT id FROM sessions WHERE user_id = ?', user.id)
      assert.equal(left.length, 1, 'the owner’s session alone')
      for (const session of [late, attackerAgent, other]) await assertSignedOut(session)
      await assertReclaimed(agent, user.id, attacker, person)
      await assertCannotLogIn(service, { ...attacker, password: change.new_password })
    }
  })

  test('of a reclaim and a proof by the password at once, one succeeds', async () => {
    for (let round = 0; round < 4; round += 1) {
      const { attacker, user, ownerComes } = await registeredByAttacker()
      const [owner, proving] = [await ownerComes(), await ownerComes()]
      const [reclaimed, linked] = await Promise.all([
        reclaim(owner.agent, owner.pending),
        linkByPassword(proving.agent, proving.pending, attacker.password),
      ])
      const isReclaimed = reclaimed.status === 303
      assert.deepEqual([reclaimed.status, linked.status], isReclaimed ? [303, 401] : [409, 303])
      assert.equal((await currentUser((isReclaimed ? owner : proving).agent)).id, user.id)
      assert.deepEqual(await providersOf(user.id), ['corp'])
      if (isReclaimed) await assertReclaimed(owner.agent, user.id, attacker, owner.person)
      else await assertCanLogIn(service, attacker)
    }
  })

  test('reclaiming twice, as by a double click, starts one session, and the second request is redirected', async () => {
    const { ownerComes, user } = await registeredByAttacker()
    const { agent, pending, page } = await ownerComes()
    assertPage(page, 409)
    assertRedirect(await reclaim(agent, pending), '/kept')
    const refresh = agent.cookies.get('svc_refresh')
    assertRedirect(await reclaim(agent, pending), '/kept')
    assert.equal(agent.cookies.get('svc_refresh'), refresh, 'it is the same session')
    assert.equal((await database.rows('SELECT id FROM sessions WHERE user_id = ?', user.id)).length, 1)
  })

  test('of two requests to reclaim at once, one gets a session, and the other a page that says it was used', async () => {
    const { ownerComes, user, attacker } = await registeredByAttacker()
    const { agent, pending, person } = await ownerComes()
    const [one, other] = [agent.copy(), agent.copy()]
    const answers = await Promise.all([reclaim(one, pending), reclaim(other, pending)])
    assert.deepEqual(statusesOf(answers), [303, 400])
    assert.equal((await database.rows('SELECT id FROM sessions WHERE user_id = ?', user.id)).length, 1)
    const late = await reclaim(agent, pending)
    assertNoSession(agent, late, 400)
    assert.match(late.text, /This step is already done/)
    assert.ok(late.text.includes('name="return_to" value="/kept"'), late.text)
    await assertReclaimed(answers[0]?.status === 303 ? one : other, user.id, attacker, person)
  })

  test('a provider account that was linked to another account since cannot reclaim', async () => {
    const { attacker, attackerAgent, ownerComes } = await registeredByAttacker()
    const { agent, pending, person } = await ownerComes()
    const { agent: elsewhere } = await signedUp(service)
    const linked = await signInBy(elsewhere, 'corp', byCorp(person), { intent: 'link' })
    assertRedirect(linked, '/auth/account?done=linked')
    assertNoSession(agent, await linkByPassword(agent, pending, attacker.password), 409)
    assertNoSession(agent, await reclaim(agent, pending), 409)
    await assertSignedIn(attackerAgent)
    await assertCanLogIn(service, attacker)
  })

  test('an account that an operator created cannot be reclaimed', async () => {
    const person = newPerson()
    await createUser(service, person)
    const { agent, page, pending } = await atLinkAccountPage(person.email)
    assert.doesNotMatch(page.text, /\/claim"/)
    assertNoSession(agent, await reclaim(agent, pending), 409)
    await assertCanLogIn(service, person)
  })

  test('an account whose email a provider has verified before cannot be reclaimed', async () => {
    const { person } = await userOfCorp()
    const agent = newAgent()
    const page = await signInBy(agent, 'github', byGithub(githubPersonWith(person.email ?? '')))
    assert.doesNotMatch(page.text, /\/claim"/)
    assertNoSession(agent, await reclaim(agent, pendingOn(page), 'github'), 409)
  })

  test('an account that the owner of the email has proved and linked cannot be reclaimed', async () => {
    const { person } = await signedUp(service)
    const { agent, pending } = await atLinkAccountPage(person.email)
    assertRedirect(await linkByPassword(agent, pending, person.password), '/kept')
    const later = await atLinkAccountPage(person.email)
    assert.doesNotMatch(later.page.text, /\/claim"/)
    assertNoSession(later.agent, await reclaim(later.agent, later.pending), 409)
    await assertCanLogIn(service, person)
  })

  test('linking a provider with another email does not verify the address for the attacker', async () => {
    const { attackerAgent, ownerComes, attacker, user } = await registeredByAttacker()
    assertRedirect(await linkGithub(attackerAgent), '/auth/account?done=linked')
    const { agent, pending, person } = await ownerComes()
    assertRedirect(await reclaim(agent, pending), '/kept')
    await assertReclaimed(agent, user.id, attacker, person)
  })

  test('nor does linking a provider that has not verified the address', async () => {
    const { attackerAgent, ownerComes, attacker, user } = await registeredByAttacker()
    const unverified = newOpenIdUser({ email: attacker.email, email_verified: false })
    const linked = await signInBy(attackerAgent, 'corp', byCorp(unverified), { intent: 'link' })
    assertRedirect(linked, '/auth/account?done=linked')
    const { agent, pending, person } = await ownerComes()
    assertRedirect(await reclaim(agent, pending), '/kept')
    await assertReclaimed(agent, user.id, attacker, person)
  })

  test('a user who knows the password may link instead, and everything stays but other sessions', async () => {
    const { attacker, attackerAgent, ownerComes } = await registeredByAttacker()
    const { agent, pending } = await ownerComes()
    assertRedirect(await linkByPassword(agent, pending, attacker.password), '/kept')
    await assertSignedOut(attackerAgent)
    await assertCanLogIn(service, attacker)
  })

  test('after a sign-in with a provider, nobody can sign up with the same address', async () => {
    const { person } = await userOfCorp()
    assertPage(await signUp(newAgent(), { ...newPerson(), email: person.email ?? '' }), 409)
  })
})
