// Runs on SQLite.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { currentUser, newPerson, signUp } from '../../support/client/accounts.ts'
import {
  assertCanLogIn,
  assertErrorPage,
  assertPage,
  assertRedirect,
  assertSignedOut,
} from '../../support/client/assertions.ts'
import { createUserAgent, type UserAgent } from '../../support/client/user-agent.ts'
import { startSmtpServer } from '../../support/network/smtp-server.ts'
import { startOpenIdProvider } from '../../support/provider/openid-provider.ts'
import { newOpenIdUser, type OpenIdUser } from '../../support/provider/openid-provider-users.ts'
import { assertNoSession, PATIENT, startServiceWith, statusesOf } from '../../support/provider/provider-service.ts'
import { returnFromProvider, signInBy, startAt } from '../../support/provider/provider-sign-in.ts'
import { acceptBy, invite, openInvitation } from '../../support/recovery/invitation.ts'
import { tokenOf } from '../../support/recovery/reset.ts'
import { accessToken, claimsOf } from '../../support/service/access-tokens.ts'
import { deleteUser, disableUser, enableUser, runCommandOf, showUser } from '../../support/service/operator-commands.ts'

const smtp = await startSmtpServer()
const corp = await startOpenIdProvider()
// Nobody may sign up, and no domain but one is accepted: invitations need neither.
const env = { ...PATIENT, ...smtp.env, SVC_SIGNUP: 'off', SVC_EMAIL_DOMAINS: 'elsewhere.example' }
const service = await startServiceWith({ corp }, { env })
const newAgent = () => createUserAgent(service)
const byCorp = (person: OpenIdUser) => (url: string) => corp.visit(url, { person })

const signInByCorp = async (person: OpenIdUser) => {
  const agent = newAgent()
  return { agent, answer: await signInBy(agent, 'corp', byCorp(person), { return_to: '/kept' }) }
}

/** Continues with the provider from the page of an invitation. */
const enterBy = (agent: UserAgent, token: string, person: OpenIdUser) =>
  signInBy(agent, 'corp', byCorp(person), { intent: 'invite', token })

