// Runs on SQLite and PostgreSQL.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { currentUser, newAgent, newPerson, signedUp } from '../../support/client/accounts.ts'
import { createAuthenticator } from '../../support/passkeys/authenticator.ts'
import { addPasskey, logInWithPasskey } from '../../support/passkeys/passkeys.ts'
import { runCommandOf } from '../../support/service/operator-commands.ts'
import { startService } from '../../support/service/service.ts'

const service = await startService()
const origin = service.url

const withPasskey = async () => {
  const { agent, person } = await signedUp(service)
  const authenticator = createAuthenticator({ origin })
  const { name } = await addPasskey(agent, authenticator)
  return { agent, person, authenticator, name, id: (await currentUser(agent)).id }
}

describe('§8.1 svc users set-password', () => {
  test('names the passkeys that stay', async () => {
    const { person, authenticator, name } = await withPasskey()
    const { code, stderr } = await service.cli(['users', 'set-password', person.email], {
      input: `${newPerson().password}\n`,
    })
    assert.equal(code, 0, stderr)
    assert.match(stderr, new RegExp(`1 passkey \\(${name}\\) of the account still signs in`))
    assert.match(stderr, /svc users reset-second-factor \S+ --passkeys/)
    const json = await runCommandOf(service, ['users', 'set-password', person.email, '--json'], newPerson().password)
    assert.deepEqual(Object(JSON.parse(json)).passkeys, [name])
    assert.equal((await logInWithPasskey(newAgent(service), authenticator)).status, 200)
  })
})
