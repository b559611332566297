// Runs on SQLite.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { currentUser, logIn, newAgent, newPerson, signedUp } from '../../support/client/accounts.ts'
import { assertSignedOut } from '../../support/client/assertions.ts'
import type { UserAgent } from '../../support/client/user-agent.ts'
import { openDatabase } from '../../support/database/database.ts'
import { startSmtpServer } from '../../support/network/smtp-server.ts'
import { createAuthenticator } from '../../support/passkeys/authenticator.ts'
import { addPasskey, logInWithPasskey } from '../../support/passkeys/passkeys.ts'
import { setUpApp } from '../../support/second-factor/app-set-up.ts'
import { runCommandOf, runJsonCommandOf, showUser } from '../../support/service/operator-commands.ts'
import { startService } from '../../support/service/service.ts'

const smtp = await startSmtpServer()
const service = await startService({ env: smtp.env })
const origin = service.url

const withPasskey = async (before: (agent: UserAgent) => Promise<unknown> = async () => {}) => {
  const { agent, person } = await signedUp(service)
  await before(agent)
  const authenticator = createAuthenticator({ origin })
  const { name } = await addPasskey(agent, authenticator)
  return { agent, person, authenticator, name, id: (await currentUser(agent)).id }
}

const withBoth = () => withPasskey((agent) => setUpApp(agent, Date.now()))

const factorsOf = async (name: string) => {
  const { second_factors, recovery_codes, passkeys } = Object(await showUser(service, name))
  return [second_factors, recovery_codes, passkeys]
}

const reset = (name: string, ...args: string[]) => service.cli(['users', 'reset-second-factor', name, ...args])

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

describe('§8.1 svc users reset-second-factor', () => {
  test('takes codes and recovery codes away, ends sessions, tells the user, and names the passkeys that stay', async () => {
    const { agent, person, name, authenticator } = await withBoth()
    assert.deepEqual(await factorsOf(person.email), [['totp'], 10, 1])
    const { code, stdout, stderr } = await reset(person.email)
    assert.equal(code, 0, stderr)
    assert.match(stdout, /^Removed from \S+: one-time codes, 10 recovery codes\. 1 session ended\.\n$/)
    assert.match(stderr, new RegExp(`1 passkey \\(${name}\\) of ${person.email} stays; --passkeys removes it`))
    assert.match(stderr, /"event":"second_factor_reset","outcome":"succeeded"/)
    await assertSignedOut(agent)
    assert.deepEqual(await factorsOf(person.email), [[], 0, 1])
    assert.equal((await logIn(newAgent(service), person)).location, '/', 'no code is asked for')
    assert.equal((await logInWithPasskey(newAgent(service), authenticator)).status, 200)
    const told = () => smtp.mails.find(({ to, text }) => to === person.email && /two-step|second factor/i.test(text))
    for (let mails = 1; !told(); mails += 1) await smtp.receivedFor(person.email, mails)
  })

  test('with --passkeys takes these too', async () => {
    const { person, name, authenticator } = await withBoth()
    const removed = await runJsonCommandOf<object>(service, [
      'users',
      'reset-second-factor',
      person.username,
      '--passkeys',
    ])
    assert.partialDeepStrictEqual(removed, {
      email: person.email,
      removed: { second_factors: ['totp'], recovery_codes: 10, passkeys: [name] },
      passkeys: [],
      ended: 1,
    })
    assert.deepEqual(await factorsOf(person.email), [[], 0, 0])
    assert.equal((await logInWithPasskey(newAgent(service), authenticator)).status, 401)
  })

  test('says so where there is nothing, and where no way to sign in is left', async () => {
    const { person, id } = await withPasskey()
    const none = await reset((await signedUp(service)).person.email)
    assert.match(none.stdout, /had no second factor\. 1 session ended\.\n$/)
    const database = await openDatabase(service)
    await database.rows('UPDATE users SET password_hash = NULL WHERE id = ? RETURNING id', id)
    const { stdout, stderr } = await reset(id, '--passkeys')
    assert.match(stdout, /: 10 recovery codes, 1 passkey \(.+\)\. \d sessions? ended\.\n$/)
    assert.match(
      stderr,
      new RegExp(`${person.email} has no way to sign in now: svc users reset-link ${person.username}`),
    )
  })
})
