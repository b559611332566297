// Runs on SQLite and PostgreSQL.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { readFileSync, statSync } from 'node:fs'
import path from 'node:path'
import { describe, test } from 'node:test'
import { hash } from '@node-rs/argon2'
import { currentUser, newPerson, signedUp } from '../../support/client/accounts.ts'
import { assertCanLogIn } from '../../support/client/assertions.ts'
import { openDatabase } from '../../support/database/database.ts'
import { startWebhookReceiver } from '../../support/network/webhook-receiver.ts'
import { exportLines, importJson, importLines, type Line, toLines } from '../../support/service/imports.ts'
import { showUser } from '../../support/service/operator-commands.ts'
import { storeCodes, storePasskey } from '../../support/second-factor/stored-factors.ts'
import { startService } from '../../support/service/service.ts'

const receiver = await startWebhookReceiver()
const service = await startService({
  env: {
    SVC_WEBHOOK_URL: receiver.url,
    SVC_WEBHOOK_SECRET: 'a secret of enough bytes',
    SVC_OAUTH_PROVIDERS: 'google,microsoft',
    SVC_OAUTH_GOOGLE_CLIENT_ID: 'client',
    SVC_OAUTH_GOOGLE_CLIENT_SECRET: 'secret',
    SVC_OAUTH_MICROSOFT_CLIENT_ID: 'client',
    SVC_OAUTH_MICROSOFT_CLIENT_SECRET: 'secret',
  },
})

const cheapHash = (password: string) => hash(Buffer.from(password), { memoryCost: 8, timeCost: 1, parallelism: 1 })

const newEmail = () => newPerson().email
const exported = async (email: string): Promise<Line | undefined> =>
  (await exportLines(service)).find((line) => line.email === email)
const eventsOf = (id: string) =>
  receiver.deliveries.filter(({ event }) => event.data.user_id === id).map(({ event }) => event.type)

