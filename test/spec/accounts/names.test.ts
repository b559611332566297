// Runs on SQLite and PostgreSQL.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { currentUser, newAgent, newPerson, signedUp, signUp } from '../../support/client/accounts.ts'
import { assertErrorPage, assertPage, assertRedirect } from '../../support/client/assertions.ts'
import type { UserAgent } from '../../support/client/user-agent.ts'
import { openDatabase } from '../../support/database/database.ts'
import { acceptBy, invite, openInvitation } from '../../support/recovery/invitation.ts'
import { runJsonCommandOf } from '../../support/service/operator-commands.ts'
import { at } from '../../support/service/replicas.ts'
import { type Service, startService } from '../../support/service/service.ts'
import { temporaryDirectory } from '../../support/temporary-directory.ts'

/** Three replicas with the same users, as while the setting changes. */
const cwd = temporaryDirectory()
const start = (mode: string) =>
  startService({ cwd, env: { SVC_BASE_URL: 'http://svc.example', ...(mode && { SVC_NAMES: mode }) } })
const off = await start('')
const optional = await start('optional')
const required = await start('required')

const NAME_IS_WRONG = /<input id="name" name="name"[^>]*aria-invalid="true"/
const CHANGED = '/auth/account?done=name'

const nameOf = async (agent: UserAgent, service: Service = optional) => (await currentUser(at(service, agent))).name
const change = (agent: UserAgent, name: string | string[]) => agent.post('/auth/account/name', { name })
const named = async (name: string, service = optional) => {
  const agent = newAgent(service)
  const person = { ...newPerson(), name }
  assertRedirect(await signUp(agent, person), '/')
  return { agent, person }
}
const storage = await openDatabase(optional)
const hasAccount = async (email: string): Promise<boolean> =>
  (await storage.rows('SELECT id FROM users WHERE email_lower = ?', email)).length > 0

