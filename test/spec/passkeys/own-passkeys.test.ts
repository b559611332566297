// Runs on SQLite.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { currentUser, loggedIn, newAgent, newPerson, signedUp } from '../../support/client/accounts.ts'
import type { UserAgent } from '../../support/client/user-agent.ts'
import { turnedClock } from '../../support/clock/turned-clock.ts'
import { openDatabase } from '../../support/database/database.ts'
import { createAuthenticator } from '../../support/passkeys/authenticator.ts'
import {
  addPasskey,
  logInWithPasskey,
  postJson,
  registrationOptions,
  tryToAddPasskey,
} from '../../support/passkeys/passkeys.ts'
import { startService } from '../../support/service/service.ts'

const clock = turnedClock()
const service = await startService({ clock })
const origin = service.url
const PATH = '/auth/account/passkeys'

const withPasskey = async () => {
  const { agent, person } = await signedUp(service)
  const authenticator = createAuthenticator({ origin })
  return { agent, person, authenticator, passkey: await addPasskey(agent, authenticator) }
}

const namesOf = async (agent: UserAgent): Promise<unknown[]> => {
  const { id } = await currentUser(agent)
  const rows = await (await openDatabase(service)).rows(`SELECT name FROM passkeys WHERE user_id = '${id}' ORDER BY id`)
  return rows.map(({ name }) => name)
}

