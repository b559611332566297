// Runs on SQLite and PostgreSQL.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { currentUser, newAgent, newPerson, signedUp, signUp } from '../../support/client/accounts.ts'
import { assertPage, assertRedirect } from '../../support/client/assertions.ts'
import { createUserAgent } from '../../support/client/user-agent.ts'
import { startService } from '../../support/service/service.ts'

const service = await startService()
const tag = () => randomUUID().slice(0, 8)
const rule = /^[a-z0-9_-]{3,30}$/

const accepted = ['abc', '123', '_-_', `a-b_${tag()}`, tag().padEnd(30, 'x'), 'constructor', '__proto__', 'admin-x']
for (const username of accepted) {
  test(`§2.1 username: 3 to 30 of a-z 0-9 _ - is accepted: ${username}`, async () => {
    const { agent } = await signedUp(service, { ...newPerson(), username })
    assert.equal((await currentUser(agent)).username, username)
  })
}

const refused: [string, string][] = [
  ['2 characters', 'ab'],
  ['31 characters', 'x'.repeat(31)],
  ['a dot', 'a.b.c'],
  ['a space inside', 'a b c'],
  ['an @', 'a@b'],
  ['letters beyond ASCII', 'jürgen'],
  ['full-width letters', 'ａｂｃ'],
  ['a Kelvin sign, which lower-cases to k', '\u212aelvin'],
  ['an emoji', 'abc😀'],
  ['a line break', 'abc\r\ndef'],
  ['a NUL', 'abc\u0000'],
  ['a script', '<script>'],
  ['8 KB', 'x'.repeat(8000)],
]
for (const [what, username] of refused) {
  test(`§2.1 username refused (422, the page shows which field), at signup and in the account: ${what}`, async () => {
    const field = /name="username"[^>]*aria-invalid="true"|aria-invalid="true"[^>]*name="username"/
    const signup = await signUp(newAgent(service), { ...newPerson(), username })
    assertPage(signup, 422)
    assert.match(signup.text, field)
    const { agent, person } = await signedUp(service)
    const change = await agent.post('/auth/account/username', { username })
    assertPage(change, 422)
    assert.match(change.text, field)
    assert.equal((await currentUser(agent)).username, person.username)
  })
}

test('§2.1 username is stored lower-cased', async () => {
  const name = `N${tag()}`.toUpperCase()
  const { agent } = await signedUp(service, { ...newPerson(), username: name })
  assert.equal((await currentUser(agent)).username, name.toLowerCase())
})

test('§2.1 username is unique regardless of case, at signup (409) and in the account (409)', async () => {
  const { person } = await signedUp(service)
  const taken = person.username.toUpperCase()
  assertPage(await signUp(newAgent(service), { ...newPerson(), username: taken }), 409)
  const other = await signedUp(service)
  assertPage(await other.agent.post('/auth/account/username', { username: taken }), 409)
  assert.equal((await currentUser(other.agent)).username, other.person.username)
})

test('§2.1 username changes in the account: 303 to /auth/account?done=username, and GET /user has it at once', async () => {
  const { agent } = await signedUp(service)
  const { username } = newPerson()
  assertRedirect(await agent.post('/auth/account/username', { username }), '/auth/account?done=username')
  assert.equal((await currentUser(agent)).username, username)
  assertRedirect(await agent.post('/auth/account/username', { username }), '/auth/account?done=username')
})

const signUpWithout = async (email: string, form: { username?: string } = {}) => {
  const agent = createUserAgent(service)
  const answer = await signUp(agent, { email, password: newPerson().password, ...form })
  assert.equal(answer.status, 303, answer.text)
  return (await currentUser(agent)).username
}

test("§2.1 when left out, the username is made from the email's local part", async () => {
  const name = `local-${tag()}`
  assert.equal(await signUpWithout(`${name}@example.com`), name)
})

test('§2.1 a username field that is left empty is left out', async () => {
  const name = `empty-${tag()}`
  assert.equal(await signUpWithout(`${name}@example.com`, { username: '' }), name)
})

test('§2.1 when left out, digits are added until it is free', async () => {
  const name = `again-${tag()}`
  const names = []
  for (const domain of ['a.example', 'b.example', 'c.example']) names.push(await signUpWithout(`${name}@${domain}`))
  assert.equal(names[0], name)
  assert.equal(new Set(names).size, 3)
  for (const made of names) assert.match(made, new RegExp(`^${name}[0-9_-]*$`))
})

test('§2.1 when left out in ten signups at once, all succeed with different usernames', async () => {
  const name = `crowd-${tag()}`
  const names = await Promise.all(Array.from({ length: 10 }, (_, index) => signUpWithout(`${name}@n${index}.example`)))
  assert.equal(new Set(names).size, 10)
})

for (const local of ['a', '!', "o'neil", 'first.last+tag', 'UPPER', 'l'.repeat(64), '___', '{|}']) {
  test(`§2.1 when left out, the username follows the rule, also from ${local}`, async () => {
    assert.match(await signUpWithout(`${local}@${tag()}.example`), rule)
    assert.match(await signUpWithout(`${local}@${tag()}.example`), rule)
  })
}
