// Runs on SQLite and PostgreSQL.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { currentUser, newAgent, signedUp } from '../../support/client/accounts.ts'
import { type Algorithm, createAuthenticator } from '../../support/passkeys/authenticator.ts'
import { addPasskey, logInWithPasskey, tryToAddPasskey } from '../../support/passkeys/passkeys.ts'
import { startService } from '../../support/service/service.ts'

const service = await startService()
const origin = service.url

for (const algorithm of ['ES256', 'RS256', 'EdDSA'] satisfies Algorithm[]) {
  test(`a passkey of ${algorithm} is added and signs in`, async () => {
    const { agent } = await signedUp(service)
    const authenticator = createAuthenticator({ origin, algorithm })
    const { name } = await addPasskey(agent, authenticator)
    assert.equal(name, 'Unknown device')
    const visitor = newAgent(service)
    const answer = await logInWithPasskey(visitor, authenticator, {}, '?return_to=%2Fstart%3Fa%3D1')
    assert.equal(answer.status, 200, answer.text)
    assert.deepEqual(answer.json(), { redirect_to: '/start?a=1' })
    assert.equal((await currentUser(visitor)).id, (await currentUser(agent)).id)
  })
}

test('a passkey is of one account', async () => {
  const authenticator = createAuthenticator({ origin })
  const { agent } = await signedUp(service)
  await addPasskey(agent, authenticator)
  const { agent: other } = await signedUp(service)
  assert.equal((await tryToAddPasskey(other, authenticator)).status, 409)
})