describe('an invited user who comes with a provider that has verified the address', () => {
  test('enters the account at once, without a proof and while signup is closed; the link is no longer good', async () => {
    const { email } = newPerson()
    const { user, token } = await invite(service, email.toUpperCase(), '--role', 'editor')
    const person = newOpenIdUser({ email })
    const { agent, answer } = await signInByCorp(person)
    assertRedirect(answer, '/kept')
    const { id, roles } = await currentUser(agent)
    assert.deepEqual([id, roles], [user.id, ['editor']])
    assert.equal(claimsOf(accessToken(agent)).email_verified, true)
    assert.equal(Object(await showUser(service, id)).invited, false)
    assertPage(await openInvitation(newAgent(), token), 410)
    const { agent: later, answer: again } = await signInByCorp(person)
    assertRedirect(again, '/kept')
    assert.equal((await currentUser(later)).id, id)
    const event = service.logLines().find((line) => line.event === 'invitation_accept' && line.user_id === id)
    assert.deepEqual([event?.outcome, event?.method], ['succeeded', 'corp'])
  })

  test('does not, when the provider has not verified the address, or it is another one', async () => {
    const { email } = newPerson()
    const { user, token } = await invite(service, email)
    for (const person of [newOpenIdUser({ email, email_verified: false }), newOpenIdUser()]) {
      const { agent, answer } = await signInByCorp(person)
      assertNoSession(agent, answer, 403)
    }
    assert.equal(Object(await showUser(service, user.id)).invited, true)
    assertPage(await openInvitation(newAgent(), token))
  })

  test('does not, once the account was entered by its link: then it must be proved', async () => {
    const person = newPerson()
    const { token } = await invite(service, person.email)
    assertRedirect(await acceptBy(newAgent(), token, person.password), '/')
    const { agent, answer } = await signInByCorp(newOpenIdUser({ email: person.email }))
    assertNoSession(agent, answer, 409)
  })

  test('does not, while the account is disabled, and not after it was deleted on the way', async () => {
    const { email } = newPerson()
    await invite(service, email)
    await disableUser(service, email)
    const person = newOpenIdUser({ email })
    const refused = await signInByCorp(person)
    assertNoSession(refused.agent, refused.answer, 403)
    await enableUser(service, email)
    const agent = newAgent()
    const callback = await byCorp(person)(await startAt(agent, 'corp'))
    await deleteUser(service, email)
    assertNoSession(agent, await returnFromProvider(agent, callback), 403)
  })

  test('in five browsers at once: all enter one account', async () => {
    const { email } = newPerson()
    const { user } = await invite(service, email)
    const person = newOpenIdUser({ email })
    const waiting = await Promise.all(
      Array.from({ length: 5 }, async () => {
        const agent = newAgent()
        return { agent, callback: await byCorp(person)(await startAt(agent, 'corp')) }
      }),
    )
    const answers = await Promise.all(waiting.map(({ agent, callback }) => returnFromProvider(agent, callback)))
    for (const answer of answers) assertRedirect(answer, '/')
    // Of browsers that enter at the same moment, only what came before the first one ends.
    const last = await signInByCorp(person)
    assert.equal((await currentUser(last.agent)).id, user.id)
  })

  test('at the same moment as the link is followed: one of them is first, and the account has one way in', async () => {
    for (let round = 0; round < 4; round += 1) {
      const person = newPerson()
      const { user, token } = await invite(service, person.email)
      const agent = newAgent()
      const callback = await byCorp(newOpenIdUser({ email: person.email }))(await startAt(agent, 'corp'))
      const [answer, accepted] = await Promise.all([
        returnFromProvider(agent, callback),
        acceptBy(newAgent(), token, person.password),
      ])
      assert.deepEqual(
        answer.status === 303 ? accepted.status : [answer.status, accepted.status],
        answer.status === 303 ? 410 : [409, 303],
      )
      const text = await runCommandOf(service, ['users', 'show', user.id])
      assert.match(text, answer.status === 303 ? /signs in with +corp \(/ : /signs in with +password\n/)
    }
  })
})

describe('continuing with a provider on the page of an invitation', () => {
  test('connects it to the account and logs in; the link is used up with that, and not before', async () => {
    const { email } = newPerson()
    const { user, token } = await invite(service, email.toUpperCase(), '--role', 'editor')
    const agent = newAgent()
    const page = await openInvitation(agent, token)
    assert.match(page.text, new RegExp(`/auth/oauth/corp"[^]*name="intent" value="invite"[^]*value="${token}"`))
    const person = newOpenIdUser({ email })
    const cancelled = await corp.visit(await startAt(agent, 'corp', { intent: 'invite', token }), { answer: 'cancel' })
    assertNoSession(agent, await returnFromProvider(agent, cancelled), 403)
    assertPage(await openInvitation(newAgent(), token))

    assertRedirect(await enterBy(agent, token, person), '/')
    const { id, roles } = await currentUser(agent)
    assert.deepEqual([id, roles], [user.id, ['editor']])
    assert.equal(claimsOf(accessToken(agent)).email_verified, true)
    assertPage(await openInvitation(newAgent(), token), 410)
    assertPage(await newAgent().post('/auth/oauth/corp', { intent: 'invite', token }), 410)
    const later = await signInByCorp(person)
    assert.equal((await currentUser(later.agent)).id, id)
  })

  test('with another address, or one that the provider has not verified: 403, which says whom the link is for', async () => {
    const { email } = newPerson()
    const { user, token } = await invite(service, email)
    for (const person of [newOpenIdUser(), newOpenIdUser({ email, email_verified: false })]) {
      const agent = newAgent()
      const answer = await enterBy(agent, token, person)
      assertNoSession(agent, answer, 403)
      assert.ok(answer.text.includes(`Your link is for <b>${email}</b>,`), answer.text)
    }
    assert.equal(Object(await showUser(service, user.id)).invited, true)
    assertRedirect(await enterBy(newAgent(), token, newOpenIdUser({ email })), '/')
  })

  test('replaces the session of another account in the browser, and no other', async () => {
    const [first, second] = [newPerson(), newPerson()]
    const agent = newAgent()
    assertRedirect(await acceptBy(agent, (await invite(service, first.email)).token, first.password), '/')
    const copy = agent.copy()
    const { user, token } = await invite(service, second.email)
    assert.ok((await openInvitation(agent, token)).text.includes(first.email))
    assertRedirect(await enterBy(agent, token, newOpenIdUser({ email: second.email })), '/')
    assert.equal((await currentUser(agent)).id, user.id)
    await assertSignedOut(copy)
    await assertCanLogIn(service, first)
  })

  test('an account at the provider that is connected to another user: 409, and the invitation stays', async () => {
    const { email } = newPerson()
    const person = newOpenIdUser({ email })
    await invite(service, email)
    assertRedirect((await signInByCorp(person)).answer, '/kept')
    const other = newPerson()
    await runCommandOf(service, ['users', 'set-email', email, newPerson().email, '--verified'])
    const { token } = await invite(service, other.email)
    const agent = newAgent()
    const answer = await enterBy(agent, token, { ...person, email: other.email })
    assertNoSession(agent, answer, 409)
    assertPage(await openInvitation(newAgent(), token))
  })

  test('disabled or entered by password while at the provider: 410, and the provider is not connected', async () => {
    for (const meanwhile of ['disabled', 'entered'] as const) {
      const person = newPerson()
      const { user, token } = await invite(service, person.email)
      const agent = newAgent()
      const visitor = newOpenIdUser({ email: person.email })
      const callback = await byCorp(visitor)(await startAt(agent, 'corp', { intent: 'invite', token }))
      if (meanwhile === 'disabled') await disableUser(service, user.id)
      else assertRedirect(await acceptBy(newAgent(), token, person.password), '/')
      assertNoSession(agent, await returnFromProvider(agent, callback), 410)
      assert.doesNotMatch(await runCommandOf(service, ['users', 'show', user.id]), /corp \(/)
    }
  })

  test('at the same moment as the password is sent: one of them is first', async () => {
    for (let round = 0; round < 4; round += 1) {
      const person = newPerson()
      const { token } = await invite(service, person.email)
      const agent = newAgent()
      const visitor = newOpenIdUser({ email: person.email })
      const callback = await byCorp(visitor)(await startAt(agent, 'corp', { intent: 'invite', token }))
      const answers = await Promise.all([
        returnFromProvider(agent, callback),
        acceptBy(newAgent(), token, person.password),
      ])
      assert.deepEqual(statusesOf(answers), [303, 410])
    }
  })
})

test('without passwords, the page of an invitation offers the providers alone', async (t) => {
  const passwordless = await startServiceWith({ corp }, { t, env: { SVC_PASSWORDS: 'off' } })
  const { email, password } = newPerson()
  const { token } = await invite(passwordless, email)
  const agent = createUserAgent(passwordless)
  const page = await openInvitation(agent, token)
  assertPage(page)
  assert.doesNotMatch(page.text, /type="password"/)
  assertErrorPage(await acceptBy(agent, token, password), 404)
  const visit = (url: string) => corp.visit(url, { person: newOpenIdUser({ email }) })
  assertRedirect(await signInBy(agent, 'corp', visit, { intent: 'invite', token }), '/')
  assert.equal((await currentUser(agent)).email, email)
})

describe('svc users invite --mail', () => {
  test('mails the link to the address and prints none; following it enters the account', async () => {
    const person = newPerson()
    const { stdout, stderr } = await service.cli(['users', 'invite', person.email, '--mail'])
    assert.match(stdout, new RegExp(`^${person.email} gets a link by mail\\. It is good until \\S+\\.\\n$`))
    assert.doesNotMatch(stdout + stderr, /token/)
    const message = await smtp.receivedFor(person.email)
    assert.match(message.subject, /invit/i)
    assert.ok(message.text.includes(person.email))
    const agent = newAgent()
    // A scanner follows every link of the message first.
    for (const link of message.links) await newAgent().get(link.slice(service.url.length))
    const { pathname, search } = new URL(message.link)
    assertPage(await agent.get(pathname + search))
    assertRedirect(await acceptBy(agent, tokenOf(message.link), person.password), '/')
    assert.equal((await currentUser(agent)).email, person.email)
    assertErrorPage(await agent.get('/auth/invite'), 400)
  })

  test('with --json there is no link in the output, and it says so', async () => {
    const { user } = await invite(service, newPerson().email).then(({ user: { email } }) => invite(service, email))
    assert.equal(Object(user).mailed, false)
    const { email } = newPerson()
    const output = JSON.parse(await runCommandOf(service, ['users', 'invite', email, '--mail', '--json']))
    assert.deepEqual([output.mailed, output.url, output.email], [true, undefined, email])
    await smtp.receivedFor(email)
  })
})

test('with SVC_EMAIL_VERIFICATION=required, a signup with an invited address, before or after, gives no second account', async (t) => {
  const strict = await startServiceWith({ corp }, { t, env: { ...smtp.env, SVC_EMAIL_VERIFICATION: 'required' } })
  const [person, early] = [newPerson(), newPerson()]
  const { token } = await invite(strict, person.email, '--role', 'editor')
  const answers = await Promise.all(
    [person, newPerson()].map(({ email, password }) => signUp(createUserAgent(strict), { email, password })),
  )
  assert.deepEqual(
    answers.map(({ status }) => status),
    [200, 200],
  )
  assert.equal(
    (await smtp.receivedFor(person.email)).links.some((link) => link.includes('token=')),
    false,
  )
  assertRedirect(await acceptBy(createUserAgent(strict), token, person.password), '/')

  const stranger = createUserAgent(strict)
  assertPage(await signUp(stranger, { email: early.email, password: early.password }))
  const { link } = await smtp.receivedFor(early.email)
  const { token: second } = await invite(strict, early.email, '--role', 'editor')
  assertPage(await stranger.post('/auth/email/verify', { token: tokenOf(link) }), 410)
  const agent = createUserAgent(strict)
  assertRedirect(await acceptBy(agent, second, `${early.password} 2`), '/')
  assert.deepEqual((await currentUser(agent)).roles, ['editor'])
})
