// Runs on SQLite.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { currentUser, logIn, newAgent, newPerson, signUp } from '../../support/client/accounts.ts'
import { createAuthenticator } from '../../support/passkeys/authenticator.ts'
import { addPasskey, logInWithPasskey, postJson, registrationOptions } from '../../support/passkeys/passkeys.ts'
import { claimsOf } from '../../support/service/access-tokens.ts'
import { runCommandOf, setPassword } from '../../support/service/operator-commands.ts'
import { startService } from '../../support/service/service.ts'

const service = await startService({ env: { SVC_SECOND_FACTOR: 'required' } })
const origin = service.url
const REGISTER = '/auth/passkeys/register'

/** A new user on the page that asks for a second factor. */
const enrolling = async (returnTo = '/start') => {
  const agent = newAgent(service)
  const person = newPerson()
  const answer = await signUp(agent, { ...person, return_to: returnTo })
  assert.match(answer.location ?? '', /^\/auth\/login\/enrol/, answer.text)
  return { agent, person }
}

test('a passkey ends a login that must set something up, with a session that says so', async () => {
  const { agent, person } = await enrolling()
  assert.equal((await agent.get('/auth/api/v1/user')).status, 401)
  const authenticator = createAuthenticator({ origin })
  const answer = await postJson(agent, REGISTER, authenticator.register(await registrationOptions(agent)))
  assert.equal(answer.status, 201, answer.text)
  assert.equal(answer.location, '/auth/account/second-factor?return_to=%2Fstart')
  assert.equal((await currentUser(agent)).email, person.email)
  assert.deepEqual(claimsOf(agent.cookies.get('svc_access') ?? '').amr, ['hwk', 'mfa'])
  const page = await agent.get(answer.location ?? '')
  assert.equal(page.text.match(/<li><code>/g)?.length, 10)
  assert.match(page.text, /class="box done"[^>]*>Passkey added\./)
  await addPasskey(agent, createAuthenticator({ origin }))
  const visitor = newAgent(service)
  assert.equal((await logInWithPasskey(visitor, authenticator)).status, 200)
})

test('without recovery codes, the page speaks of the passkey alone', async () => {
  const { agent, person } = await enrolling()
  await addPasskey(agent, createAuthenticator({ origin }))
  const ask = async () => {
    const visitor = newAgent(service)
    return visitor.get((await logIn(visitor, person)).location ?? '')
  }
  assert.match((await ask()).text, /Use your passkey or a recovery code\.[^]*<input id="recovery_code"/)
  await runCommandOf(service, ['users', 'reset-second-factor', person.email])
  const { text } = await ask()
  assert.match(text, /<p>Use your passkey\.</)
  assert.doesNotMatch(text, /recovery_code|or enter/)
})

test('a login is used once, also by two requests at once, and only in its browser', async () => {
  const { agent, person } = await enrolling()
  const [one, two] = [agent.copy(), agent.copy()]
  const responses = [
    createAuthenticator({ origin }).register(await registrationOptions(agent)),
    createAuthenticator({ origin }).register(await registrationOptions(agent)),
  ]
  const cookies = agent.cookies.get('svc_pending') ?? ''
  const answers = await Promise.all([one, two].map((copy, index) => postJson(copy, REGISTER, responses[index])))
  assert.deepEqual(
    answers.map(({ status }) => status).toSorted((a, b) => a - b),
    [201, 401],
  )
  const thief = newAgent(service)
  thief.cookies.set('svc_pending', cookies)
  assert.equal((await postJson(thief, `${REGISTER}/options`)).status, 401)
  const asked = await logIn(newAgent(service), person)
  assert.match(asked.location ?? '', /^\/auth\/login\/code/)
})

test('a login that has ended adds nothing', async () => {
  const { agent, person } = await enrolling()
  const response = createAuthenticator({ origin }).register(await registrationOptions(agent))
  await setPassword(service, person.email, `other ${person.password}`)
  assert.equal((await postJson(agent, REGISTER, response)).status, 401)
  const again = newAgent(service)
  await logIn(again, { ...person, password: `other ${person.password}` })
  const own = createAuthenticator({ origin }).register(await registrationOptions(again))
  assert.equal((await postJson(again, REGISTER, own)).status, 201)
})

test('a login that waits for a code, not for a set-up, adds no passkey', async () => {
  const { agent, person } = await enrolling()
  await postJson(agent, REGISTER, createAuthenticator({ origin }).register(await registrationOptions(agent)))
  const thief = newAgent(service)
  assert.match((await logIn(thief, person)).location ?? '', /^\/auth\/login\/code/)
  assert.equal((await postJson(thief, `${REGISTER}/options`)).status, 401)
  assert.equal(thief.cookies.get('svc_access'), undefined)
})
