// Runs on SQLite and PostgreSQL.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { currentUser } from '../../support/client/accounts.ts'
import { createUserAgent } from '../../support/client/user-agent.ts'
import { openDatabase } from '../../support/database/database.ts'
import { createAuthenticator } from '../../support/passkeys/authenticator.ts'
import { addPasskey, logInWithPasskey } from '../../support/passkeys/passkeys.ts'
import { startOpenIdProvider } from '../../support/provider/openid-provider.ts'
import { newOpenIdUser } from '../../support/provider/openid-provider-users.ts'
import { startServiceWith } from '../../support/provider/provider-service.ts'
import { signInBy } from '../../support/provider/provider-sign-in.ts'

const corp = await startOpenIdProvider()
const service = await startServiceWith({ corp })
const database = await openDatabase(service)

/** A user with a provider, a passkey, and no password. */
const withBoth = async () => {
  const person = newOpenIdUser()
  const agent = createUserAgent(service)
  await signInBy(agent, 'corp', (url) => corp.visit(url, { person }))
  const authenticator = createAuthenticator({ origin: service.url })
  const passkey = await addPasskey(agent, authenticator)
  const { id } = await currentUser(agent)
  const [identity] = await database.rows(`SELECT id FROM identities WHERE user_id = ?`, id)
  const unlink = () => agent.post('/auth/account/identities', { identity_id: String(identity?.id) })
  const remove = () => agent.post('/auth/account/passkeys', { passkey_id: passkey.id, remove: '1' })
  return { agent, authenticator, id, unlink, remove }
}

test('a passkey is a way to sign in: the provider can be disconnected, and the passkey then cannot be removed', async () => {
  const { agent, authenticator, unlink, remove } = await withBoth()
  assert.match((await agent.get('/auth/account')).text, /name="identity_id"/)
  assert.equal((await unlink()).status, 303)
  assert.equal((await remove()).status, 409)
  assert.equal((await logInWithPasskey(createUserAgent(service), authenticator)).status, 200)
})

test('of a provider and a passkey that are removed at once, one stays', async () => {
  const { unlink, remove, id } = await withBoth()
  const statuses = (await Promise.all([unlink(), remove()])).map(({ status }) => status)
  assert.deepEqual(
    statuses.toSorted((a, b) => a - b),
    [303, 409],
  )
  const left = await database.rows(
    'SELECT id FROM identities WHERE user_id = ? UNION ALL SELECT id FROM passkeys WHERE user_id = ?',
    id,
    id,
  )
  assert.equal(left.length, 1)
})

test('a passkey does not count while passkeys are off, nor a provider that is not configured', async (t) => {
  const { agent, unlink, remove, id } = await withBoth()
  await service.restart({ env: { SVC_PASSKEYS: 'off' } })
  t.after(() => service.restart({ env: { SVC_PASSKEYS: 'on' } }))
  assert.equal((await unlink()).status, 409)
  assert.doesNotMatch((await agent.get('/auth/account')).text, /name="identity_id"/)
  await service.restart({ env: { SVC_PASSKEYS: 'on' } })
  await database.rows(`UPDATE identities SET provider = 'gone' WHERE user_id = ?`, id)
  assert.equal((await remove()).status, 409)
})
