// Runs on SQLite.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, test } from 'node:test'
import { currentUser, newPerson, signedUp, signUp } from '../../support/client/accounts.ts'
import {
  assertCanLogIn,
  assertErrorPage,
  assertPage,
  assertRedirect,
  assertSignedIn,
  assertSignedOut,
} from '../../support/client/assertions.ts'
import { newGitHubPerson } from '../../support/provider/github-server.ts'
import { startOpenIdProvider } from '../../support/provider/openid-provider.ts'
import { startLinkingService } from '../../support/provider/provider-accounts.ts'
import { assertNoSession, startServiceWith, statusesOf } from '../../support/provider/provider-service.ts'
import { returnFromProvider, signInBy, startAt } from '../../support/provider/provider-sign-in.ts'
import { deleteUser, disableUser } from '../../support/service/operator-commands.ts'

const {
  github,
  service,
  database,
  newAgent,
  byCorp,
  byGithub,
  userOfCorp,
  linkGithub,
  userOfBoth,
  identitiesOf,
  providersOf,
  assertSignsIn,
} = await startLinkingService()

const CONFIRM = '/auth/account/confirm'

describe('§4.2 account page: linked providers with link and unlink', () => {
  test('a user with a fresh session links a provider, and can then sign in with it', async () => {
    const { agent, person } = await signedUp(service)
    const { id } = await currentUser(agent)
    const page = await agent.get('/auth/account')
    assert.match(page.text, /<form method="post" action="\/auth\/oauth\/github">[^]*?name="intent" value="link"/)
    const octo = newGitHubPerson()
    const refresh = agent.cookies.get('svc_refresh')
    assertRedirect(await linkGithub(agent, octo), '/auth/account?done=linked')
    assert.equal(agent.cookies.get('svc_refresh'), refresh, 'it is the same session')
    const after = await agent.get('/auth/account?done=linked')
    assert.match(after.text, /Account connected\./)
    assert.ok(after.text.includes(octo.emails[0]?.email ?? 'none'))
    assert.equal((await currentUser(agent)).email, person.email, 'the email here stays')
    await assertSignsIn('github', octo, id)
    await assertCanLogIn(service, person)
  })

  test('linking a provider account that is linked already succeeds', async () => {
    const { agent, user, octo } = await userOfBoth()
    assertRedirect(await linkGithub(agent, octo), '/auth/account?done=linked')
    assert.deepEqual(await providersOf(user.id), ['corp', 'github'])
  })

  test('a provider account of another user is refused, and stays with that user', async () => {
    const { octo, user } = await userOfBoth()
    const { agent, person } = await signedUp(service)
    const answer = await linkGithub(agent, octo)
    assertPage(answer, 409)
    assert.equal((await currentUser(agent)).email, person.email)
    await assertSignsIn('github', octo, user.id)
  })

  test('opening the callback of a failed link again does not say that it is linked', async () => {
    const { octo } = await userOfBoth()
    const { agent } = await signedUp(service)
    const callback = await byGithub(octo)(await startAt(agent, 'github', { intent: 'link' }))
    assertPage(await returnFromProvider(agent, callback), 409)
    assertRedirect(await returnFromProvider(agent, callback), '/auth/account')
    const cancelled = await github.visit(await startAt(agent, 'github', { intent: 'link' }), { answer: 'cancel' })
    assertPage(await returnFromProvider(agent, cancelled), 403)
    assertRedirect(await returnFromProvider(agent, cancelled), '/auth/account')
    const good = await byGithub(newGitHubPerson())(await startAt(agent, 'github', { intent: 'link' }))
    assertRedirect(await returnFromProvider(agent, good), '/auth/account?done=linked')
    assertRedirect(await returnFromProvider(agent, good), '/auth/account')
  })

  test('when the provider does not answer, the next try is to link, or to confirm, as before', async (t) => {
    const away = await startOpenIdProvider({ t })
    const late = await startServiceWith({ corp: away }, { t })
    await away.stop()
    const { agent } = await signedUp(late)
    for (const intent of ['link', 'confirm']) {
      const answer = await agent.post('/auth/oauth/corp', { intent })
      assertPage(answer, 503)
      assert.match(answer.text, new RegExp(`name="intent" value="${intent}"`))
    }
  })

  test('after a cancelled link, the next try is to link', async () => {
    const { agent } = await signedUp(service)
    const cancelled = await github.visit(await startAt(agent, 'github', { intent: 'link' }), { answer: 'cancel' })
    const answer = await returnFromProvider(agent, cancelled)
    assertPage(answer, 403)
    assert.match(answer.text, /name="intent" value="link"/)
  })

  test('an access token that expires while the user is at the provider is renewed', async () => {
    const { agent, user } = await userOfCorp()
    agent.cookies.delete('svc_access')
    const callback = await byGithub(newGitHubPerson())(await startAt(agent, 'github', { intent: 'link' }))
    agent.cookies.delete('svc_access')
    assertRedirect(await returnFromProvider(agent, callback), '/auth/account?done=linked')
    assert.equal((await currentUser(agent)).id, user.id)
  })

  test('of five accounts that link one provider account at once, one gets it', async () => {
    const octo = newGitHubPerson()
    const accounts = await Promise.all(Array.from({ length: 5 }, () => signedUp(service)))
    const answers = await Promise.all(accounts.map(({ agent }) => linkGithub(agent, octo)))
    const statuses = statusesOf(answers)
    assert.deepEqual(statuses, [303, 409, 409, 409, 409])
  })

  test('a user who logs out, or signs in as another user, while at the provider links nothing', async () => {
    const { agent, person, user } = await userOfCorp()
    const callback = await byGithub(newGitHubPerson())(await startAt(agent, 'github', { intent: 'link' }))
    await agent.post('/auth/logout')
    assertNoSession(agent, await returnFromProvider(agent, callback), 401)

    assertRedirect(await signInBy(agent, 'corp', byCorp(person)), '/')
    assertRedirect(await signInBy(agent, 'corp', byCorp(person), { intent: 'confirm' }), '/auth/account?done=confirmed')
    const second = await byGithub(newGitHubPerson())(await startAt(agent, 'github', { intent: 'link' }))
    const stranger = newPerson()
    assertRedirect(await signUp(agent, stranger), '/')
    assertPage(await returnFromProvider(agent, second), 401)
    assert.deepEqual(await providersOf(user.id), ['corp'])
    assert.deepEqual(await providersOf((await currentUser(agent)).id), [])
  })

  test('a link and a confirmation succeed in a newer session of the same user', async () => {
    const { agent, person, user } = await userOfCorp()
    const [octo, cat] = [newGitHubPerson(), newGitHubPerson()]
    const [linking, confirming] = [
      await byGithub(octo)(await startAt(agent, 'github', { intent: 'link' })),
      await byCorp(person)(await startAt(agent, 'corp', { intent: 'confirm' })),
    ]
    const before = agent.copy()
    assertRedirect(await signInBy(agent, 'corp', byCorp(person)), '/')
    await assertSignedOut(before)
    assertRedirect(await returnFromProvider(agent, linking), '/auth/account?done=linked')
    assertRedirect(await returnFromProvider(agent, confirming), '/auth/account?done=confirmed')
    const third = await byGithub(cat)(await startAt(agent, 'github', { intent: 'link' }))
    await agent.post('/auth/logout')
    assertRedirect(await signInBy(agent, 'corp', byCorp(person)), '/')
    assertRedirect(await returnFromProvider(agent, third), '/auth/account?done=linked')
    assert.deepEqual(await providersOf(user.id), ['corp', 'github', 'github'])
  })

  test('a user who is signed in as another user at the callback confirms nothing', async () => {
    const { agent, person } = await userOfCorp()
    const callback = await byCorp(person)(await startAt(agent, 'corp', { intent: 'confirm' }))
    const { person: other, user } = await userOfCorp()
    assertRedirect(await signInBy(agent, 'corp', byCorp(other)), '/')
    const answer = await returnFromProvider(agent, callback)
    assertPage(answer, 401)
    assert.deepEqual(answer.setCookies, [])
    assert.equal((await currentUser(agent)).id, user.id)
    assertRedirect(await agent.post('/auth/oauth/github', { intent: 'link' }), CONFIRM)
  })

  test('a user who is disabled or deleted while at the provider links nothing', async () => {
    for (const command of [disableUser, deleteUser]) {
      const { agent, user } = await userOfCorp()
      const octo = newGitHubPerson()
      const callback = await byGithub(octo)(await startAt(agent, 'github', { intent: 'link' }))
      await command(service, user.id)
      assertNoSession(agent, await returnFromProvider(agent, callback), 401)
      assert.deepEqual(await database.rows('SELECT id FROM identities WHERE subject = ?', String(octo.user.id)), [])
    }
  })

  test('a user who is not signed in cannot begin to link or to confirm', async () => {
    for (const intent of ['link', 'confirm']) {
      const agent = newAgent()
      assertNoSession(agent, await agent.post('/auth/oauth/corp', { intent }), 401)
    }
  })

  test('after unlink the provider account no longer signs in, and every other session has ended', async () => {
    const { agent, user, octo } = await userOfBoth()
    const elsewhere = newAgent()
    assertRedirect(await signInBy(elsewhere, 'github', byGithub(octo)), '/')
    const under = newAgent()
    const callback = await byGithub(octo)(await startAt(under, 'github'))
    const [, linked] = await identitiesOf(user.id)
    const page = await agent.get('/auth/account')
    assert.match(page.text, new RegExp(`name="identity_id" value="${linked?.id}"`))
    const form = { identity_id: linked?.id ?? '' }
    assertRedirect(await agent.post('/auth/account/identities', form), '/auth/account?done=unlinked')
    await assertSignedIn(agent)
    await assertSignedOut(elsewhere)
    assert.deepEqual(await providersOf(user.id), ['corp'])
    assertErrorPage(await agent.post('/auth/account/identities', form), 404)
    assertRedirect(await returnFromProvider(under, callback), '/')
    assert.notEqual((await currentUser(under)).id, user.id, 'this is a new user')
  })

  test('a sign-in with the provider at the moment of the unlink leaves no session', async () => {
    for (let round = 0; round < 4; round += 1) {
      const { agent, user, octo } = await userOfBoth()
      const [, linked] = await identitiesOf(user.id)
      const late = newAgent()
      const callback = await byGithub(octo)(await startAt(late, 'github'))
      const [unlinked] = await Promise.all([
        agent.post('/auth/account/identities', { identity_id: linked?.id ?? '' }),
        returnFromProvider(late, callback),
      ])
      assertRedirect(unlinked, '/auth/account?done=unlinked')
      const sessions = await database.rows('SELECT id FROM sessions WHERE user_id = ?', user.id)
      assert.equal(sessions.length, 1)
      await assertSignedIn(agent)
    }
  })

  test('a user cannot unlink the provider of another user', async () => {
    const { user } = await userOfBoth()
    const { agent } = await userOfBoth()
    for (const identity_id of [...(await identitiesOf(user.id)).map(({ id }) => id), randomUUID(), '']) {
      const answer = await agent.post('/auth/account/identities', { identity_id })
      assertErrorPage(answer, identity_id === '' ? 400 : 404)
    }
    assert.deepEqual(await providersOf(user.id), ['corp', 'github'])
  })

  test('the last way to sign in cannot be removed', async () => {
    const { agent, user, person } = await userOfCorp()
    const page = await agent.get('/auth/account')
    assert.doesNotMatch(page.text, /name="identity_id"/)
    const [only] = await identitiesOf(user.id)
    assertPage(await agent.post('/auth/account/identities', { identity_id: only?.id ?? '' }), 409)
    await assertSignsIn('corp', person, user.id)
  })

  test('of two providers that are removed at once, one stays', async () => {
    const { agent, user } = await userOfBoth()
    const identities = await identitiesOf(user.id)
    const answers = await Promise.all(
      identities.map(({ id }) => agent.copy().post('/auth/account/identities', { identity_id: id })),
    )
    assert.deepEqual(statusesOf(answers), [303, 409])
    assert.equal((await identitiesOf(user.id)).length, 1)
  })

  test('a provider that is no longer configured does not count as a way to sign in; with a password it can be removed', async () => {
    const { agent, user } = await userOfBoth()
    await database.rows(`UPDATE identities SET provider = 'former' WHERE user_id = ? AND provider = 'github'`, user.id)
    const [corps, former] = await identitiesOf(user.id)
    assert.match((await agent.get('/auth/account')).text, /Former/)
    assertPage(await agent.post('/auth/account/identities', { identity_id: corps?.id ?? '' }), 409)
    const gone = await agent.post('/auth/account/identities', { identity_id: former?.id ?? '' })
    assertRedirect(gone, '/auth/account?done=unlinked')
    const { password } = newPerson()
    const set = await agent.post('/auth/account/password', { new_password: password })
    assertRedirect(set, '/auth/account?done=password_set')
    const last = await agent.post('/auth/account/identities', { identity_id: corps?.id ?? '' })
    assertRedirect(last, '/auth/account?done=unlinked')
    await assertCanLogIn(service, { email: user.email, password, username: '' })
  })
})