describe('§8.4 svc users import', () => {
  test('gives the new users their places in the list, so that no request has to', async () => {
    const users = Array.from({ length: 600 }, () => ({ email: newEmail() }))
    assert.equal((await importJson(service, users)).imported, 600)
    const database = await openDatabase(service)
    const without = await database.rows('SELECT id FROM users WHERE position IS NULL')
    assert.deepEqual(without, [])
  })

  test('a user with everything, who can log in', async () => {
    const { email, password } = newPerson()
    const id = randomUUID()
    const name = `n${id.slice(0, 8)}`
    const line = {
      id,
      email: email.toUpperCase(),
      username: name,
      roles: ['editor', 'billing'],
      password_hash: await cheapHash(password),
      email_verified: true,
      disabled: false,
      created_at: '2019-05-06T07:08:09.010Z',
      identities: [{ provider: 'google', subject: id, email }],
    }
    const { imported, code } = await importJson(service, [line])
    assert.deepEqual([imported, code], [1, 0])
    const identities = [{ provider: 'google', issuer: 'https://accounts.google.com', subject: id, email }]
    assert.deepEqual(await exported(line.email), { ...line, identities })
    await assertCanLogIn(service, { email, password, username: name })
    await receiver.receivedEvent(({ event }) => event.type === 'user.created' && event.data.user_id === id)
  })

  test('the email is enough: the username is made from it, and nobody can enter before an invitation', async () => {
    const local = `local${randomUUID().slice(0, 6)}`
    const emails = ['a', 'b', 'c'].map((domain) => `${local}@${domain}.example`)
    const wanted = { email: newEmail(), username: local }
    const { imported } = await importJson(service, [...emails.map((email) => ({ email })), wanted])
    assert.equal(imported, 4)
    assert.equal((await showUser(service, wanted.email)).username, local, 'a later line has this username')
    const users = await Promise.all(emails.map((email) => showUser(service, email)))
    for (const { username } of users) assert.match(username, new RegExp(`^${local}\\d+$`))
    const [user] = users as unknown as { invited: boolean; email_verified: boolean; self_made: boolean }[]
    assert.deepEqual(
      { invited: user?.invited, verified: user?.email_verified, selfMade: user?.self_made },
      { invited: true, verified: false, selfMade: false },
    )
  })

  test('a plain password is hashed, and its rules hold', async () => {
    const { email, password, username } = newPerson()
    const { stderr, imported } = await importJson(service, [{ email, password }])
    assert.equal(imported, 1)
    assert.match(stderr, /1 user has a plain password\. Hashing takes about 10 ms/)
    assert.match(String((await exported(email))?.password_hash), /^\$argon2id\$v=19\$m=19456,t=2,p=1\$/)
    await assertCanLogIn(service, { email, password, username })
    const refused = await importLines(service, [{ email: newEmail(), password: 'password1' }])
    assert.match(refused.stderr, /line 1: password: This password is on the list/)
    assert.doesNotMatch(refused.stderr, /password1/)
  })

  test('a disabled user cannot log in', async () => {
    const { email, password } = newPerson()
    await importJson(service, [{ email, password_hash: await cheapHash(password), disabled: true }])
    assert.equal((await showUser(service, email)).disabled, true)
  })

  test('run again, it changes nothing and gives the same ids', async () => {
    const [first, second] = [newEmail(), newEmail()]
    const id = randomUUID()
    const lines = [
      { email: first, id: 'auth0|abc', roles: ['x'] },
      { email: second, id: id.toUpperCase() },
    ]
    const idsFile = `ids-${id}.jsonl`
    const readIds = () => readFileSync(path.join(service.directory, idsFile), 'utf8')
    await importJson(service, lines, ['--ids', idsFile])
    const ids = readIds()
    const user = await showUser(service, first)
    assert.deepEqual(
      ids
        .split('\n')
        .slice(0, -1)
        .map((line) => JSON.parse(line) as object),
      [
        { line: 1, source_id: 'auth0|abc', id: user.id },
        { line: 2, source_id: id.toUpperCase(), id },
      ],
    )
    assert.equal(statSync(path.join(service.directory, idsFile)).mode & 0o777, 0o600)
    const before = await exportLines(service)
    const changed = [
      { email: first.toUpperCase(), id: 'auth0|abc', roles: ['y'] },
      { ...lines[1], email: newEmail() },
    ]
    const again = await importJson(service, changed, ['--ids', idsFile])
    assert.deepEqual([again.imported, again.existing, again.code], [0, 2, 0])
    assert.equal(readIds(), ids.replace(/"line":1/, '"line":1'))
    assert.deepEqual(await exportLines(service), before)
  })

  test('--dry-run says what would happen and changes nothing', async () => {
    const { person } = await signedUp(service)
    const before = await exportLines(service)
    const lines = [{ email: newEmail() }, { email: person.email }, { email: 'no address' }]
    const result = await importJson(service, lines, ['--dry-run'])
    assert.deepEqual([result.imported, result.existing, result.failed, result.code], [1, 1, 1, 1])
    assert.deepEqual(await exportLines(service), before)
    const withIds = await importLines(service, lines, ['--dry-run', '--ids', 'ids.jsonl'])
    assert.equal(withIds.code, 2)
  })

  test('--all-or-nothing imports nobody when one line is bad, for its own sake or because of another user', async () => {
    const { person } = await signedUp(service)
    const before = await exportLines(service)
    for (const bad of [{ email: 'no address' }, { email: newEmail(), username: person.username }]) {
      const result = await importJson(
        service,
        [{ email: newEmail() }, bad, { email: newEmail() }],
        ['--all-or-nothing'],
      )
      assert.deepEqual([result.imported, result.failed, result.code], [0, 1, 1])
      assert.match(result.stderr, /line 2: /)
    }
    assert.deepEqual(await exportLines(service), before)
    const good = await importJson(service, [{ email: newEmail() }, { email: newEmail() }], ['--all-or-nothing'])
    assert.deepEqual([good.imported, good.code], [2, 0])
  })

  test('--no-hashes and --no-events', async () => {
    const [silent, told] = [newEmail(), newEmail()]
    const lines = [{ email: silent, password_hash: 'a form that nobody knows' }]
    const { code } = await importJson(service, lines, ['--no-hashes', '--no-events'])
    assert.equal(code, 0)
    await importJson(service, [{ email: told }])
    const { id } = await showUser(service, told)
    await receiver.receivedEvent(({ event }) => event.data.user_id === id)
    assert.deepEqual(eventsOf(id), ['user.created'])
    assert.deepEqual(eventsOf((await showUser(service, silent)).id), [])
  })

  test('from standard input, with a byte order mark, CRLF, empty lines and no last line end', async () => {
    const emails = [newEmail(), newEmail()]
    const [one, two] = emails.map((email) => JSON.stringify({ email, username: null }))
    const text = `\uFEFF${one}\r\n\r\n  \r\n${two}`
    const result = await service.cli(['users', 'import', '-', '--json'], { input: text })
    assert.equal(result.code, 0, result.stderr)
    for (const email of emails) assert.equal((await showUser(service, email)).email, email)
  })

  test('more users than one transaction takes', async () => {
    const mark = randomUUID().slice(0, 8)
    const lines = Array.from({ length: 600 }, (_, index) => ({ id: randomUUID(), email: `u${index}@${mark}.example` }))
    const { imported } = await importJson(service, lines, ['--no-events'])
    assert.equal(imported, 600)
    const there = (await exportLines(service)).filter(({ email }) => String(email).endsWith(`@${mark}.example`))
    assert.deepEqual(new Set(there.map(({ id }) => id)), new Set(lines.map(({ id }) => id)))
  })
})

