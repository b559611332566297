// Runs on SQLite and PostgreSQL.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { currentUser, newPerson, signedUp } from '../../support/client/accounts.ts'
import { assertPage, assertRedirect } from '../../support/client/assertions.ts'
import { createUserAgent } from '../../support/client/user-agent.ts'
import { resetBy, resetTokenOf } from '../../support/recovery/reset.ts'
import { openVerify, startVerification, verifyBy } from '../../support/recovery/verification.ts'
import { startService } from '../../support/service/service.ts'

const NAME_IS_WRONG = /<input id="name" name="name"[^>]*aria-invalid="true"/

const optional = await startVerification({ mode: 'required', env: { SVC_NAMES: 'optional' } })
/** A replica where the setting has changed in the meantime. */
const required = await startService({
  cwd: optional.service.directory,
  env: { ...optional.smtp.env, SVC_EMAIL_VERIFICATION: 'required', SVC_NAMES: 'required' },
})

const signUp = (name: string) => optional.signUp({ ...newPerson(), name })
const nameOf = async (agent: Parameters<typeof currentUser>[0]) => (await currentUser(agent)).name

describe('§4.12 a signup that waits for its link', () => {
  test('keeps its name for the browser that signed up', async () => {
    const { agent, token } = await signUp(' Ada ')
    assert.doesNotMatch((await openVerify(agent, token)).text, /name="name"/)
    assertRedirect(await verifyBy(agent, token), '/kept')
    assert.equal(await nameOf(agent), 'Ada')
  })

  test('is refused with a bad name, alike for each email, and sends nothing', async () => {
    const { person } = await signUp('Ada')
    for (const email of [person.email, newPerson().email]) {
      const answer = await optional.newAgent().post('/auth/signup', { ...newPerson(), email, name: 'x\u202ey' })
      assertPage(answer, 422)
      assert.match(answer.text, NAME_IS_WRONG)
    }
  })

  test('elsewhere its name does not count: a stranger may have typed it', async () => {
    for (const [form, name] of [
      [{}, null],
      [{ name: '' }, null],
      [{ name: 'Grace' }, 'Grace'],
    ] as const) {
      const { token } = await signUp('Buy at evil.example')
      const owner = optional.newAgent()
      const page = await openVerify(owner, token)
      assert.match(page.text, /name="name" type="text" autocomplete="name" value=""/)
      assert.doesNotMatch(page.text, /evil/)
      const { password } = newPerson()
      const refused = await verifyBy(owner, token, { password, name: 'x'.repeat(101) })
      assertPage(refused, 422)
      assert.match(refused.text, NAME_IS_WRONG)
      assert.equal((await verifyBy(owner, token, { password, ...form })).status, 303)
      assert.equal(await nameOf(owner), name)
    }
  })

  test('asks for a name that has become required since', async () => {
    const { agent, token } = await signUp('')
    const later = createUserAgent(required, agent.cookies)
    const answer = await verifyBy(later, token)
    assertPage(answer, 422)
    assert.match(answer.text, NAME_IS_WRONG)
    assert.doesNotMatch(answer.text, /name="password"/)
    assert.equal((await verifyBy(later, token, { name: 'Ada' })).status, 303)
    assert.equal(await nameOf(later), 'Ada')
  })
})

test('§4.12 a take-over leaves nothing of the name of the stranger; a later reset keeps that of the user', async () => {
  const service = await startService({ env: { SVC_NAMES: 'optional' } })
  const { person } = await signedUp(service, { ...newPerson(), name: 'Buy at evil.example' })
  const agent = createUserAgent(service)
  const reset = async () =>
    assert.equal((await resetBy(agent, await resetTokenOf(service, person.email), newPerson().password)).status, 303)
  await reset()
  assert.equal(await nameOf(agent), null)
  assertRedirect(await agent.post('/auth/account/name', { name: 'Ada' }), '/auth/account?done=name')
  await reset()
  assert.equal(await nameOf(agent), 'Ada')
})
