// Runs on SQLite and PostgreSQL.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { currentUser, newPerson } from '../../support/client/accounts.ts'
import { assertErrorPage, assertPage, assertRedirect, assertSignedOut } from '../../support/client/assertions.ts'
import { turnedClock } from '../../support/clock/turned-clock.ts'
import {
  ASK,
  ask,
  CODE,
  openLink,
  pressLink,
  startSignInByMail,
  startSignInByMailWith,
  typeCode,
  WRONG,
} from '../../support/recovery/sign-in-by-mail.ts'
import { readOfferedSetUp } from '../../support/second-factor/app-set-up.ts'
import { codeAt } from '../../support/second-factor/authenticator-app.ts'
import { accessToken, claimsOf } from '../../support/service/access-tokens.ts'
import { startMeteredService } from '../../support/service/metrics.ts'
import { at, startReplicas } from '../../support/service/replicas.ts'

const CONFIRM = '/auth/account/confirm'
const ENROL = '/auth/login/enrol'
const EMAIL = '/auth/account/email'

const clock = turnedClock()
const { asked, newUser, newAgent } = await startSignInByMail({ clock })

const signedInByMail = async () => {
  const user = await newUser()
  const agent = newAgent()
  const { code } = await asked(agent, user.email)
  assertRedirect(await typeCode(agent, code), '/')
  return { agent, user }
}

describe('§4.21 an account with a password', () => {
  test('changes nothing after a sign-in by mail, before the password was given', async () => {
    const { agent, user } = await signedInByMail()
    const change = () => agent.post(EMAIL, { email: newPerson().email })
    assertRedirect(await change(), CONFIRM)
    const page = await agent.get(CONFIRM)
    assert.match(page.text, /name="password"/)
    assert.doesNotMatch(page.text, /login\/email/, 'no code by mail either')
    const refused = await agent.post(ASK, { intent: 'confirm' })
    assertErrorPage(refused, 403)
    assert.match(refused.text, /You can’t confirm with a code by email here/)
    assertRedirect(await agent.post(CONFIRM, { password: user.password }), '/auth/account?done=confirmed')
    assertRedirect(await change(), '/auth/account?done=email_requested')
  })

  test('an application that asks for a recent sign-in, and for no more, takes it', async () => {
    const { agent } = await signedInByMail()
    assertRedirect(await agent.get(`${CONFIRM}?return_to=/orders`), '/orders')
    const stronger = await agent.get(`${CONFIRM}?return_to=/orders&acr=mfa`)
    assert.notEqual(stronger.location, '/orders')
  })
})

describe('§4.21 time', () => {
  test('a code and its link are good for ten minutes', async () => {
    const user = await newUser()
    const agent = newAgent()
    const { code, token } = await asked(agent, user.email)
    await clock.turnTo(clock.aheadMs() + 590_000)
    assertPage(await openLink(agent, token))
    await clock.turnTo(clock.aheadMs() + 20_000)
    assertPage(await openLink(agent, token), 410)
    assertPage(await typeCode(agent, code), 401)
    await assertSignedOut(agent)
  })
})

const startBoth = async (options: Parameters<typeof startReplicas>[0]) => {
  const [service, other] = await startReplicas(options)
  return { ...service, other }
}

describe('§4.21 on two replicas', () => {
  test('asked for at one, typed at the other; 200 at both at once are five tries, and one sign-in', async (t) => {
    const replicas = await startSignInByMailWith(startBoth, { t })
    const { service: one } = replicas
    const { other } = one
    const owner = await replicas.newUser()
    const agent = replicas.newAgent()
    const { code } = await replicas.asked(agent, owner.email)
    const there = at(other, agent)
    assertRedirect(await typeCode(there, code), '/')
    assert.equal((await currentUser(there)).id, owner.id)

    const raced = replicas.newAgent()
    const { code: second } = await replicas.asked(raced, owner.email)
    const answers = await Promise.all(
      Array.from({ length: 200 }, (_, index) =>
        at(index % 2 ? one : other, raced.copy()).post(CODE, { code: index % 10 ? WRONG : second }),
      ),
    )
    const count = (status: number) => answers.filter((answer) => answer.status === status).length
    assert.ok(count(303) <= 1 && count(303) + count(401) <= 5, `${count(303)} and ${count(401)}`)
    assert.equal(count(303) + count(401) + count(429), 200)
  })
})

test('§4.21 SVC_SECOND_FACTOR=required asks for one after a sign-in by mail', async (t) => {
  const required = await startSignInByMail({ t, clock, env: { SVC_SECOND_FACTOR: 'required' } })
  const user = await required.newUser()
  await required.database.rows('UPDATE users SET created_at = 0 WHERE id = ?', user.id)

  // A code may have been told to the one who types it: a link must follow. A link is such a link already.
  const byCode = required.newAgent()
  const { code } = await required.asked(byCode, user.email)
  const refused = await typeCode(byCode, code)
  assert.equal(refused.status, 303)
  const { status, location } = await byCode.get(refused.location ?? '')
  assert.deepEqual([status, location?.split('?')[0]], [303, '/auth/account/first-factor'])

  const byLink = required.newAgent()
  const { token } = await required.asked(byLink, user.email)
  assertRedirect(await pressLink(byLink, token), ENROL)
  await assertSignedOut(byLink)
  const { secret, sealed } = readOfferedSetUp(await byLink.get(ENROL))
  const set = await byLink.post(ENROL, { set_up: sealed, code: codeAt(secret, clock.now()) })
  assertRedirect(set, '/auth/account/second-factor?return_to=%2F')
  assert.deepEqual(claimsOf(accessToken(byLink)).amr, ['otp', 'mfa'])
})

test('§4.21 metrics count what was asked for, codes, links and wrong codes', async (t) => {
  const metered = await startSignInByMailWith(startMeteredService, { t })
  const user = await metered.newUser()
  const agent = metered.newAgent()
  await ask(agent, newPerson().email)
  const { code, token } = await metered.asked(agent, user.email)
  for (let tries = 0; tries < 5; tries += 1) await typeCode(agent, WRONG, { email: user.email })
  assertPage(await typeCode(agent, code, { email: user.email }), 429)
  await pressLink(agent, token)
  const next = metered.newAgent()
  await typeCode(next, (await metered.asked(next, user.email)).code)
  const { samples } = await metered.service.scrape()
  const counted = samples.filter(({ name }) => name === 'svc_email_sign_ins_total')
  assert.deepEqual(Object.fromEntries(counted.map(({ labels, value }) => [labels.outcome, value])), {
    requested: 3,
    code: 1,
    link: 1,
    wrong_code: 5,
    limited: 1,
    passkey_needed: 0,
  })
})
