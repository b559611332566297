// Runs on SQLite and PostgreSQL.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, test } from 'node:test'
import { currentUser, newPerson, signedUp, type User } from '../../support/client/accounts.ts'
import { assertCanLogIn } from '../../support/client/assertions.ts'
import { openDatabase } from '../../support/database/database.ts'
import { startWebhookReceiver } from '../../support/network/webhook-receiver.ts'
import {
  createUser,
  deleteUser,
  disableUser,
  runCommandOf,
  runJsonCommandOf,
  setRoles,
  showUser,
} from '../../support/service/operator-commands.ts'
import { storeCodes, storePasskey } from '../../support/second-factor/stored-factors.ts'
import { startService } from '../../support/service/service.ts'

const receiver = await startWebhookReceiver()
const service = await startService({
  env: {
    SVC_BASE_URL: 'https://example.com',
    SVC_WEBHOOK_URL: receiver.url,
    SVC_WEBHOOK_SECRET: 'a secret of enough bytes',
  },
})

const list = (...args: string[]) => runJsonCommandOf<User[]>(service, ['users', 'list', ...args])
const emailsOf = (users: User[]) => users.map(({ email }) => email)

const refused = async (args: string[], code: number, message: RegExp) => {
  const result = await service.cli(args)
  assert.equal(result.code, code, `svc ${args.join(' ')}: ${result.stdout}${result.stderr}`)
  assert.match(result.stderr, message)
  assert.equal(result.stdout, '')
}

/** The events of a user, once the account is deleted. */
const eventsUntilDeletionOf = async (id: string) => {
  await deleteUser(service, id)
  await receiver.receivedEvent(({ event }) => event.type === 'user.deleted' && event.data.user_id === id)
  return receiver.deliveries.flatMap(({ event: { type, data } }) => (data.user_id === id ? [[type, data.changed]] : []))
}

const factorsOf = async (name: string) => {
  const { second_factors, recovery_codes, passkeys } = Object(await showUser(service, name))
  return [second_factors, recovery_codes, passkeys]
}

describe('§8.1 svc users show', () => {
  test('tells what a user has, of what the settings allow', async (t) => {
    const { agent, person } = await signedUp(service)
    const { id } = await currentUser(agent)
    assert.deepEqual(await factorsOf(id), [[], 0, 0])
    assert.match(
      await runCommandOf(service, ['users', 'show', id]),
      /signs in with +password\nsecond factor +\(none\)\n/,
    )
    const database = await openDatabase(service, t)
    await storeCodes(database, id)
    for (const _ of ['phone', 'key']) await storePasskey(database, id)
    assert.deepEqual(await factorsOf(person.email), [['totp'], 0, 2])
    const text = await runCommandOf(service, ['users', 'show', id])
    assert.match(
      text,
      /signs in with +password, 2 passkeys \(Phone, Phone\)\nsecond factor +one-time codes, 0 recovery codes left\n/,
    )
    const env = { SVC_SECOND_FACTOR: 'off', SVC_PASSKEYS: 'off' }
    const { stdout } = await service.cli(['users', 'show', id, '--json'], { env })
    assert.partialDeepStrictEqual(JSON.parse(stdout), { second_factors: [], passkeys: 0 })
  })
})

