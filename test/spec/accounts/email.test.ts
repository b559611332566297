// Runs on SQLite and PostgreSQL.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { currentUser, logIn, newAgent, newPerson, signedUp, signUp } from '../../support/client/accounts.ts'
import { assertCanLogIn, assertPage } from '../../support/client/assertions.ts'
import { createUserAgent } from '../../support/client/user-agent.ts'
import { listUsers } from '../../support/service/operator-commands.ts'
import { startService } from '../../support/service/service.ts'

const service = await startService()
const tag = () => randomUUID().slice(0, 8)

const fill = (length: number, end: string) => `${tag()}${'x'.repeat(length - 8 - end.length)}${end}`
const label63 = 'd'.repeat(63)
const domainOf = (length: number) => `${`${label63}.`.repeat(4)}example`.slice(-length)

const accepted: [string, string][] = [
  ['plain', `${tag()}@example.com`],
  ['dots and a plus', `first.last+${tag()}@example.com`],
  ['every sign that an atom may have', `!#$%&'*+/=?^_\`{|}~-${tag()}@example.org`],
  ['a local part of one character', `a@${tag()}.example`],
  ['a local part of 64', `${fill(64, '')}@example.com`],
  ['254 in all', `${fill(64, '')}@${domainOf(189)}`],
  ['a label of 63', `x@${'y'.repeat(55)}${tag()}.example`],
  ['digits as labels', `x@${tag()}.1.2.3.example`],
  ['many labels', `x@a.b.c.d.e.f.${tag()}.museum`],
  ['Punycode', `x@xn--bcher-kva.${tag()}.xn--p1ai`],
  ['hyphens inside labels', `x@a--b-${tag()}.co-op.example`],
  ['upper case', `X${tag()}@EXAMPLE.COM`],
]
for (const [what, email] of accepted) {
  test(`§2.1 email accepted: ${what} ${email.slice(0, 50)}`, async () => {
    const { agent, person } = await signedUp(service, { ...newPerson(), email })
    assert.equal((await currentUser(agent)).email, email)
    await assertCanLogIn(service, person)
  })
}

const refused: [string, string][] = [
  ['empty', ''],
  ['only spaces', '   '],
  ['no @', 'example.com'],
  ['no local part', '@example.com'],
  ['no domain', 'x@'],
  ['two @', 'x@y@example.com'],
  ['two @ in a row', 'x@@example.com'],
  ['domain without a dot', 'x@localhost'],
  ['numeric top level: an IPv4 address', 'x@127.0.0.1'],
  ['numeric top level', 'x@example.123'],
  ['domain literal', 'x@[127.0.0.1]'],
  ['empty label', 'x@example..com'],
  ['leading dot of the domain', 'x@.example.com'],
  ['trailing dot of the domain', 'x@example.com.'],
  ['label that begins with a hyphen', 'x@-example.com'],
  ['label that ends with a hyphen', 'x@example-.com'],
  ['underscore in the domain', 'x@ex_ample.com'],
  ['label of 64', `x@${'y'.repeat(64)}.example`],
  ['leading dot', '.x@example.com'],
  ['trailing dot', 'x.@example.com'],
  ['two dots in a row', 'x..y@example.com'],
  ['local part of 65', `${fill(65, '')}@example.com`],
  ['255 in all', `${fill(64, '')}@${domainOf(190)}`],
  ['quoted local part', '"a b"@example.com'],
  ['a space inside', 'a b@example.com'],
  ['a space before the @', 'x @example.com'],
  ['a space after the @', 'x@ example.com'],
  ['a comment', 'x(y)@example.com'],
  ['a name beside it', 'X <x@example.com>'],
  ['two addresses', 'x@example.com,y@example.com'],
  ['a line break with another header', 'x@example.com\r\nBcc: y@example.com'],
  ['a line feed inside', 'x\n@example.com'],
  ['a tab inside', 'x\t@example.com'],
  ['a NUL', 'x\u0000@example.com'],
  ['a NUL at the end', 'x@example.com\u0000'],
  ['letters beyond ASCII in the local part', 'jürgen@example.com'],
  ['a Unicode domain', 'x@bücher.example'],
  ['a Cyrillic look-alike', 'x@exаmple.com'],
  ['a full-width @', 'x＠example.com'],
  ['a full-width dot', 'x@example。com'],
  ['a Kelvin sign, which lower-cases to k', 'x\u212a@example.com'],
  ['a long s, which upper-cases to S', 'x\u017f@example.com'],
  ['a dotted capital I', '\u0130x@example.com'],
  ['a zero-width space', 'x\u200b@example.com'],
  ['a right-to-left override', 'x\u202e@example.com'],
  ['a soft hyphen in the domain', 'x@exam\u00adple.com'],
  ['an emoji', '😀@example.com'],
  ['a script', '<script>alert(1)</script>@example.com'],
  ['8 KB', `${'x'.repeat(8000)}@example.com`],
]
for (const [what, email] of refused) {
  test(`§2.1 email refused (422, the page shows which field): ${what}`, async () => {
    const answer = await signUp(newAgent(service), { ...newPerson(), email })
    assertPage(answer, 422)
    assert.match(answer.text, /aria-invalid="true"/)
    assert.match(answer.text, /name="email"[^>]*aria-invalid="true"|aria-invalid="true"[^>]*name="email"/)
    assert.doesNotMatch(answer.text, /<script>alert/)
  })
}

