// Runs on SQLite.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { currentUser, loggedIn, newPerson, signedUp } from '../../support/client/accounts.ts'
import {
  assertCanLogIn,
  assertCannotLogIn,
  assertJsonError,
  assertSignedIn,
  assertSignedOut,
} from '../../support/client/assertions.ts'
import { SCOPES } from '../../../src/api-keys/api-key.ts'
import { createUserAgent } from '../../support/client/user-agent.ts'
import { openDatabase } from '../../support/database/database.ts'
import { testOnSqlite } from '../../support/database/database-choice.ts'
import { startWebhookReceiver } from '../../support/network/webhook-receiver.ts'
import { accessToken, claimsOf } from '../../support/service/access-tokens.ts'
import { storePasskey } from '../../support/second-factor/stored-factors.ts'
import { runSvc } from '../../support/service/command.ts'
import {
  createUser,
  deleteUser,
  disableUser,
  enableUser,
  listUsers,
  runCommandOf,
  runJsonCommandOf,
  setPassword,
  setRoles,
  showUser,
} from '../../support/service/operator-commands.ts'
import { startService } from '../../support/service/service.ts'

const service = await startService()
const nobody = 'nobody-is-called-so@example.com'

/** Checks that the command fails with the code and the reason on stderr, without output on stdout or a stack. */
const assertFails = async (args: string[], code: number, message: RegExp, input = '') => {
  const result = await service.cli(args, { input })
  assert.equal(result.code, code, `svc ${args.join(' ')}: ${result.stdout}${result.stderr}`)
  assert.match(result.stderr, message)
  assert.equal(result.stdout, '')
  assert.doesNotMatch(result.stderr, /\n\s+at |node:internal|SQLITE/)
}