describe('adding a passkey', () => {
  test('asks for a discoverable one with user verification, and names those that are there', async () => {
    const { agent, person, authenticator } = await withPasskey()
    const options = await registrationOptions(agent)
    assert.deepEqual(
      { ...options, challenge: '', user: { ...options.user, id: '' } },
      {
        challenge: '',
        rp: { id: 'localhost', name: options.rp.name },
        user: { id: '', name: person.email, displayName: person.email },
        pubKeyCredParams: [-7, -8, -257].map((alg) => ({ type: 'public-key', alg })),
        timeout: 300_000,
        authenticatorSelection: { residentKey: 'required', requireResidentKey: true, userVerification: 'required' },
        attestation: 'none',
        excludeCredentials: [{ type: 'public-key', id: authenticator.id, transports: ['hybrid', 'internal'] }],
      },
    )
    assert.doesNotMatch(options.user.id, /^[0-9a-f-]{36}$/)
  })

  test('the user handle says nothing about the user, and is the same for all of their passkeys', async () => {
    const { agent, authenticator } = await withPasskey()
    const second = createAuthenticator({ origin })
    await addPasskey(agent, second)
    assert.equal(second.userHandle, authenticator.userHandle)
    const { id } = await currentUser(agent)
    assert.ok(
      !Buffer.from(second.userHandle ?? '', 'base64url')
        .toString('hex')
        .includes(id.replaceAll('-', '')),
    )
  })

  test('names it by the kind of authenticator, with a number if there are several, or as the user says', async () => {
    const { agent } = await signedUp(service)
    const bitwarden = { aaguid: 'd548826e-79b4-db40-a3d8-11116f7e8349' }
    for (const ways of [bitwarden, bitwarden, {}, {}]) await addPasskey(agent, createAuthenticator({ origin }), ways)
    const named = await tryToAddPasskey(agent, createAuthenticator({ origin }), {}, { name: '  My näme 🔑 ' })
    assert.equal(named.json<{ name: string }>().name, 'My näme 🔑')
    const names = ['Bitwarden', 'Bitwarden 2', 'Unknown device', 'Unknown device 2', 'My näme 🔑']
    assert.deepEqual(await namesOf(agent), names)
  })

  test('refuses a name that cannot be shown, before it stores anything', async () => {
    const { agent } = await signedUp(service)
    for (const name of ['', '  ', 'x'.repeat(65), 'two\nlines', '\u0000', 7, ['x'], { a: 1 }]) {
      const answer = await tryToAddPasskey(agent, createAuthenticator({ origin }), {}, { name })
      assert.equal(answer.status, 422, JSON.stringify(name))
      assert.match(answer.text, /"field":"name"/)
    }
    assert.deepEqual(await namesOf(agent), [])
    assert.equal((await tryToAddPasskey(agent, createAuthenticator({ origin }), {}, { name: null })).status, 201)
  })

  test('needs a session, and one that has authenticated recently', async () => {
    const stranger = newAgent(service)
    assert.equal((await postJson(stranger, '/auth/passkeys/register/options')).status, 401)
    assert.equal((await postJson(stranger, '/auth/passkeys/register', {})).status, 401)
    const { agent } = await signedUp(service)
    const options = await registrationOptions(agent)
    await clock.turnTo(11 * 60_000)
    const late = await postJson(agent, '/auth/passkeys/register/options')
    assert.deepEqual([late.status, late.location], [403, '/auth/account/confirm'])
    const response = createAuthenticator({ origin }).register(options)
    assert.equal((await postJson(agent, '/auth/passkeys/register', response)).status, 403)
    await clock.turnTo(0)
  })

  test('is more than one factor: other changes follow in the same session, and a password alone is not enough', async () => {
    const { agent, person, passkey } = await withPasskey()
    await addPasskey(agent, createAuthenticator({ origin }))
    const other = await loggedIn(service, person)
    const refused = await postJson(other, '/auth/passkeys/register/options')
    assert.deepEqual([refused.status, refused.location], [403, '/auth/account/confirm?acr=mfa'])
    const form = await other.post(PATH, { passkey_id: passkey.id, remove: '1' })
    assert.match(form.location ?? '', /^\/auth\/account\/confirm/)
  })

  test('ends the other sessions', async () => {
    const { agent, person } = await signedUp(service)
    const other = await loggedIn(service, person)
    await addPasskey(agent, createAuthenticator({ origin }))
    assert.equal((await other.get('/auth/api/v1/user')).status, 401)
    assert.equal((await agent.get('/auth/api/v1/user')).status, 200)
  })

  test('comes with recovery codes the first time, which are shown once', async () => {
    const { agent } = await signedUp(service)
    const first = await tryToAddPasskey(agent, createAuthenticator({ origin }))
    assert.deepEqual([first.status, first.location], [201, '/auth/account/second-factor'])
    const page = await agent.get('/auth/account/second-factor')
    assert.equal(page.text.match(/<li><code>/g)?.length, 10, page.text)
    assert.doesNotMatch((await agent.get('/auth/account/second-factor')).text, /<li><code>/)
    const second = await tryToAddPasskey(agent, createAuthenticator({ origin }))
    assert.deepEqual([second.status, second.location], [201, '/auth/account?done=passkey_added#signing-in'])
  })

  test('is refused from the twenty-first on', async () => {
    const { agent } = await signedUp(service)
    const { id } = await currentUser(agent)
    await addPasskey(agent, createAuthenticator({ origin }))
    const options = await registrationOptions(agent)
    const database = await openDatabase(service)
    const rows = Array.from(
      { length: 19 },
      (_, index) => `('k${index}${id}', '${id}', 'c${index}${id}', '', 'n', '', '[]', 0, 0, 0, 0)`,
    )
    await database.rows(
      `INSERT INTO passkeys (id, user_id, credential_id, public_key, name, aaguid, transports, sign_count, backup_eligible,
         backed_up, created_at) VALUES ${rows.join(', ')}`,
    )
    assert.equal((await postJson(agent, '/auth/passkeys/register/options')).status, 409)
    const response = createAuthenticator({ origin }).register(options)
    assert.equal((await postJson(agent, '/auth/passkeys/register', response)).status, 409)
  })
})