describe('§2.1 a name', () => {
  const accepted: [what: string, entered: string, stored: string][] = [
    ['one character', 'X', 'X'],
    ['a hyphen', '-', '-'],
    ['a word of programs', 'null', 'null'],
    ['white space around it', ' \t\u00a0\u3000Ada  Lovelace\r\n', 'Ada  Lovelace'],
    ['markup', `<b>"O'Brien"</b> & Sons`, `<b>"O'Brien"</b> & Sons`],
    ['combining characters, in NFC', 'Jose\u0301 A\u030alvarez', 'Jos\u00e9 \u00c5lvarez'],
    ['100 characters in NFC', 'e\u0301'.repeat(100), '\u00e9'.repeat(100)],
    ['100 emoji', '😀'.repeat(100), '😀'.repeat(100)],
    ['joined emoji', '👩‍👩‍👧‍👦 🏳️‍🌈', '👩‍👩‍👧‍👦 🏳️‍🌈'],
    ['a script without capitals', '山田 太郎', '山田 太郎'],
    ['a script from right to left', 'عمر الخيّام', 'عمر الخيّام'.normalize('NFC')],
    ['a script that needs a joiner', 'क्‍ष', 'क्‍ष'],
  ]
  for (const [what, entered, stored] of accepted)
    test(`is accepted, at signup and in the account: ${what}`, async () => {
      const { agent } = await named(entered)
      assert.equal(await nameOf(agent), stored)
      assertRedirect(await change(agent, 'Another'), CHANGED)
      assertRedirect(await change(agent, entered), CHANGED)
      assert.equal(await nameOf(agent), stored)
      assertPage(await agent.get('/auth/account'))
    })

  const refused: [what: string, entered: string][] = [
    ['101 characters', 'x'.repeat(101)],
    ['101 emoji', '😀'.repeat(101)],
    ['8 KB', 'x'.repeat(8000)],
    ['a NUL', 'Ada\0Lovelace'],
    ['a line break', 'Ada\r\nLovelace'],
    ['an escape', 'Ada\u001b[31m'],
    ['a control character of one byte more', 'Ada\u0085Lovelace'],
    ['a line separator', 'Ada\u2028Lovelace'],
    ['a paragraph separator', 'Ada\u2029Lovelace'],
    ...[
      '\u061c',
      '\u200e',
      '\u200f',
      '\u202a',
      '\u202b',
      '\u202c',
      '\u202d',
      '\u202e',
      '\u2066',
      '\u2067',
      '\u2068',
      '\u2069',
    ].map((mark): [string, string] => [`U+${mark.charCodeAt(0).toString(16)}`, `Ada${mark}Lovelace`]),
    ['nothing that can be seen', '\u200b\u2060'],
    ['a letter that is empty', '\u3164'],
  ]
  for (const [what, entered] of refused)
    test(`is refused (422, in its field), at signup and in the account, and changes nothing: ${what}`, async () => {
      const person = { ...newPerson(), name: entered }
      const signup = await signUp(newAgent(optional), person)
      assertPage(signup, 422)
      assert.match(signup.text, NAME_IS_WRONG)
      assert.equal(await hasAccount(person.email), false)
      const { agent } = await named('Ada')
      const answer = await change(agent, entered)
      assertPage(answer, 422)
      assert.match(answer.text, NAME_IS_WRONG)
      assert.equal(await nameOf(agent), 'Ada')
    })

  test('is of one field: a form that repeats it is 400, and changes nothing', async () => {
    const twice = ['Ada', 'Grace']
    const person = newPerson()
    assertErrorPage(await newAgent(optional).post('/auth/signup', { ...person, name: twice }), 400)
    assert.equal(await hasAccount(person.email), false)
    const { agent } = await named('Ada')
    assertErrorPage(await change(agent, twice), 400)
    assertErrorPage(await agent.post('/auth/account/name', {}), 400)
    assert.equal(await nameOf(agent), 'Ada')
    const { user, token } = await invite(optional, newPerson().email)
    const { password } = newPerson()
    assertErrorPage(await newAgent(optional).post('/auth/invite', { token, password, name: twice }), 400)
    assert.equal((await runJsonCommandOf<{ invited: boolean }>(optional, ['users', 'show', user.id])).invited, true)
  })

  test('may be that of another user, in the same letters', async () => {
    const [one, other] = [await named('Ada Lovelace'), await named('Ada Lovelace')]
    assert.deepEqual([await nameOf(one.agent), await nameOf(other.agent)], ['Ada Lovelace', 'Ada Lovelace'])
  })

  test('stands on the account page as text, and what was typed is shown again', async () => {
    const { agent } = await named('"><script>alert(1)</script>')
    const page = await agent.get('/auth/account')
    assert.match(page.text, /name="name" type="text" autocomplete="name" value="&quot;&gt;&lt;script&gt;/)
    assert.doesNotMatch(page.text, /<script>alert/)
    const again = await change(agent, `<i>${'x'.repeat(101)}`)
    assert.match(again.text, /value="&lt;i&gt;x{101}"/)
    const signup = await signUp(newAgent(optional), { ...newPerson(), email: 'x', name: '<i>' })
    assertPage(signup, 422)
    assert.match(signup.text, /autocomplete="name" value="&lt;i&gt;"/)
  })

  test('needs the token of the form, and the session', async () => {
    const { agent } = await named('Ada')
    const answer = await agent.post('/auth/account/name', { name: 'Grace', csrf_token: 'x' })
    assertPage(answer, 403)
    assert.match(answer.text, /value="Grace"/)
    assert.equal(await nameOf(agent), 'Ada')
    assert.match((await change(newAgent(optional), 'Grace')).location ?? '', /^\/auth\/login/)
  })
})

describe('SVC_NAMES=off', () => {
  test('no page asks for a name, a field of a form does not count, and the route is 404', async () => {
    const page = await newAgent(off).get('/auth/signup')
    assert.doesNotMatch(page.text, /name="name"/)
    for (const name of ['Ada', 'x'.repeat(101), '', '\u202e']) {
      const { agent, person } = await named(name, off)
      assert.deepEqual(Object.keys(await currentUser(agent)), [
        'id',
        'email',
        'username',
        'roles',
        'disabled',
        'created_at',
      ])
      assert.equal(await nameOf(agent), null, 'on another replica')
      const account = await agent.get('/auth/account')
      assert.doesNotMatch(account.text, /account\/name|name="name"/)
      assertErrorPage(await change(agent, 'Ada'), 404)
      assertErrorPage(await agent.get('/auth/account/name'), 404)
      const signup = await signUp(newAgent(off), { ...person, name })
      assertPage(signup, 409)
      assert.doesNotMatch(signup.text, /name="name"/)
    }
    const { token } = await invite(off, newPerson().email)
    assert.doesNotMatch((await openInvitation(newAgent(off), token)).text, /name="name"/)
    const invited = newAgent(off)
    assertRedirect(await acceptBy(invited, token, newPerson().password, { name: 'x'.repeat(101) }), '/')
  })

  test('hides the names that are there, which are there again when it is turned on', async () => {
    const { agent } = await named('Ada')
    assert.equal(await nameOf(agent, off), undefined)
    assert.equal((await at(off, agent).get('/auth/check')).headers['x-svc-user-name'], undefined)
    assert.doesNotMatch((await at(off, agent).get('/auth/account')).text, /Ada/)
    assert.equal(await nameOf(agent), 'Ada')
  })
})

describe('SVC_NAMES=optional', () => {
  test('a field that is empty, or left out, is no name: `null`', async () => {
    for (const name of ['', '  ', '\u3000']) assert.equal(await nameOf((await named(name)).agent), null)
    const { agent } = await signedUp(optional)
    assert.equal(await nameOf(agent), null)
    assert.match((await newAgent(optional).get('/auth/signup')).text, /<label for="name">Name <span>\(optional\)/)
  })

  test('an empty field on the account page takes the name away', async () => {
    const { agent } = await named('Ada')
    assertRedirect(await change(agent, ' '), CHANGED)
    assert.equal(await nameOf(agent), null)
    assert.match((await agent.get(CHANGED)).text, /Name changed\./)
  })
})

describe('SVC_NAMES=required', () => {
  test('signup and the account page want a name', async () => {
    for (const form of [{}, { name: '' }, { name: ' \t ' }]) {
      const person = newPerson()
      const answer = await signUp(newAgent(required), { ...person, ...form })
      assertPage(answer, 422)
      assert.match(answer.text, NAME_IS_WRONG)
      assert.match(answer.text, /Enter your name\./)
      assert.equal(await hasAccount(person.email), false)
    }
    const { agent } = await named('Ada', required)
    const answer = await change(agent, '')
    assertPage(answer, 422)
    assert.match(answer.text, NAME_IS_WRONG)
    assert.equal(await nameOf(agent), 'Ada')
  })

  test('users from before have none: they sign in, and the account page asks', async () => {
    const { agent } = await signedUp(off)
    const here = at(required, agent)
    assert.equal(await nameOf(here, required), null)
    assert.match((await here.get('/auth/account')).text, /Please add your name\./)
    assertRedirect(await change(here, 'Ada'), CHANGED)
    assert.equal(await nameOf(here, required), 'Ada')
    assert.doesNotMatch((await here.get('/auth/account')).text, /Please add/)
  })
})

describe('§4.10 an invitation', () => {
  test('shows the name that the operator gave, which its user keeps, changes or takes away', async () => {
    for (const [form, name] of [
      [{}, 'Ada'],
      [{ name: 'Ada' }, 'Ada'],
      [{ name: 'Ada Lovelace' }, 'Ada Lovelace'],
      [{ name: '' }, null],
    ] as const) {
      const { token } = await invite(optional, newPerson().email, '--name', 'Ada')
      const agent = newAgent(optional)
      assert.match((await openInvitation(agent, token)).text, /autocomplete="name" value="Ada"/)
      assertRedirect(await acceptBy(agent, token, newPerson().password, form), '/')
      assert.equal(await nameOf(agent), name)
    }
  })

  test('wants a name where one is required, and stays good after a refusal', async () => {
    const { token } = await invite(required, newPerson().email)
    const agent = newAgent(required)
    const { password } = newPerson()
    for (const form of [{}, { name: '' }, { name: 'x\u202ey' }]) {
      const answer = await acceptBy(agent, token, password, form)
      assertPage(answer, 422)
      assert.match(answer.text, NAME_IS_WRONG)
    }
    assertRedirect(await acceptBy(agent, token, password, { name: 'Grace' }), '/')
    assert.equal(await nameOf(agent), 'Grace')
  })

  test('leaves nothing of the name that a stranger gave before', async () => {
    const { person } = await named('Buy at evil.example')
    const { token } = await invite(optional, person.email)
    const agent = newAgent(optional)
    assert.doesNotMatch((await openInvitation(agent, token)).text, /evil/)
    assertRedirect(await acceptBy(agent, token, newPerson().password), '/')
    assert.equal(await nameOf(agent), null)
  })
})

test('a name is in no row but that of its user', async (t) => {
  const { agent } = await named('Unspoken Ada')
  assertRedirect(await change(agent, 'Unspoken Grace'), CHANGED)
  const database = await openDatabase(optional, t)
  const { id } = await currentUser(agent)
  const records = await database.rows('SELECT type, details FROM audit_events WHERE user_id = ? ORDER BY id', id)
  assert.ok(records.some(({ type, details }) => type === 'name.changed' && details === '{}'))
  assert.doesNotMatch(JSON.stringify(records), /Unspoken/)
  assert.doesNotMatch(JSON.stringify(optional.logLines()), /Unspoken/)
  assert.match((await agent.get('/auth/account')).text, /Name changed/)
})