describe('§8.1 the command line', { concurrency: 3 }, () => {
  test('svc --version prints the version', async () => {
    assert.match(await runCommandOf(service, ['--version']), /^\d+\.\d+\.\d+\S*\n$/)
  })

  test('a command is a process that ends with its exit code and takes a password from standard input', async () => {
    const { directory: cwd, env } = service
    const person = newPerson()
    const run = (args: string[], options: { input?: string; env?: Record<string, string> } = {}) =>
      runSvc({ args, cwd, input: options.input ?? '', env: { ...env, ...options.env } })
    const created = await run(['users', 'create', person.email], { input: person.password })
    assert.equal(created.code, 0, created.stderr)
    const codes = await Promise.all([
      run(['users', 'show', person.email]),
      run(['users', 'show', nobody]),
      run(['users', 'nonsense']),
      run(['users', 'list'], { env: { SVC_PORT: 'none' } }),
    ])
    assert.deepEqual(
      codes.map(({ code }) => code),
      [0, 1, 2, 78],
    )
    await assertCanLogIn(service, person)
  })

  test('svc --help names every command, and every command has help with examples', async () => {
    const help = await runCommandOf(service, ['--help'])
    for (const name of ['serve', 'migrate', 'users', 'sessions', 'keys', 'webhooks', 'healthcheck'])
      assert.match(help, new RegExp(`^\\s+${name}\\b`, 'm'))
    const commands = [
      ['users', 'create'],
      ['users', 'delete'],
      ['sessions', 'revoke'],
      ['webhooks', 'redeliver'],
      ['serve'],
    ]
    for (const command of commands) {
      const text = await runCommandOf(service, [...command, '--help'])
      assert.match(text, /Examples?:[^]*svc /, command.join(' '))
    }
  })

  test('users create reads the password from standard input, and the user can log in at once', async () => {
    const person = newPerson()
    await createUser(service, person)
    await assertCanLogIn(service, person)
  })

  test('users create takes the password unchanged except for the line end that the shell adds', async () => {
    const person = newPerson()
    await runCommandOf(service, ['users', 'create', person.email], `${person.password}\n`)
    await assertCanLogIn(service, person)
  })

  test('users create follows the rules of a signup: email, username, password; exit 1 with the reason', async () => {
    const person = newPerson()
    await assertFails(['users', 'create', 'no-email'], 1, /email/i, person.password)
    await assertFails(['users', 'create', person.email], 1, /8/, 'short')
    await assertFails(['users', 'create', person.email], 1, /common/i, 'password')
    await assertFails(['users', 'create', person.email, '--username', 'x'], 1, /username/i, person.password)
    const { person: known } = await signedUp(service)
    await assertFails(['users', 'create', known.email], 1, /email|taken|exist/i, person.password)
    await assertCannotLogIn(service, person)
  })

  test('a user is named by id, email or username, in any case', async () => {
    const { agent, person } = await signedUp(service)
    const { id } = await currentUser(agent)
    for (const name of [id, person.email, person.username, person.email.toUpperCase(), person.username.toUpperCase()])
      assert.equal((await showUser(service, name)).id, id, name)
  })

  test('users show --json has the fields of GET /user', async () => {
    const { agent, person } = await signedUp(service)
    const [shown, user] = [await showUser(service, person.email), await currentUser(agent)]
    for (const [field, value] of Object.entries(user)) assert.deepEqual(Object(shown)[field], value, field)
  })

  test('users show --json says all that the text says', async () => {
    const { person, agent } = await signedUp(service)
    await loggedIn(service, person)
    assert.partialDeepStrictEqual(await showUser(service, person.email), {
      email_verified_at: null,
      invited_at: null,
      has_password: true,
      identities: [],
      passkey_names: [],
      second_factors: [],
      sessions: 2,
    })
    await storePasskey(await openDatabase(service), (await currentUser(agent)).id)
    await runCommandOf(service, ['users', 'verify-email', person.email])
    const shown = await showUser(service, person.email)
    assert.deepEqual(Object(shown).passkey_names, ['Phone'])
    assert.match(String(Object(shown).email_verified_at), /^20.*Z$/)
  })

  test('on a terminal a command prints its result, and no line of the log above it', async () => {
    const { person } = await signedUp(service)
    const args = ['users', 'set-roles', person.email]
    assert.match((await service.cli(args)).stderr, /"command":"users set-roles"/)
    const asTerminal = 'data:text/javascript,Object.defineProperty(process.stderr,`isTTY`,{value:true})'
    const env = { ...service.env, NODE_OPTIONS: `--import=${asTerminal}` }
    const { stdout, stderr, code } = await runSvc({ args, cwd: service.directory, env })
    assert.deepEqual([code, stderr], [0, ''])
    assert.ok(stdout.includes(person.email))
  })

  test('help shows commands in groups, and which scopes there are', async () => {
    const help = await runCommandOf(service, ['help'])
    const users = await runCommandOf(service, ['help', 'users'])
    for (const [text, group, command] of [
      [help, 'Accounts', 'sessions'],
      [help, 'The database', 'migrate'],
      [users, 'Change', 'set-roles'],
      [users, 'Close', 'delete'],
      [users, 'Help', 'help'],
    ] as const)
      assert.match(text, new RegExp(`^${group}:\\n(?: {2}.*\\n)*? {2}${command} `, 'm'))
    const scopes = await runCommandOf(service, ['api-keys', 'create', '--help'])
    for (const scope of SCOPES) assert.match(scopes, new RegExp(`^ {2}${scope} {2,}\\w`, 'm'))
  })

  test('users list --json prints nothing but its result; without --json a table for people', async () => {
    const { person } = await signedUp(service)
    const users = await listUsers(service)
    assert.ok(Array.isArray(users) && users.some(({ email }) => email === person.email))
    const table = await runCommandOf(service, ['users', 'list'])
    assert.match(table, new RegExp(person.email))
    assert.doesNotMatch(table, /\$argon2|[{}]/)
  })

  test('no command of users shows a password hash', async () => {
    const { person } = await signedUp(service)
    const json = await runCommandOf(service, ['users', 'show', person.email, '--json'])
    assert.doesNotMatch(json, /argon2|password_hash/i)
  })

  test('users set-roles: strings of 1 to 64 of a-z 0-9 _ : . -', async () => {
    const { agent, person } = await signedUp(service)
    const roles = ['a', 'x'.repeat(64), 'org:7.read-all_now']
    await setRoles(service, person.email, roles)
    assert.deepEqual((await currentUser(agent)).roles.sort(), roles.sort())
    for (const bad of ['Admin', 'x'.repeat(65), 'a b', 'ä', ''])
      await assertFails(['users', 'set-roles', person.email, 'fine', bad], 1, /role/i)
    assert.deepEqual((await currentUser(agent)).roles.sort(), roles.sort())
    await agent.refresh()
    assert.deepEqual(claimsOf(accessToken(agent)).roles, (await currentUser(agent)).roles)
  })

  test('users set-roles and show say when the email is not verified, in text and as email_verified', async () => {
    const { person, agent } = await signedUp(service)
    const given = await service.cli(['users', 'set-roles', person.email, 'admin'])
    assert.equal(given.code, 0)
    assert.match(given.stderr, new RegExp(`${person.email} is not verified`))
    const taken = await service.cli(['users', 'set-roles', person.email])
    assert.doesNotMatch(taken.stderr, /verified/, 'there is nothing to lose')
    assert.match(await runCommandOf(service, ['users', 'show', person.email]), /^email verified +no: /m)
    const json = await service.cli(['users', 'set-roles', person.email, 'admin', '--json'])
    assert.partialDeepStrictEqual(JSON.parse(json.stdout), { roles: ['admin'], email_verified: false })
    assert.match(json.stderr, /is not verified/)
    assert.partialDeepStrictEqual(await showUser(service, person.email), { email_verified: false })
    assert.ok(!('email_verified' in (await currentUser(agent))), 'the API is as specified')
    const proved = newPerson()
    await createUser(service, proved)
    assert.doesNotMatch((await service.cli(['users', 'set-roles', proved.email, 'admin'])).stderr, /verified/)
    assert.match(await runCommandOf(service, ['users', 'show', proved.email]), /^email verified +since 20/m)
    assert.partialDeepStrictEqual(await showUser(service, proved.email), { email_verified: true })
  })

  test('users set-password takes effect at once', async () => {
    const { agent, person } = await signedUp(service)
    const { password } = newPerson()
    await setPassword(service, person.username, password)
    await assertSignedOut(agent)
    await assertCannotLogIn(service, person)
    await assertCanLogIn(service, { ...person, password })
    await assertFails(['users', 'set-password', person.email], 1, /8/, 'short')
    await assertCanLogIn(service, { ...person, password })
  })

  test('users disable and enable take effect at once, and GET /user does not serve a disabled user', async () => {
    const { agent, person } = await signedUp(service)
    await disableUser(service, person.email)
    assert.equal((await showUser(service, person.email)).disabled, true)
    await assertSignedOut(agent)
    await assertCannotLogIn(service, person)
    await enableUser(service, person.email)
    await assertCanLogIn(service, person)
  })

  test('users delete needs --yes without a terminal', async () => {
    const { agent, person } = await signedUp(service)
    const result = await service.cli(['users', 'delete', person.email], { input: 'y\nyes\n' })
    assert.notEqual(result.code, 0)
    assert.match(result.stderr, /--yes/)
    await assertSignedIn(agent)
    await deleteUser(service, person.email)
    await assertSignedOut(agent)
    await assertCannotLogIn(service, person)
  })

  test('sessions list and revoke USER', async () => {
    const { agent, person } = await signedUp(service)
    const sessions = await runJsonCommandOf<unknown[]>(service, ['sessions', 'list', person.email])
    assert.equal(sessions.length, 1)
    assert.ok(JSON.stringify(sessions).includes(String(claimsOf(accessToken(agent)).sid)))
    await runCommandOf(service, ['sessions', 'revoke', person.email])
    await assertSignedOut(agent)
    assert.deepEqual(await runJsonCommandOf<unknown[]>(service, ['sessions', 'list', person.email]), [])
  })

  test('sessions revoke --all ends every session of every user at once, and all users can log in again', async (t) => {
    const own = await startService({ t })
    const users = [await signedUp(own), await signedUp(own), await signedUp(own)]
    const agents = [...users.map(({ agent }) => agent), await loggedIn(own, users[0]?.person ?? newPerson())]
    for (const agent of agents) await assertSignedIn(agent)
    const unsure = await own.cli(['sessions', 'revoke', '--all'], { input: 'y\n' })
    assert.equal(unsure.code, 2)
    assert.match(unsure.stderr, /--yes/)
    for (const agent of agents) await assertSignedIn(agent)
    assert.match(await runCommandOf(own, ['sessions', 'revoke', '--all', '--yes']), /^4 sessions ended\./)
    for (const agent of agents) {
      assertJsonError(await agent.get('/auth/api/v1/user'), 401, 'unauthorized')
      assertJsonError(await agent.refresh(), 401, 'unauthorized')
    }
    for (const { person } of users) await assertCanLogIn(own, person)
    assert.deepEqual(await runJsonCommandOf(own, ['sessions', 'revoke', '--all', '--yes']), { ended: 3 })
    assert.deepEqual(await runJsonCommandOf(own, ['sessions', 'revoke', '--all', '--yes']), { ended: 0 })
  })

  test('keys list shows the key in use without its private part; rotate adds one', async () => {
    const before = await runJsonCommandOf<Record<string, unknown>[]>(service, ['keys', 'list'])
    assert.ok(before.length >= 1)
    assert.doesNotMatch(JSON.stringify(before), /"d"|PRIVATE/)
    await runCommandOf(service, ['keys', 'rotate'])
    const after = await runJsonCommandOf<unknown[]>(service, ['keys', 'list'])
    assert.equal(after.length, before.length + 1)
  })

  for (const args of [
    ['users', 'show', nobody],
    ['users', 'set-roles', nobody, 'admin'],
    ['users', 'disable', nobody],
    ['users', 'enable', nobody],
    ['users', 'delete', nobody, '--yes'],
    ['users', 'set-password', nobody],
    ['users', 'reset-second-factor', nobody],
    ['sessions', 'list', nobody],
    ['sessions', 'revoke', nobody],
  ]) {
    test(`unknown user: exit 1, and the message names it: svc ${args.join(' ')}`, async () => {
      await assertFails(args, 1, new RegExp(nobody), newPerson().password)
    })
  }

  for (const args of [
    ['nonsense'],
    ['users'],
    ['users', 'nonsense'],
    ['users', 'show'],
    ['users', 'show', 'a', 'b'],
    ['users', 'list', '--nonsense'],
    ['keys', 'rotate', 'now'],
    ['serve', '--port'],
    ['webhooks', 'redeliver'],
    ['sessions', 'revoke'],
    ['sessions', 'revoke', '--yes'],
    ['sessions', 'revoke', 'ada', '--all', '--yes'],
    ['sessions', 'revoke', '--all', '--session', '019e6f3c-7f0a-7c11-a1b2-3c4d5e6f7a8b', '--yes'],
  ]) {
    test(`wrong usage: exit 2: svc ${args.join(' ')}`, async () => {
      await assertFails(args, 2, /./)
    })
  }

  test('migrate can run again and again while the service runs, and changes nothing', async (t) => {
    const { agent } = await signedUp(service)
    const database = await openDatabase(service, t)
    const migrations = () => database.rows('SELECT name, applied_at FROM migrations ORDER BY name')
    const before = await migrations()
    assert.ok(before.length > 0)
    for (let times = 0; times < 2; times++) {
      assert.equal(await runCommandOf(service, ['migrate']), 'The schema is up to date.\n')
      assert.deepEqual(await runJsonCommandOf(service, ['migrate']), { applied: [] })
      assert.deepEqual(await migrations(), before)
      await assertSignedIn(agent)
    }
    await signedUp(service)
  })

  test('healthcheck: exit 0 while the service serves, else 1', async (t) => {
    assert.equal((await service.cli(['healthcheck'])).code, 0)
    const stopped = await startService({ t })
    await stopped.stop()
    const { code, stderr } = await stopped.cli(['healthcheck'])
    assert.equal(code, 1)
    assert.doesNotMatch(stderr, /\n\s+at /)
  })

  testOnSqlite('svc backup FILE makes a consistent copy while serving', async (t) => {
    const { person } = await signedUp(service)
    const copy = await startService({ t })
    await copy.stop()
    const file = `${copy.directory}/copy.db`
    await runCommandOf(service, ['backup', file])
    await copy.restart({
      env: { SVC_DATABASE_URL: `sqlite:${file}`, SVC_SECRET_FILE: `${service.directory}/data/svc.secret` },
    })
    await assertCanLogIn(copy, person)
  })

  test('a command works without a running service, also in an empty folder, where there is no account', async (t) => {
    const empty = await startService({ t })
    await empty.stop()
    assert.deepEqual(await listUsers(empty), [])
    const person = newPerson()
    await createUser(empty, person)
    await empty.restart()
    await assertCanLogIn(empty, person)
  })

  test('webhooks list, redeliver and test', async (t) => {
    const receiver = await startWebhookReceiver({ t })
    const env = { SVC_WEBHOOK_URL: receiver.url, SVC_WEBHOOK_SECRET: 'a secret of enough bytes' }
    const telling = await startService({ t, env })
    await signedUp(telling)
    const [first] = await receiver.received(1)
    assert.ok(first)
    const listed = await runCommandOf(telling, ['webhooks', 'list', '--json'])
    assert.ok(listed.includes(first.event.id) && listed.includes('user.created'), listed)
    assert.ok(!listed.includes('a secret of enough bytes'))
    await runCommandOf(telling, ['webhooks', 'redeliver', first.event.id])
    const [, again] = await receiver.received(2)
    assert.equal(again?.body, first.body)
    assert.deepEqual(await runJsonCommandOf(telling, ['webhooks', 'list', '--failed']), [])
    for (const [parent = '', what = ''] of [
      ['webhooks', 'webhook events'],
      ['mail', 'messages'],
    ])
      assert.equal((await telling.cli([parent, 'list', '--failed'])).stderr, `svc: there are no failed ${what}\n`)
    const database = await openDatabase(telling, t)
    await database.rows(`UPDATE webhook_events SET closed_at = 1, delivered_at = NULL, problem = 'refused'`)
    const failed = await runJsonCommandOf<{ id: string; history: unknown[] }[]>(telling, [
      'webhooks',
      'list',
      '--failed',
    ])
    assert.deepEqual([failed.map(({ id }) => id), failed[0]?.history.length], [[first.event.id], 2])
    const before = receiver.deliveries.length
    await runCommandOf(telling, ['webhooks', 'test'])
    await receiver.received(before + 1)
    const unknown = await telling.cli(['webhooks', 'redeliver', '00000000-0000-4000-8000-000000000000'])
    assert.equal(unknown.code, 1)
    assert.match(unknown.stderr, /00000000-0000-4000-8000-000000000000/)
  })

  test('webhooks test fails when the receiver refuses, and when webhooks are off', async (t) => {
    const off = await service.cli(['webhooks', 'test'])
    assert.notEqual(off.code, 0)
    assert.match(off.stderr, /SVC_WEBHOOK_URL/)
    const receiver = await startWebhookReceiver({ t })
    receiver.answerWith((_, response) => void response.writeHead(418).end())
    const env = { SVC_WEBHOOK_URL: receiver.url, SVC_WEBHOOK_SECRET: 'a secret of enough bytes' }
    const refused = await service.cli(['webhooks', 'test'], { env })
    assert.equal(refused.code, 1)
    assert.match(refused.stdout + refused.stderr, /418/)
  })

  test('no command affects the session of another user', async () => {
    const { agent } = await signedUp(service)
    await assertSignedIn(agent)
    assert.equal((await createUserAgent(service).get('/auth/api/v1/user')).status, 401)
  })
})
