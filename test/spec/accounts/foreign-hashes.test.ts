// Runs on SQLite.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hash as argon2 } from '@node-rs/argon2'
import { loggedIn, logIn, newAgent, newPerson, type Person, signedUp } from '../../support/client/accounts.ts'
import {
  assertCanLogIn,
  assertCannotLogIn,
  assertJsonError,
  assertRedirect,
  assertSignedIn,
} from '../../support/client/assertions.ts'
import { createBackend } from '../../support/client/backend.ts'
import { openDatabase } from '../../support/database/database.ts'
import { startService } from '../../support/service/service.ts'

const service = await startService({ env: { SVC_RATE_LIMIT: 'off' }, fullHashes: true })
const database = await openDatabase(service)

const CURRENT = /^\$argon2id\$v=19\$m=19456,t=2,p=1\$/

const setHash = async ({ email }: Person, hash: string): Promise<void> => {
  const changed = await database.rows('UPDATE users SET password_hash = ? WHERE email = ? RETURNING id', hash, email)
  assert.equal(changed.length, 1)
}

const hashOf = async ({ email }: Person): Promise<string> => {
  const [row] = await database.rows('SELECT password_hash AS hash FROM users WHERE email = ?', email)
  return String(row?.['hash'])
}

/** A user who came from another system with this hash. */
const moved = async (password: string, hash: string): Promise<Person> => {
  const { person } = await signedUp(service, { ...newPerson(), password: 'the password before the move' })
  await setHash(person, hash)
  return { ...person, password }
}

const PASSWORD = 'correct horse battery'

// The same hashes as in the tests of each form, which say where each of them comes from.
const HASHES: Record<string, string> = {
  Argon2: '$argon2d$v=16$m=64,t=2,p=1$c29tZXNhbHQ4$YbnAXeqMyJc/Lf/MkdRwgG4DNDdmNEUHBdodt7CaYyk',
  bcrypt: '$2b$04$.ptNbLcyLAzr4BBgctcqmeOMm8oZUgyrnm6ZeHpI8f3s2Sh22PC1O',
  scrypt: '$scrypt$ln=10,r=8,p=1$ynmPcS4l5PxfixFCiJFSag$/C9fFxzrR5O5gsLVgXXVPpbR7ohRmCZ92mbLuZ0NapU',
  'Better Auth':
    '8542044cd61a3375c3a9d5cacafc6c9b:2c4c197ffa0114cca5abf955a1482e705b04dffa3030a2222395d0ce4f109914b2842f5849f657f3feb7b39bd000bdfcf0dbba0ccb43a123be58c68cd90bc140',
  Django: 'pbkdf2_sha256$1000$lGnRYZbIrH4Uyz5CfLFqmT$80ZJJu8bfP1AntBHVJh+/CahaLZOS4wOoIFeDJoA7sA=',
  'SHA-crypt': '$5$saltstring$Ei5pjI5XWclFQjLDfGOMwlNh9NsZierSPwLy2XgJds6',
}

for (const [form, hash] of Object.entries(HASHES)) {
  test(`${form}: the password logs in and the hash is replaced; a wrong one changes nothing`, async () => {
    const person = await moved(PASSWORD, hash)
    await assertCannotLogIn(service, { ...person, password: `${PASSWORD} ` })
    assert.equal(await hashOf(person), hash)
    await assertCanLogIn(service, person)
    const replaced = await hashOf(person)
    assert.match(replaced, CURRENT)
    await assertCannotLogIn(service, { ...person, password: `${PASSWORD} ` })
    await assertCanLogIn(service, person)
    assert.equal(await hashOf(person), replaced)
  })
}

test('two first logins at once both get a session', async () => {
  const person = await moved(PASSWORD, HASHES['bcrypt'] ?? '')
  const agents = [newAgent(service), newAgent(service), newAgent(service)]
  const answers = await Promise.all(agents.map((agent) => logIn(agent, person)))
  for (const answer of answers) assertRedirect(answer, '/')
  for (const agent of agents) await assertSignedIn(agent)
  assert.match(await hashOf(person), CURRENT)
})

test('rules for new passwords do not apply', async () => {
  // crypt_blowfish, wrapper.c.
  await assertCanLogIn(service, await moved('U*U', '$2a$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW'))
})

const COMPOSED = 'pässwörd genau so'
const decomposed = COMPOSED.normalize('NFD')

