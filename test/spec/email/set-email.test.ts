// Runs on SQLite and PostgreSQL.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { currentUser, newPerson, signedUp, signUp } from '../../support/client/accounts.ts'
import { assertCanLogIn, assertCannotLogIn, assertPage } from '../../support/client/assertions.ts'
import { createUserAgent } from '../../support/client/user-agent.ts'
import { openDatabase } from '../../support/database/database.ts'
import { startWebhookReceiver } from '../../support/network/webhook-receiver.ts'
import {
  createUser,
  deleteUser,
  runCommandOf,
  runJsonCommandOf,
  showUser,
} from '../../support/service/operator-commands.ts'
import { startService } from '../../support/service/service.ts'

const receiver = await startWebhookReceiver()
const service = await startService({
  env: { SVC_WEBHOOK_URL: receiver.url, SVC_WEBHOOK_SECRET: 'a secret of the test' },
})
const database = await openDatabase(service)

const setEmail = (name: string, email: string, ...options: string[]) =>
  runJsonCommandOf<{ email: string; email_verified: boolean }>(service, ['users', 'set-email', name, email, ...options])

const refused = async (name: string, email: string): Promise<string> => {
  const { code, stderr } = await service.cli(['users', 'set-email', name, email])
  assert.equal(code, 1, stderr)
  return stderr
}

describe('§4.2 svc users set-email, without mail', () => {
  test('changes the address at once: the session goes on, and the new address logs in', async () => {
    const { agent, person } = await signedUp(service)
    const email = `New.${newPerson().email}`
    assert.match(await runCommandOf(service, ['users', 'set-email', person.username, email]), /is New\..* now\./)
    assert.equal((await currentUser(agent)).email, email)
    await assertCanLogIn(service, { ...person, email: email.toLowerCase() })
    await assertCannotLogIn(service, person)
    assert.equal((await signUp(createUserAgent(service), { ...newPerson(), email: person.email })).status, 303)
  })

  test('an address that nobody has proved counts as unproved, unless the operator vouches for it', async () => {
    const person = newPerson()
    await createUser(service, person)
    const [first, second] = [newPerson().email, newPerson().email]
    assert.partialDeepStrictEqual(await setEmail(person.username, first), { email: first, email_verified: false })
    assert.partialDeepStrictEqual(await setEmail(first, second, '--verified'), { email: second, email_verified: true })
  })

  test('refuses what is no address, the own one in any case, one that is taken, and an unknown user', async () => {
    const [{ person }, { person: other }] = [await signedUp(service), await signedUp(service)]
    assert.match(await refused(person.email, 'nobody'), /name@example\.com/)
    assert.match(await refused(person.email, person.email.toUpperCase()), /already/)
    assert.match(await refused(person.email, other.email), /Another account/)
    assert.match(await refused('nobody-is-called-so', newPerson().email), /there is no user/)
    await assertCanLogIn(service, person)
    await assertCanLogIn(service, other)
  })

  test('links that were sent before end, and no address is reserved', async () => {
    const person = newPerson()
    await createUser(service, person)
    const [row] = await database.rows('SELECT id FROM users WHERE username = ?', person.username)
    const id = String(row?.id)
    const insert = 'INSERT INTO links (id, token_hash, purpose, user_id, email_lower, details, created_at, expires_at)'
    for (const purpose of ['reset', 'undo'])
      await database.rows(
        `${insert} VALUES (?, ?, ?, ?, ?, '{}', 1, 9000000000000)`,
        `${purpose}${id}`,
        `${purpose}${id}`,
        purpose,
        id,
        person.email,
      )
    await setEmail(person.username, newPerson().email)
    const ended = await database.rows('SELECT purpose, ended_by FROM links WHERE user_id = ? ORDER BY purpose', id)
    assert.deepEqual(
      ended.map(({ purpose, ended_by: by }) => [purpose, by]),
      [
        ['reset', 'ended'],
        ['undo', null],
      ],
    )
    assert.deepEqual(await database.rows('SELECT email_lower FROM reserved_emails WHERE user_id = ?', id), [])
    await deleteUser(service, person.username)
    assert.deepEqual(await database.rows('SELECT id FROM links WHERE user_id = ?', id), [])
  })

  test('tells the application, and the log', async () => {
    const person = newPerson()
    await createUser(service, person)
    const { id } = await showUser(service, person.username)
    const { stderr } = await service.cli(['users', 'set-email', person.username, newPerson().email])
    assert.match(stderr, /"event":"email_change","outcome":"succeeded"/)
    const changes: unknown[] = []
    await setEmail(person.username, newPerson().email)
    await setEmail(person.username, newPerson().email, '--verified')
    await deleteUser(service, person.username)
    await receiver.receivedEvent(({ event }) => event.type === 'user.deleted' && event.data.user_id === id)
    for (const { event } of receiver.deliveries)
      if (event.data.user_id === id && event.data.changed) changes.push(event.data.changed)
    assert.deepEqual(changes, [['email', 'email_verified'], ['email'], ['email', 'email_verified']])
  })

  test('a page of an account whose address changed shows the new one', async () => {
    const { agent, person } = await signedUp(service)
    const { email } = newPerson()
    await setEmail(person.email, email)
    const answer = await agent.get('/auth/account')
    assertPage(answer)
    assert.ok(answer.text.includes(email) && !answer.text.includes(person.email))
  })
})