describe('§8.4 svc users export', () => {
  test('writes a new file for its owner alone, in the order of ids, and warns of the hashes', async () => {
    const { person } = await signedUp(service)
    const file = `${randomUUID()}.jsonl`
    const { code, stdout, stderr } = await service.cli(['users', 'export', '--output', file])
    assert.equal(code, 0, stderr)
    assert.equal(stdout, '')
    assert.match(stderr, /exported \d+ users, \d+ of them with sessions, which are not exported/)
    assert.match(stderr, /hold password hashes: keep them secret/)
    const lines = await exportLines(service)
    const written = path.join(service.directory, file)
    assert.equal(readFileSync(written, 'utf8'), toLines(lines))
    assert.equal(statSync(written).mode & 0o777, 0o600)
    const ids = lines.map(({ id }) => String(id))
    assert.deepEqual(ids, ids.toSorted())
    assert.ok(lines.some(({ email }) => email === person.email))
    const again = await service.cli(['users', 'export', '--output', file])
    assert.equal(again.code, 1)
    assert.match(again.stderr, /already exists/)
  })

  test('names the second factors and passkeys that it does not hold, and so does an import', async (t) => {
    const both = await signedUp(service)
    const keys = await signedUp(service)
    const [idOfBoth, idOfKeys] = [(await currentUser(both.agent)).id, (await currentUser(keys.agent)).id]
    const database = await openDatabase(service, t)
    for (const id of [idOfBoth, idOfBoth, idOfKeys]) await storePasskey(database, id)
    await storeCodes(database, idOfBoth)
    const { stderr } = await service.cli(['users', 'export'])
    assert.match(stderr, /one-time codes of 1 user and passkeys of 2 users are not exported/)
    const lines = (await exportLines(service)).filter(({ id }) => id === idOfBoth || id === idOfKeys)
    assert.deepEqual(
      lines.map((line) => [line.second_factors, line.passkeys]),
      [
        [['totp'], 2],
        [undefined, 1],
      ],
    )
    for (const id of [idOfBoth, idOfKeys]) await service.cli(['users', 'delete', id, '--yes'])
    const result = await importJson(service, lines)
    assert.deepEqual([result.imported, result.not_carried_over], [2, { 'second factors': 1, passkeys: 2 }])
    assert.match(result.stderr, /2 users lose something that is not carried over: passkeys/)
    const again = (await exportLines(service)).find(({ id }) => id === idOfBoth)
    assert.deepEqual([again?.second_factors, again?.passkeys], [undefined, undefined])
  })

  test('--no-hashes leaves them out', async () => {
    await signedUp(service)
    const lines = await exportLines(service, ['--no-hashes'])
    assert.ok(lines.length > 0)
    assert.ok(lines.every((line) => !('password_hash' in line)))
  })
})
