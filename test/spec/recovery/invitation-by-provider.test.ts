// Runs on SQLite and PostgreSQL.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { currentUser, newPerson } from '../../support/client/accounts.ts'
import { assertErrorPage, assertPage, assertRedirect } from '../../support/client/assertions.ts'
import { createUserAgent } from '../../support/client/user-agent.ts'
import { startSmtpServer } from '../../support/network/smtp-server.ts'
import { startOpenIdProvider } from '../../support/provider/openid-provider.ts'
import { newOpenIdUser, type OpenIdUser } from '../../support/provider/openid-provider-users.ts'
import { assertNoSession, PATIENT, startServiceWith } from '../../support/provider/provider-service.ts'
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