describe('a passkey is renamed and removed', () => {
  test('by its owner, on a page that works without scripts', async () => {
    const { agent, passkey, authenticator } = await withPasskey()
    const renamed = await agent.post(PATH, { passkey_id: passkey.id, name: ' Key <1> ' })
    assert.deepEqual([renamed.status, renamed.location], [303, '/auth/account?done=passkey_renamed#signing-in'])
    assert.deepEqual(await namesOf(agent), ['Key <1>'])
    const back = await agent.post(PATH, { passkey_id: passkey.id, remove: '1', return_to: '/start' })
    assert.deepEqual([back.status, back.location], [303, '/start'])
    assert.deepEqual(await namesOf(agent), [])
    assert.equal((await logInWithPasskey(newAgent(service), authenticator)).status, 401)
    assert.equal((await agent.post(PATH, { passkey_id: passkey.id, remove: '1' })).status, 404)
  })

  test('not by anybody else, and not with fields that say nothing', async () => {
    const { agent, passkey } = await withPasskey()
    const { agent: other } = await signedUp(service)
    assert.equal((await other.post(PATH, { passkey_id: passkey.id, remove: '1' })).status, 404)
    assert.equal((await other.post(PATH, { passkey_id: passkey.id, name: 'Mine' })).status, 404)
    assert.equal((await agent.post(PATH, { remove: '1' })).status, 400)
    assert.equal((await agent.post(PATH, { passkey_id: passkey.id })).status, 400)
    assert.equal((await agent.post(PATH, { passkey_id: [passkey.id, passkey.id], remove: '1' })).status, 400)
    assert.equal((await agent.post(PATH, { passkey_id: passkey.id, name: 'x'.repeat(65) })).status, 422)
    assert.equal(
      (await agent.post(PATH, { passkey_id: passkey.id, remove: '1', return_to: '//evil.example' })).status,
      400,
    )
    assert.deepEqual(await namesOf(agent), ['Unknown device'])
  })

  test('which ends the other sessions, and takes recovery codes along that stand for nothing any more', async () => {
    const { agent, passkey, authenticator } = await withPasskey()
    const other = newAgent(service)
    await logInWithPasskey(other, authenticator)
    await addPasskey(agent, createAuthenticator({ origin }))
    const { id } = await currentUser(agent)
    const codes = async () =>
      (await (await openDatabase(service)).rows(`SELECT id FROM recovery_codes WHERE user_id = '${id}'`)).length
    await agent.post(PATH, { passkey_id: passkey.id, remove: '1' })
    assert.equal((await other.get('/auth/api/v1/user')).status, 401)
    assert.equal(await codes(), 10)
    const [last] = await (await openDatabase(service)).rows(`SELECT id FROM passkeys WHERE user_id = '${id}'`)
    await agent.post(PATH, { passkey_id: String(last?.id), remove: '1' })
    assert.equal(await codes(), 0)
  })

  test('but not the last way to sign in', async () => {
    const { agent, passkey } = await withPasskey()
    const { id } = await currentUser(agent)
    await (await openDatabase(service)).rows(`UPDATE users SET password_hash = NULL WHERE id = '${id}'`)
    const refused = await agent.post(PATH, { passkey_id: passkey.id, remove: '1' })
    assert.equal(refused.status, 409, refused.text)
    assert.equal((await namesOf(agent)).length, 1)
    const second = await addPasskey(agent, createAuthenticator({ origin }))
    const both = [passkey.id, second.id].map((passkey_id) => agent.post(PATH, { passkey_id, remove: '1' }))
    const statuses = (await Promise.all(both)).map(({ status }) => status)
    assert.deepEqual(
      statuses.toSorted((a, b) => a - b),
      [303, 409],
    )
  })
})

describe('a session is confirmed', () => {
  test('by a passkey of its user, and by no other', async () => {
    const { agent, person, authenticator } = await withPasskey()
    const stranger = await withPasskey()
    const other = await loggedIn(service, person)
    const before = await currentUser(other)
    const refused = await logInWithPasskey(other, stranger.authenticator, {}, '?confirm=1')
    assert.equal(refused.status, 401)
    assert.deepEqual(await currentUser(other), before)
    const confirmed = await logInWithPasskey(other, authenticator, {}, '?confirm=1&return_to=%2Fapp')
    assert.deepEqual(confirmed.json(), { redirect_to: '/app' })
    assert.equal((await postJson(other, '/auth/passkeys/register/options')).status, 200)
    const own = await logInWithPasskey(agent, authenticator, {}, '?confirm=1')
    assert.deepEqual(own.json(), { redirect_to: '/auth/account?done=confirmed#done' })
    assert.equal((await logInWithPasskey(newAgent(service), authenticator, {}, '?confirm=1')).status, 401)
  })
})

describe('an account that goes', () => {
  test('takes its passkeys along, which another account can have then', async () => {
    const { agent, person, authenticator } = await withPasskey()
    const gone = await agent.post('/auth/account/delete', { password: person.password })
    assert.equal(gone.status, 303, gone.text)
    assert.equal((await logInWithPasskey(newAgent(service), authenticator)).status, 401)
    const { agent: next } = await signedUp(service, newPerson())
    assert.equal((await tryToAddPasskey(next, authenticator)).status, 201)
  })
})
