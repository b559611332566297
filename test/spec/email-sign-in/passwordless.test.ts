// Runs on SQLite.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { currentUser, logOut, newPerson } from '../../support/client/accounts.ts'
import {
  assertErrorPage,
  assertPage,
  assertRedirect,
  assertSignedIn,
  assertSignedOut,
} from '../../support/client/assertions.ts'
import type { UserAgent } from '../../support/client/user-agent.ts'
import { createAuthenticator } from '../../support/passkeys/authenticator.ts'
import { addPasskey } from '../../support/passkeys/passkeys.ts'
import { startOpenIdProvider } from '../../support/provider/openid-provider.ts'
import { newOpenIdUser } from '../../support/provider/openid-provider-users.ts'
import { startServiceWith } from '../../support/provider/provider-service.ts'
import { signInBy } from '../../support/provider/provider-sign-in.ts'
import { acceptBy, invite, openInvitation } from '../../support/recovery/invitation.ts'
import { openReset, RESET, resetTokenOf } from '../../support/recovery/reset.ts'
import {
  ask,
  ASK,
  CODE,
  codeOf,
  startSignInByMail,
  startSignInByMailWith,
  typeCode,
} from '../../support/recovery/sign-in-by-mail.ts'
import { accessToken, claimsOf } from '../../support/service/access-tokens.ts'
import { openOperator } from '../../support/service/replicas.ts'

const corp = await startOpenIdProvider()
const { service, smtp, core, asked, newAgent } = await startSignInByMailWith(
  (options) => startServiceWith({ corp }, options),
  { env: { SVC_PASSWORDS: 'off', SVC_NAMES: 'required', SVC_EMAIL_DOMAINS: 'example.com,example.org' } },
)

const NAME = 'Ada Lovelace'

/** A user who has come by mail alone. */
const newMember = async (): Promise<{ agent: UserAgent; email: string; id: string }> => {
  const { email } = newPerson()
  const agent = newAgent()
  const { code } = await asked(agent, email)
  assertRedirect(await typeCode(agent, code, { name: NAME }), '/')
  return { agent, email, id: (await currentUser(agent)).id }
}

describe('§4.21 without passwords', () => {
  test('the login page asks for the address first, and goes straight on to no provider', async () => {
    const navigation = { 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' }
    const shown = await newAgent().get('/auth/login?email=ada%40example.com', navigation)
    assertPage(shown)
    assert.match(shown.text, /action="\/auth\/login\/email"[^]*value="ada@example.com"/)
    assert.match(shown.text, /<button class="svc-button first" formaction="\/auth\/login\/email">Email me a code/)
    assert.doesNotMatch(shown.text, /type="password"/)
    assert.match(shown.text, /Continue with/)
  })

  test('the signup page has the address alone, and the name is asked for with the right code', async () => {
    const agent = newAgent()
    const { text } = await agent.get('/auth/signup')
    assert.match(text, /action="\/auth\/login\/email"/)
    const { email } = newPerson()
    const { code } = await asked(agent, email)
    for (let tries = 1; tries <= 6; tries += 1) {
      const answer = await typeCode(agent, code)
      assertPage(answer, 422)
      assert.match(answer.text, new RegExp(`name="code"[^>]*value="${code}"`))
      assert.match(answer.text, /name="name"/)
    }
    assert.equal(await core.users.find(email), undefined)
    assertRedirect(await typeCode(agent, code, { name: NAME }), '/')
    assert.equal((await currentUser(agent)).name, NAME)
  })

  test('an address of another domain begins no account, and is told nothing', async () => {
    const agent = newAgent()
    await ask(agent, 'ada@example.net')
    await asked(newAgent(), newPerson().email)
    assert.ok(!smtp.mails.some(({ to }) => to === 'ada@example.net'))
  })

  test('an invitation ends with "Continue", and asks for the name', async () => {
    const { email } = newPerson()
    const { user, token } = await invite(service, email, '--role', 'editor')
    const agent = newAgent()
    const { text } = await openInvitation(agent, token)
    assert.match(text, /<button class="svc-button first">Continue<\/button>/)
    assertPage(await acceptBy(agent, token, ''), 422)
    assertRedirect(await acceptBy(agent, token, '', { name: NAME }), '/')
    const entered = await currentUser(agent)
    assert.deepEqual([entered.id, entered.name, entered.roles], [user.id, NAME, ['editor']])
    assert.deepEqual(claimsOf(accessToken(agent)).amr, ['otp'])
  })

  test('a reset link and an undo link end with "Continue"', async () => {
    const { agent, email, id } = await newMember()
    const token = await resetTokenOf(service, email)
    const owner = newAgent()
    assert.match((await openReset(owner, token)).text, /<button class="svc-button first">Continue<\/button>/)
    assertRedirect(await owner.post(RESET, { token }), '/')
    await assertSignedOut(agent)
    await assertSignedIn(owner)

    const { id: userId, email: before } = (await core.users.find(id)) ?? { id, email }
    const details = { email: before, verifiedAt: '1', askedAt: '1', newEmail: 'new@example.org' }
    const undo = { purpose: 'undo', userId, emailLower: before, details, lifetimeMs: 3_600_000 } as const
    const made = await core.db.inTransaction((transaction) => core.links.issued.create(transaction, undo))
    const again = newAgent()
    assert.match(
      (await again.get(`/auth/email/undo?token=${made.token}`)).text,
      /<button class="svc-button first">Continue<\/button>/,
    )
    assertRedirect(await again.post('/auth/email/undo', { token: made.token }), '/')
    await assertSignedOut(owner)
    await assertSignedIn(again)
  })

  test('the last passkey and the last provider may go', async () => {
    const { agent } = await newMember()
    const { id } = await addPasskey(agent, createAuthenticator({ origin: service.url }))
    assertRedirect(
      await agent.post('/auth/account/passkeys', { passkey_id: id, remove: '1' }),
      '/auth/account?done=passkey_removed',
    )
    const octo = newAgent()
    await signInBy(octo, 'corp', (url) => corp.visit(url, { person: newOpenIdUser() }))
    const [, identity = ''] = /name="identity_id" value="([^"]+)"/.exec((await octo.get('/auth/account')).text) ?? []
    assertRedirect(
      await octo.post('/auth/account/identities', { identity_id: identity }),
      '/auth/account?done=unlinked',
    )
  })
})

