// Runs on SQLite.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { loggedIn, newAgent, newPerson, type Person, signedUp, signUp } from '../../support/client/accounts.ts'
import { assertCanLogIn, assertPage, assertRedirect } from '../../support/client/assertions.ts'
import { startService } from '../../support/service/service.ts'

const site = { SVC_BASE_URL: 'http://www.acme-shop.example', SVC_APP_NAME: 'Blue Kettle' }
const service = await startService({ env: site })

/** The text at the field for each reason. */
const WORDS = {
  repeats: 'This password repeats itself',
  account: 'isn’t based on your email address or name',
  site: 'isn’t based on this site’s name',
}

const weak: [keyof typeof WORDS, (person: Person) => string][] = [
  ['repeats', () => 'aaaaaaaa'],
  ['repeats', () => 'abcabcabc'],
  ['repeats', () => '12121212'],
  ['account', ({ email }) => `${email.toUpperCase()}1`],
  ['account', ({ username }) => `${username}!`],
  ['account', ({ email }) => `1${email.split('@')[0]}`],
  ['site', () => 'www.acme-shop.example'],
  ['site', () => 'acme-shop1'],
  ['site', () => '2026 blue kettle!'],
]

describe('§4.2 a password that is easy to guess', { concurrency: 2 }, () => {
  for (const [kind, make] of weak) {
    test(`is refused (422, with a text at the field) at signup and in the account: ${kind}, ${make.toString()}`, async () => {
      const person = newPerson()
      const signup = await signUp(newAgent(service), { ...person, password: make(person) })
      assertPage(signup, 422)
      assert.match(signup.text, new RegExp(`id="password-problem"[^<]*${WORDS[kind]}`))
      const known = await signedUp(service)
      const form = { current_password: known.person.password, new_password: make(known.person) }
      const change = await known.agent.post('/auth/account/password', form)
      assertPage(change, 422)
      assert.match(change.text, new RegExp(`id="new_password-problem"[^<]*${WORDS[kind]}`))
      await assertCanLogIn(service, known.person)
    })
  }

  test('is refused by the command line: exit 1, with the reason', async () => {
    const { person } = await signedUp(service)
    const commands: [string[], string, RegExp][] = [
      [['users', 'create', newPerson().email], 'blue-kettle-1', /name of this site/],
      [['users', 'create', newPerson().email], 'abcabcabc', /same few characters/],
      [['users', 'set-password', person.email], `${person.username}1!`, /email address or the username/],
    ]
    for (const [args, input, why] of commands) {
      const { code, stderr } = await service.cli(args, { input })
      assert.equal(code, 1)
      assert.match(stderr, why)
    }
    await assertCanLogIn(service, person)
  })

  test('a passphrase that only contains such a word is accepted', async () => {
    const person = newPerson()
    const password = `a blue kettle for ${person.username} at acme-shop.example`
    await signedUp(service, { ...person, password })
    await assertCanLogIn(service, { ...person, password })
  })
})

test('§4.2 a login is never refused for its password, which may be older than the rule, and it can be changed', async (t) => {
  const before = await startService({ t, env: { ...site, SVC_APP_NAME: 'Another Name' } })
  const person = { ...newPerson(), password: 'blue kettle 1' }
  await signedUp(before, person)
  await before.restart({ env: site })
  const agent = await loggedIn(before, person)
  const form = { current_password: person.password, new_password: newPerson().password }
  assertRedirect(await agent.post('/auth/account/password', form), '/auth/account?done=password')
})