// Both made of the decomposed password, by Django 5.2.19 and argon2-cffi 25.1.0.
const OF_DECOMPOSED = {
  'another form': 'pbkdf2_sha256$1000$seasalt$5ok+0HVkAkQfbW0IgobC7arVn+VH5EVswLEL2TiNSzI=',
  'the form and the parameters of svc':
    '$argon2id$v=19$m=19456,t=2,p=1$hq/Ujt+GWdLugrdYcMD8+g$ZwMnm0X9UCncH71fXL8MLSnRQJtWiZ/OHYJJM5TPJBI',
}

for (const [what, hash] of Object.entries(OF_DECOMPOSED)) {
  test(`a password that was hashed as typed is tried as typed, and works in every spelling afterwards: ${what}`, async () => {
    const person = await moved(decomposed, hash)
    await assertCannotLogIn(service, { ...person, password: COMPOSED })
    await assertCanLogIn(service, person)
    assert.notEqual(await hashOf(person), hash)
    await assertCanLogIn(service, { ...person, password: COMPOSED })
    await assertCanLogIn(service, person)
  })
}

test('a password that was hashed in NFC is tried in NFC', async () => {
  // Made with Django 5.2.19 of the composed password.
  const hash = 'pbkdf2_sha256$1000$seasalt$egegV2XWi5cxZyeEiUFcmF4CQMf/ai+Mh25wjPNO3As='
  await assertCanLogIn(service, await moved(decomposed, hash))
})

test('with a hash of Better Auth, the password is tried in NFKC', async () => {
  // Made with @better-auth/utils 0.5.1 of the wide letters; it hashes the narrow ones.
  const hash =
    '00245b72f462a2dfb659ada8a118120b:60b3b5c3746bfeef7b1f76d4c43183aa8a1d8442436bdc77bbc7c780ad634f46aaccb961e5fc798713b4477de36fa47394d7eb3405dcc72ae793da61ae9d0a96'
  const person = await moved('\uFF46\uFF55\uFF4C\uFF4C width \uFB01ne', hash)
  await assertCanLogIn(service, person)
  await assertCanLogIn(service, await moved('full width fine', hash))
})

test('re-authentication replaces the hash too', async () => {
  const { person } = await signedUp(service)
  const agent = await loggedIn(service, person)
  await setHash(person, HASHES['bcrypt'] ?? '')
  assertRedirect(await agent.post('/auth/account/confirm', { password: PASSWORD }), '/auth/account?done=confirmed')
  assert.match(await hashOf(person), CURRENT)
})

test('a hash that cannot be read matches nothing', async () => {
  for (const hash of [
    '',
    'plain text',
    '$2x$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW',
    `$2b$31$${'.'.repeat(53)}`,
  ]) {
    const person = await moved('plain text', hash)
    await assertCannotLogIn(service, person)
    assert.equal(await hashOf(person), hash)
  }
})

test('a hash that holds more than half of the memory of a container is refused, and never computed', async (t) => {
  const memory = t.mock.method(process, 'constrainedMemory', () => 2 ** 28)
  const small = await startService({ t, env: { SVC_RATE_LIMIT: 'off' } })
  const stored = await openDatabase(small, t)
  const backend = await createBackend(small, ['users:write', 'credentials:write'])
  const [PAGES, ALL_OF_IT] = [131_072, 262_144]
  const large = await argon2(PASSWORD, { memoryCost: ALL_OF_IT, timeCost: 1, parallelism: 1 })
  const fitting = await argon2(PASSWORD, { memoryCost: PAGES, timeCost: 1, parallelism: 1 })
  const refused = await backend.call('POST', '/users', { email: newPerson().email, password_hash: large })
  assert.match(assertJsonError(refused, 422, 'unprocessable'), /256 MiB.*up to 128 MiB and 10 s/)
  assert.equal(refused.json<{ error: { field: string } }>().error.field, 'password_hash')
  const person = { ...newPerson(), password: PASSWORD }
  assert.equal((await backend.call('POST', '/users', { email: person.email, password_hash: fitting })).status, 201)
  await assertCanLogIn(small, person)
  // As an import on a larger machine has left it.
  await stored.rows('UPDATE users SET password_hash = ? WHERE email = ?', large, person.email)
  await assertCannotLogIn(small, person)
  const failure = small.logLines().findLast(({ event }) => event === 'login')
  assert.equal(failure?.reason, 'password_uncheckable')
  // 0 is what Node says of a machine without a limit, or more than there is.
  for (const unlimited of [0, 2 ** 63]) {
    memory.mock.mockImplementation(() => unlimited)
    await small.restart()
    await stored.rows('UPDATE users SET password_hash = ? WHERE email = ?', large, person.email)
    await assertCanLogIn(small, person)
  }
})