describe('§4.21 a user who signs in by mail alone', () => {
  test('is led to a code by the page of a provider that is not connected yet', async () => {
    const { email } = await newMember()
    const other = newAgent()
    const refused = await signInBy(other, 'corp', (url) => corp.visit(url, { person: newOpenIdUser({ email }) }))
    assertErrorPage(refused, 409)
    assert.ok(
      refused.text.includes(`<a class="svc-button first" href="${ASK}?email=${email}">Email me a code</a>`),
      refused.text,
    )
    const { code } = await asked(other, email)
    assertRedirect(await typeCode(other, code), '/')
  })

  test('changes the account after a recent code', async () => {
    const { agent } = await newMember()
    assertRedirect(
      await agent.post('/auth/account/email', { email: newPerson().email }),
      '/auth/account?done=email_requested',
    )
  })

  test('confirms by another code later, which is good for that session alone', async () => {
    const { agent, email, id } = await newMember()
    const other = newAgent()
    const { code: second } = await asked(other, email)
    await typeCode(other, second)
    await core.db.run('UPDATE sessions SET authenticated_at = 1 WHERE user_id = ?', id)
    const change = () => agent.post('/auth/account/email', { email: newPerson().email })
    assertRedirect(await change(), '/auth/account/confirm')
    const shown = await agent.get('/auth/account/confirm')
    assert.match(shown.text, /action="\/auth\/login\/email"[^]*Email me a code/)

    assertPage(await agent.post(ASK, { intent: 'confirm' }))
    const mail = await smtp.receivedFor(email, 4)
    assert.match(mail.subject, /confirm it’s you/)
    assert.ok(!mail.links.some((url) => url.includes('token=')), 'no link, which would sign in elsewhere')
    const code = codeOf(mail)
    assertPage(await other.post(CODE, { code, intent: 'confirm' }), 401)
    assertPage(await typeCode(agent, code), 401)
    const answer = await agent.post(CODE, { code, intent: 'confirm' })
    assertRedirect(answer, '/auth/account?done=confirmed')
    assertRedirect(await change(), '/auth/account?done=email_requested')
    assertPage(await agent.post(CODE, { code, intent: 'confirm' }), 401)
    assertErrorPage(await newAgent().post(ASK, { intent: 'confirm' }), 401)
  })

  test('is offered a passkey on the account page, once a month', async () => {
    const { agent } = await newMember()
    const offers = async () => /without a code\?/.test((await agent.get('/auth/account')).text)
    assert.deepEqual([await offers(), await offers()], [true, false])
    const month = 31 * 86_400
    const before = String(Math.floor(Date.now() / 1000) - month)
    agent.cookies.set('svc_offered', before, '/auth/account')
    assert.deepEqual([await offers(), await offers()], [true, false])
  })
})

test('§4.21 an installation with mail alone: no passwords, no passkeys, no providers', async (t) => {
  const alone = await startSignInByMail({ env: { SVC_PASSWORDS: 'off', SVC_PASSKEYS: 'off' }, t })
  const { email } = newPerson()
  const agent = alone.newAgent()
  const { code } = await alone.asked(agent, email)
  assertRedirect(await typeCode(agent, code), '/')
  assertPage(await agent.get('/auth/account'))
  await logOut(agent)
  assertPage(await agent.get('/auth/login'))
  const operator = await openOperator(alone.service, t)
  const user = await operator.users.find(email)
  const { url } = await operator.links.reset.createByOperator(user?.id ?? '', { isMailed: false })
  const { text } = await agent.get(new URL(url).pathname + new URL(url).search)
  assert.match(text, /<button class="svc-button first">Continue<\/button>/)
  assert.doesNotMatch(text, /class="or"/)
})
