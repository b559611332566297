// Runs on SQLite.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newAgent, signedUp } from '../../support/client/accounts.ts'
import { assertRedirect } from '../../support/client/assertions.ts'
import { startService } from '../../support/service/service.ts'

const PASSWORD = '/auth/.well-known/change-password'
const PASSKEYS = '/auth/.well-known/passkey-endpoints'

const service = await startService({ env: { SVC_BASE_URL: 'https://app.example.com' } })
const local = await startService()

test('§4.2 /auth/.well-known/change-password leads to the form that changes the password', async () => {
  assertRedirect(await newAgent(local).get(PASSWORD), '/auth/account#change-password')
  const { agent } = await signedUp(local)
  assertRedirect(await agent.get(PASSWORD), '/auth/account#change-password')
  assert.match((await agent.get('/auth/account')).text, / id="change-password"/)
})

test('§4.1 /auth/.well-known/passkey-endpoints names the pages for passkeys by absolute addresses', async () => {
  const answer = await newAgent(service).get(PASSKEYS)
  assert.deepEqual([answer.status, answer.headers['content-type']], [200, 'application/json'])
  const page = 'https://app.example.com/auth/account#passkeys'
  assert.deepEqual(answer.json(), { enroll: page, manage: page })
  const { agent } = await signedUp(local)
  assert.match((await agent.get('/auth/account')).text, / id="passkeys"/)
})

test('each is 404 while its setting is off', async (t) => {
  const withoutPasswords = newAgent(await startService({ t, env: { SVC_PASSWORDS: 'off' } }))
  assert.equal((await withoutPasswords.get(PASSWORD)).status, 404)
  assert.equal((await withoutPasswords.get(PASSKEYS)).status, 200)
  const withoutPasskeys = newAgent(await startService({ t, env: { SVC_PASSKEYS: 'off' } }))
  assert.equal((await withoutPasskeys.get(PASSKEYS)).status, 404)
  assert.equal((await withoutPasskeys.get(PASSWORD)).status, 303)
})
