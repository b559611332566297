// Runs on SQLite.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createAuth, hasMfa } from '../../sdk/src/server.ts'
import { currentUser, signedUp } from '../support/client/accounts.ts'
import type { UserAgent } from '../support/client/user-agent.ts'
import { openDatabase } from '../support/database/database.ts'
import { createAuthenticator } from '../support/passkeys/authenticator.ts'
import { addPasskey } from '../support/passkeys/passkeys.ts'
import { codeAt } from '../support/second-factor/authenticator-app.ts'
import { setUpApp } from '../support/second-factor/app-set-up.ts'
import { startService } from '../support/service/service.ts'

const service = await startService()
const auth = createAuth({ url: service.url, issuer: service.url })

/** The user of a request for a page of the application. */
const userOf = async (agent: UserAgent) =>
  (await auth.getUser({ headers: { cookie: agent.cookies.header('/') ?? '' } })) ?? assert.fail('nobody is signed in')

test('an application asks for a second factor, and the user comes back with one', async () => {
  const { agent, person } = await signedUp(service)
  assert.deepEqual([(await userOf(agent)).amr, hasMfa(await userOf(agent))], [['pwd'], false])
  const { secret } = await setUpApp(agent, Date.now())
  assert.equal(hasMfa(await userOf(agent), { maxAge: 600 }), true, 'setting one up proves it')

  // As after a login in a trusted browser.
  const { id } = await currentUser(agent)
  const database = await openDatabase(service)
  await database.rows('UPDATE sessions SET amr = ? WHERE user_id = ? RETURNING id', 'pwd', id)
  assert.equal(hasMfa(await userOf(agent)), false)

  const address = auth.stepUpUrl('/payments?id=1&to=%26')
  const page = await agent.get(address)
  assert.equal(page.status, 200, page.text)
  const fields = { return_to: '/payments?id=1&to=%26', acr: 'mfa', password: person.password }
  const refused = await agent.post('/auth/account/confirm', { ...fields, code: '' })
  assert.ok(refused.status >= 400, String(refused.status))
  assert.equal(hasMfa(await userOf(agent)), false)
  const confirmed = await agent.post('/auth/account/confirm', { ...fields, code: codeAt(secret, Date.now() + 30_000) })
  assert.deepEqual([confirmed.status, confirmed.location], [303, '/payments?id=1&to=%26'], confirmed.text)

  const user = await userOf(agent)
  assert.deepEqual([user.amr, hasMfa(user, { maxAge: 600 })], [['pwd', 'otp', 'mfa'], true])
  const claims = await auth.verifyAccessToken(agent.cookies.get('svc_access') ?? '')
  assert.deepEqual([claims.amr, claims.auth_time], [user.amr, user.authTime])
  assert.equal(hasMfa(claims, { maxAge: 600 }), true)
  assert.equal((await agent.get(address)).location, '/payments?id=1&to=%26', 'a fresh proof is not asked for again')
})

test('an application that verifies tokens itself gets one with the proof, and does not ask in a circle', async () => {
  const { agent } = await signedUp(service)
  const verified = async () => hasMfa(await auth.verifyAccessToken(agent.cookies.get('svc_access') ?? ''))
  await addPasskey(agent, createAuthenticator({ origin: service.url }))
  assert.equal(hasMfa(await userOf(agent)), true, 'the session has it at once')
  const answer = await agent.get(auth.stepUpUrl('/payments'))
  assert.deepEqual([answer.status, answer.location], [303, '/payments'])
  assert.equal(await verified(), true, 'and so has the token, on the way')
  const head = await agent.send({ method: 'HEAD', path: auth.stepUpUrl('/payments') })
  assert.deepEqual(head.setCookies, [])
})