describe('§8.1 svc users list', () => {
  test('--search finds a part of email or username, in any case, and knows no wildcards', async () => {
    const mark = randomUUID().slice(0, 8)
    const emails = [`Ada_${mark}@example.com`, `adaX${mark}@example.com`, `100%${mark}@example.com`]
    const usernames = ['one', 'two', 'three'].map((name) => `${name}_${mark}`)

    for (const [index, email] of emails.entries())
      await createUser(service, { ...newPerson(), email, username: usernames[index] ?? '' })
    const [ada = '', adaX = '', percent = ''] = emails
    assert.deepEqual(emailsOf(await list('--search', mark.toUpperCase())), emails)
    assert.deepEqual(emailsOf(await list('--search', `ADA_${mark}`)), [ada], 'an underscore is no wildcard')
    assert.deepEqual(emailsOf(await list('--search', `%${mark}`)), [percent], 'and neither is a percent sign')
    assert.deepEqual(emailsOf(await list('--search', `a\\${mark}`)), [])
    assert.deepEqual(emailsOf(await list('--search', `Two_${mark}`)), [adaX], 'of the username')
    assert.deepEqual(emailsOf(await list('--search', `' OR 1=1 --`)), [])
  })

  test('--role and --disabled, together with --search', async () => {
    const mark = randomUUID().slice(0, 8)
    const people = ['a', 'b', 'c'].map((name) => ({ ...newPerson(), email: `${name}-${mark}@example.com` }))
    const [a = '', b = '', c = ''] = people.map(({ email }) => email)
    for (const person of people) await createUser(service, person)
    await setRoles(service, a, ['editor', `x_${mark}`])
    await setRoles(service, b, [`xy${mark}`])
    await setRoles(service, c, [`x_${mark}`])
    await disableUser(service, c)
    assert.deepEqual(emailsOf(await list('--role', `x_${mark}`)), [a, c], 'the whole role, exactly')
    assert.deepEqual(emailsOf(await list('--role', 'x_')), [])
    assert.deepEqual(emailsOf(await list('--disabled', '--search', mark)), [c])
    assert.deepEqual(emailsOf(await list('--disabled', '--search', mark, '--role', 'editor')), [])
  })

  test('--limit and --after page through all users, the oldest first, each once', async () => {
    const mark = randomUUID().slice(0, 8)
    const emails = Array.from({ length: 5 }, (_, index) => `${index}.${mark}@example.com`)
    for (const email of emails) await createUser(service, { ...newPerson(), email })
    const first = await list('--search', mark, '--limit', '2')
    const second = await list('--search', mark, '--limit', '2', '--after', first[1]?.id.toUpperCase() ?? '')
    const third = await list('--search', mark, '--limit', '2', '--after', second[1]?.id ?? '')
    assert.deepEqual([first, second, third].map(emailsOf), [emails.slice(0, 2), emails.slice(2, 4), emails.slice(4)])
    assert.deepEqual(await list('--after', 'ffffffff-ffff-ffff-ffff-ffffffffffff'), [])
  })

  test('what is not accepted is wrong usage, and says what would be', async () => {
    for (const limit of ['0', '-1', '1.5', 'all', '', '1e3'])
      await refused(['users', 'list', `--limit=${limit}`], 2, /--limit.*whole number from 1/s)
    await refused(['users', 'list', '--after', 'ada@example.com'], 2, /--after.*id of a user/s)
    await refused(['users', 'list', 'ada'], 2, /too many arguments/)
  })
})

describe('§8.1 svc users set-username and verify-email', () => {
  test('set-username: the user has it at once, and the application is told', async () => {
    const { agent, person } = await signedUp(service)
    const { id } = await currentUser(agent)
    const { username } = newPerson()
    const text = await runCommandOf(service, ['users', 'set-username', person.email, username.toUpperCase()])
    assert.match(text, new RegExp(`${person.email} has the username ${username}\\.`))
    assert.equal((await currentUser(agent)).username, username)
    await runCommandOf(service, ['users', 'set-username', person.email, username])
    assert.deepEqual(await eventsUntilDeletionOf(id), [
      ['user.created', undefined],
      ['user.updated', ['username']],
      ['user.deleted', undefined],
    ])
  })

  test('set-username: a taken or invalid one changes nothing', async () => {
    const [{ agent, person }, { person: other }] = [await signedUp(service), await signedUp(service)]
    await refused(['users', 'set-username', person.email, other.username], 1, /username is taken/)
    await refused(['users', 'set-username', person.email, 'a b'], 1, /3 to 30/)
    await refused(['users', 'set-username', 'nobody-is-called-so', 'ada-l'], 1, /nobody-is-called-so/)
    await refused(['users', 'set-username', person.email], 2, /username/)
    assert.equal((await currentUser(agent)).username, person.username)
  })

  test('verify-email: the address counts as verified; password and sessions stay, and it is one event', async () => {
    const { agent, person } = await signedUp(service)
    const { id } = await currentUser(agent)
    const before = await runJsonCommandOf<Record<string, unknown>>(service, ['users', 'show', id])
    assert.deepEqual([before.email_verified, before.self_made, before.invited], [false, true, false])
    for (let times = 0; times < 2; times += 1)
      assert.match(await runCommandOf(service, ['users', 'verify-email', person.email]), /counts as verified/)
    const after = await runJsonCommandOf<Record<string, unknown>>(service, ['users', 'show', id])
    assert.equal(after.email_verified, true)
    await currentUser(agent)
    await assertCanLogIn(service, person)
    assert.deepEqual(await eventsUntilDeletionOf(id), [
      ['user.created', undefined],
      ['user.updated', ['email_verified']],
      ['user.deleted', undefined],
    ])
    await refused(['users', 'verify-email', person.email], 1, new RegExp(person.email))
  })

  test('show says who made the account, and whether its email is verified', async () => {
    const [{ person }, made] = [await signedUp(service), newPerson()]
    await createUser(service, made)
    assert.match(
      await runCommandOf(service, ['users', 'show', person.email]),
      /email verified +no[^]*made by +its user/,
    )
    assert.match(
      await runCommandOf(service, ['users', 'show', made.email]),
      /email verified +since[^]*made by +an operator/,
    )
    assert.equal(Object(await showUser(service, made.email)).self_made, false)
  })
})