test('§2.1 an international domain is refused with the address that is accepted, on pages and the command line', async () => {
  const { username, password } = newPerson()
  const hint = /Enter this (?:email )?address as ada@xn--bcher-kva\.example\./
  assert.match((await signUp(newAgent(service), { email: ' ada@Bücher.example ', username, password })).text, hint)
  const made = await service.cli(['users', 'create', '--email', 'ada@bücher.example', '--username', username])
  assert.equal(made.code, 1)
  assert.match(made.stderr, hint)
  for (const email of ['jürgen@bücher.example', 'ada@bücher.example@bücher.example', 'ada@bücher'])
    assert.match((await signUp(newAgent(service), { email, username, password })).text, /like name@example\.com/)
})

test('§2.1 none of the refused emails became an account', async () => {
  for (const [, email] of refused) await signUp(newAgent(service), { ...newPerson(), email })
  const known = new Set((await listUsers(service)).map(({ email }) => email))
  for (const [, email] of refused) assert.ok(!known.has(email.trim()), email)
})

test('§2.1 surrounding spaces are removed, at signup and at login', async () => {
  const person = newPerson()
  const { agent } = await signedUp(service, { ...person, email: `  ${person.email} ` })
  assert.equal((await currentUser(agent)).email, person.email)
  await assertCanLogIn(service, { ...person, email: ` ${person.email}  ` })
})

test('§2.1 compared lower-cased, shown as entered', async () => {
  const person = newPerson()
  const entered = person.email.toUpperCase()
  const { agent } = await signedUp(service, { ...person, email: entered })
  assert.equal((await currentUser(agent)).email, entered)
  await assertCanLogIn(service, person)
  const again = await signUp(newAgent(service), { ...newPerson(), email: person.email })
  assertPage(again, 409)
})

test('§2.1 a taken email is 409, and changes neither account nor password', async () => {
  const { person } = await signedUp(service)
  assertPage(await signUp(newAgent(service), { ...newPerson(), email: person.email }), 409)
  await assertCanLogIn(service, person)
})

test('§2.1 ten signups at once with one email: one account, nine times 409', async () => {
  const person = newPerson()
  const spellings = Array.from({ length: 10 }, (_, index) => (index % 2 ? person.email : person.email.toUpperCase()))
  const answers = await Promise.all(
    spellings.map((email) => {
      const { username, password } = newPerson()
      return signUp(newAgent(service), { email, username, password })
    }),
  )
  const statuses = answers.map(({ status }) => status).sort((a, b) => a - b)
  assert.deepEqual(statuses, [303, ...Array.from({ length: 9 }, () => 409)])
  const users = await listUsers(service)
  assert.equal(users.filter(({ email }) => email.toLowerCase() === person.email).length, 1)
})

test('§2.1 email=a&email=b is refused: no user is logged in or signed up', async () => {
  const [{ person }, other] = [await signedUp(service), newPerson()]
  for (const emails of [
    [person.email, other.email],
    [other.email, person.email],
  ]) {
    const login = await createUserAgent(service).post('/auth/login', { email: emails, password: person.password })
    assert.ok(login.status >= 400 && login.status < 500, String(login.status))
    const signup = await createUserAgent(service).post('/auth/signup', { ...other, email: emails })
    assert.ok(signup.status >= 400 && signup.status < 500, String(signup.status))
  }
  assert.equal((await logIn(newAgent(service), other)).status, 401)
})

test('§2.1 unknown email and wrong password: same status (401), same page', async () => {
  const { person } = await signedUp(service)
  const stranger = newPerson()
  const ask = async (email: string) => {
    const visitor = createUserAgent(service)
    const answer = await visitor.post('/auth/login', { email, password: 'not the password' })
    assertPage(answer, 401)
    const csrf = visitor.cookies.get('svc_csrf') ?? 'none'
    const page = answer.text.replaceAll(email, 'EMAIL').replaceAll(csrf, 'CSRF')
    return page.replaceAll(String(answer.headers['x-request-id']), 'ID')
  }
  assert.equal(await ask(person.email), await ask(stranger.email))
})
