// Runs on SQLite and PostgreSQL.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { decodeJwt } from 'jose'
import { currentUser, logIn, logOut, newAgent, newPerson, type Person, signUp } from '../../support/client/accounts.ts'
import { assertPage, assertRedirect } from '../../support/client/assertions.ts'
import type { UserAgent } from '../../support/client/user-agent.ts'
import { turnedClock } from '../../support/clock/turned-clock.ts'
import { setUpCodes } from '../../support/second-factor/account-with-codes.ts'
import { codeAt, wrongCodeAt } from '../../support/second-factor/authenticator-app.ts'
import { openOperator } from '../../support/service/replicas.ts'
import { startService } from '../../support/service/service.ts'

const clock = turnedClock()
const service = await startService({ clock, env: { SVC_SECOND_FACTOR: 'required' } })
const core = await openOperator(service)

const CODE_PAGE = '/auth/login/code'
const ENROL_PAGE = '/auth/login/enrol'

const claimsOf = (agent: UserAgent) => decodeJwt(agent.cookies.get('svc_access') ?? '')

const assertSignedOut = async (agent: UserAgent) => {
  assert.equal(agent.cookies.get('svc_access'), undefined)
  assert.equal((await agent.get('/auth/api/v1/user')).status, 401)
}

const signedUpHalfWay = async () => {
  const person = newPerson()
  const agent = newAgent(service)
  const answer = await signUp(agent, { ...person, return_to: '/app' })
  assertRedirect(answer, `${ENROL_PAGE}?return_to=%2Fapp`)
  await assertSignedOut(agent)
  return { agent, person }
}

/** What the page shows to the app. */
const offered = async (agent: UserAgent) => {
  const { text, status } = await agent.get(`${ENROL_PAGE}?return_to=%2Fapp`)
  assert.equal(status, 200, text)
  const secret = /<code>([A-Z2-7 ]+)<\/code>/.exec(text)?.[1]?.replaceAll(' ', '')
  const setUp = /name="set_up" value="([^"]+)"/.exec(text)?.[1]
  assert.ok(secret && setUp, text)
  return { secret, form: { set_up: setUp, return_to: '/app' } }
}

const enrolled = async (agent: UserAgent): Promise<string> => {
  const { secret, form } = await offered(agent)
  const answer = await agent.post(ENROL_PAGE, { ...form, code: codeAt(secret, clock.now()) })
  assertRedirect(answer, '/auth/account/second-factor?return_to=%2Fapp')
  return secret
}

const nextCode = async (secret: string) => {
  await clock.turnTo(clock.aheadMs() + 30_000)
  return codeAt(secret, clock.now())
}

const asUser = async (person: Person) => (await core.users.find(person.email))?.id ?? ''

