// Runs on SQLite.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { currentUser, newPerson, signedUp } from '../../support/client/accounts.ts'
import {
  assertCanLogIn,
  assertCannotLogIn,
  assertErrorPage,
  assertPage,
  assertRedirect,
  assertSignedIn,
  assertSignedOut,
} from '../../support/client/assertions.ts'
import type { Answer, Form } from '../../support/client/user-agent.ts'
import { startLinkingService } from '../../support/provider/provider-accounts.ts'
import { startServiceWith } from '../../support/provider/provider-service.ts'
import { signInBy } from '../../support/provider/provider-sign-in.ts'

const { service, newAgent, byCorp, userOfCorp, linkGithub, identitiesOf, ageSessions, assertSignsIn } =
  await startLinkingService()

const CONFIRM = '/auth/account/confirm'

describe('a user without a password can set one', () => {
  test('it signs in from then on, and every other session ends', async () => {
    const { agent, user, person } = await userOfCorp()
    const elsewhere = newAgent()
    assertRedirect(await signInBy(elsewhere, 'corp', byCorp(person)), '/')
    await assertCannotLogIn(service, { ...newPerson(), email: user.email })
    assert.match((await agent.get('/auth/account')).text, /<b>Password<\/b><span class="about">Not set</)
    const { password } = newPerson()
    for (const bad of ['short', 'password', user.email, `${user.username}1`, 'abcabcabc', 'localhost1']) {
      assertPage(await agent.post('/auth/account/password', { new_password: bad }), 422)
    }
    await assertSignedIn(elsewhere)
    const set = await agent.post('/auth/account/password', { new_password: password })
    assertRedirect(set, '/auth/account?done=password_set')
    await assertSignedIn(agent)
    await assertSignedOut(elsewhere)
    await assertCanLogIn(service, { email: user.email, password, username: '' })
    await assertSignsIn('corp', person, user.id)
  })

  test('once: after that the form requires the current password, fresh session or not', async () => {
    const { agent, user } = await userOfCorp()
    const first = newPerson().password
    const second = newPerson().password
    const set = (form: Form) => agent.post('/auth/account/password', form)
    assertRedirect(await set({ new_password: first }), '/auth/account?done=password_set')
    assertPage(await set({ new_password: second }), 401)
    assertPage(await set({ new_password: second, current_password: '' }), 401)
    await ageSessions(user.id, 11)
    assertRedirect(await set({ new_password: second, current_password: first }), '/auth/account?done=password')
  })

  test('of two first passwords that are set at once, one counts', async () => {
    const { agent, user } = await userOfCorp()
    const passwords = [newPerson().password, newPerson().password]
    const answers = await Promise.all(
      passwords.map((new_password) => agent.copy().post('/auth/account/password', { new_password })),
    )
    assert.deepEqual(
      answers.map(({ status }) => status).filter((status) => status === 303),
      [303],
    )
    const counts = answers.findIndex(({ status }) => status === 303)
    await assertCanLogIn(service, { email: user.email, password: passwords[counts] ?? '', username: '' })
  })
})

const assertDeleted = (answer: Answer) => {
  assertRedirect(answer, '/auth/login?done=deleted')
  assert.deepEqual(answer.cleared.sort(), ['svc_access', 'svc_fresh', 'svc_refresh', 'svc_session'])
}

describe('deleting an account without a password requires re-authentication instead', () => {
  test('fresh: the account and its identities are deleted, and the same person can sign up again', async () => {
    const { agent, user, person } = await userOfCorp()
    assertDeleted(await agent.post('/auth/account/delete'))
    await assertSignedOut(agent)
    assert.deepEqual(await identitiesOf(user.id), [])
    assert.notEqual((await userOfCorp(person)).user.id, user.id)
  })

  test('not fresh: the account stays until the user has confirmed', async () => {
    const { agent, user, person } = await userOfCorp()
    await ageSessions(user.id, 11)
    assertRedirect(await agent.post('/auth/account/delete'), CONFIRM)
    assertRedirect(await agent.post('/auth/account/delete', { password: '' }), CONFIRM)
    await assertSignedIn(agent)
    assertRedirect(await signInBy(agent, 'corp', byCorp(person), { intent: 'confirm' }), '/auth/account?done=confirmed')
    assertDeleted(await agent.post('/auth/account/delete'))
  })

  test('with a password the form requires it, however fresh the session', async () => {
    const { agent, person } = await signedUp(service)
    assertRedirect(await linkGithub(agent), '/auth/account?done=linked')
    for (const form of [{}, { password: '' }, { password: 'wrong' }]) {
      assertPage(await agent.post('/auth/account/delete', form), 401)
    }
    await ageSessions((await currentUser(agent)).id, 60)
    assertDeleted(await agent.post('/auth/account/delete', { password: person.password }))
  })
})

test('without providers the account page shows nothing about providers', async (t) => {
  const bare = await startServiceWith({}, { t, env: { SVC_OAUTH_PROVIDERS: undefined } })
  const { agent } = await signedUp(bare)
  const page = await agent.get('/auth/account')
  assertPage(page)
  assert.doesNotMatch(page.text, /Disconnect|Connect |oauth/)
  assertErrorPage(await agent.post('/auth/oauth/corp'), 404)
  assertPage(await agent.get(CONFIRM))
})