describe('SVC_SECOND_FACTOR=required', () => {
  test('a signup leads to a set-up, and there is no session before the first right code', async () => {
    const { agent, person } = await signedUpHalfWay()
    const { secret, form } = await offered(agent)
    const wrong = await agent.post(ENROL_PAGE, { ...form, code: wrongCodeAt(secret, clock.now()) })
    assertPage(wrong, 401)
    assert.ok(wrong.text.includes(form.set_up), 'the same secret again')
    await assertSignedOut(agent)
    const answer = await agent.post(ENROL_PAGE, { ...form, code: codeAt(secret, clock.now()) })
    assertRedirect(answer, '/auth/account/second-factor?return_to=%2Fapp')
    assert.deepEqual(claimsOf(agent).amr, ['pwd', 'otp', 'mfa'])
    assert.equal((await currentUser(agent)).email, person.email)
    const codes = await agent.get(answer.location ?? '')
    assertPage(codes)
    assert.match(codes.text, /href="\/app"/, 'the recovery codes lead on')
  })

  test('a login without a factor leads there too; afterwards it asks for the code', async () => {
    const { person } = await signedUpHalfWay()
    const agent = newAgent(service)
    assertRedirect(await logIn(agent, person, { return_to: '/app' }), `${ENROL_PAGE}?return_to=%2Fapp`)
    await assertSignedOut(agent)
    const secret = await enrolled(agent)
    assertRedirect(await logOut(agent), '/')
    assertRedirect(await logIn(agent, person), CODE_PAGE)
    assertRedirect(await agent.post(CODE_PAGE, { code: await nextCode(secret) }), '/')
  })

  test('where another sign-in was first, no second app is set up', async () => {
    const { person, agent: first } = await signedUpHalfWay()
    const second = newAgent(service)
    await logIn(second, person)
    const { secret, form } = await offered(second)
    await enrolled(first)
    const late = await second.post(ENROL_PAGE, { ...form, code: codeAt(secret, clock.now()) })
    assert.equal(late.status, 303)
    assert.match(late.location ?? '', /^\/auth\/login\?/)
    await assertSignedOut(second)
  })

  test('of two at once, one app is set up', async () => {
    const { person, agent: one } = await signedUpHalfWay()
    const other = newAgent(service)
    await logIn(other, person)
    const [first, second] = [await offered(one), await offered(other)]
    const answers = await Promise.all([
      one.post(ENROL_PAGE, { ...first.form, code: codeAt(first.secret, clock.now()) }),
      other.post(ENROL_PAGE, { ...second.form, code: codeAt(second.secret, clock.now()) }),
    ])
    const inside = [one, other].filter(({ cookies }) => cookies.get('svc_access'))
    assert.equal(inside.length, 1, JSON.stringify(answers.map(({ status, location }) => [status, location])))
  })

  test('the secret that another sign-in was shown is not accepted', async () => {
    const one = await signedUpHalfWay()
    const other = await signedUpHalfWay()
    const { secret, form } = await offered(one.agent)
    const answer = await other.agent.post(ENROL_PAGE, { ...form, code: codeAt(secret, clock.now()) })
    assert.equal(answer.status, 410, answer.text)
    await assertSignedOut(other.agent)
  })

  test('codes that the account has are asked for, and the page of the set-up leads there', async () => {
    const { person } = await signedUpHalfWay()
    const account = await setUpCodes({ core, clock }, { id: await asUser(person), person })
    const agent = newAgent(service)
    assertRedirect(await logIn(agent, person), CODE_PAGE)
    assertRedirect(await agent.get(ENROL_PAGE), CODE_PAGE)
    assertRedirect(await agent.post(ENROL_PAGE, { code: '123456' }), CODE_PAGE)
    assertRedirect(await agent.post(CODE_PAGE, { code: await account.nextCode() }), '/')
  })

  test('a logout, a changed password and ten minutes end it', async () => {
    const ends = [
      async ({ agent }: { agent: UserAgent }) => void (await logOut(agent.copy())),
      async ({ person }: { person: Person }) =>
        void (await core.users.setPassword(await asUser(person), 'another pass phrase')),
      () => clock.turnTo(clock.aheadMs() + 600_000),
    ]
    for (const end of ends) {
      const begun = await signedUpHalfWay()
      const { secret, form } = await offered(begun.agent)
      await end(begun)
      const answer = await begun.agent.post(ENROL_PAGE, { ...form, code: codeAt(secret, clock.now()) })
      assert.equal(answer.status, 303, answer.text)
      assert.match(answer.location ?? '', /^\/auth\/login\?/)
      await assertSignedOut(begun.agent)
    }
  })

  test('without a sign-in that waits, the pages lead to the login', async () => {
    for (const page of [ENROL_PAGE, CODE_PAGE]) {
      const agent = newAgent(service)
      assertRedirect(await agent.get(`${page}?return_to=%2Fapp`), '/auth/login?return_to=%2Fapp')
      assertRedirect(await agent.post(page, { code: '123456' }), '/auth/login')
    }
  })
})
