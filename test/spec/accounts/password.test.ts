// Runs on SQLite.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newAgent, newPerson, signedUp, signUp } from '../../support/client/accounts.ts'
import {
  assertCanLogIn,
  assertCannotLogIn,
  assertPage,
  assertRedirect,
  assertSignedIn,
} from '../../support/client/assertions.ts'
import { startService } from '../../support/service/service.ts'

const service = await startService()
const passwordField =
  /name="(?:password|new_password)"[^>]*aria-invalid="true"|aria-invalid="true"[^>]*name="(?:password|new_password)"/

/** 256 characters. */
const long = 'xY0!rt-Q'.repeat(32)

const accepted: [string, string][] = [
  ['8 characters', 'q7#Kd2!z'],
  ['256 characters', long],
  ['8 emoji', '😀🦊🌵🚀🎲🧩🪁🛶'],
  ['256 emoji', '😀🦊🌵🚀🎲🧩🪁🛶'.repeat(32)],
  ['8 characters that are 16 before NFC', 'e\u0301a\u0301o\u0301u\u0301i\u0301E\u0301A\u0301O\u0301'],
  ['256 characters that are 512 before NFC', 'e\u0301a\u0301o\u0301u\u0301i\u0301E\u0301A\u0301O\u0301'.repeat(32)],
  ['spaces around', '  two words  '],
  ['only unusual spaces', '\u3000\u2003\u00a0 \u2003\u3000 \u00a0'],
  ['a NUL inside', 'before\u0000after'],
  ['line ends as the browser sends them', 'line one\r\nline two'],
  ['control characters', '\u0001\u0002\u0003\u0004\u0005\u0006\u0007\u001b'],
  ['signs of a form', 'a=b&c=d%20+;#'],
  ['HTML', '<b>"bold"</b>'],
  ['digits alone that nobody uses', '8305719264'],
  ['Chinese', '正确的马电池订书钉'],
]
for (const [what, password] of accepted) {
  test(`§4.2 password accepted, and logs in: ${what}`, async () => {
    const { person } = await signedUp(service, { ...newPerson(), password })
    await assertCanLogIn(service, person)
  })
}

const refused: [string, string][] = [
  ['empty', ''],
  ['7 characters', 'q7#Kd2!'],
  ['257 characters', `${long}z`],
  ['257 emoji', `${'😀🦊🌵🚀🎲🧩🪁🛶'.repeat(32)}😀`],
  ['4 emoji, which are 8 UTF-16 units', '😀🦊🌵🚀'],
  ['7 characters that are 14 before NFC', 'e\u0301a\u0301o\u0301u\u0301i\u0301E\u0301A\u0301'],
  ['commonly used: password', 'password'],
  ['commonly used: 12345678', '12345678'],
  ['commonly used: 123456789', '123456789'],
  ['commonly used: qwertyuiop', 'qwertyuiop'],
  ['commonly used: iloveyou', 'iloveyou'],
  ['commonly used: password1', 'password1'],
  ['commonly used: 11111111', '11111111'],
]
for (const [what, password] of refused) {
  test(`§4.2 password refused (422, the page shows which field), at signup and in the account: ${what}`, async () => {
    const signup = await signUp(newAgent(service), { ...newPerson(), password })
    assertPage(signup, 422)
    assert.match(signup.text, passwordField)
    const { agent, person } = await signedUp(service)
    const form = { current_password: person.password, new_password: password }
    const change = await agent.post('/auth/account/password', form)
    assertPage(change, 422)
    assert.match(change.text, passwordField)
    await assertCanLogIn(service, person)
  })
}

test('§4.2 password refused when it is the email or username', async () => {
  const person = newPerson()
  for (const password of [person.email, person.username]) {
    const answer = await signUp(newAgent(service), { ...person, password })
    assertPage(answer, 422)
    assert.match(answer.text, passwordField)
  }
  const { agent, person: known } = await signedUp(service)
  for (const password of [known.email, known.username]) {
    const form = { current_password: known.password, new_password: password }
    assertPage(await agent.post('/auth/account/password', form), 422)
  }
})

test('§4.2 after NFC: composed and decomposed spellings are the same password', async () => {
  const person = newPerson()
  await signedUp(service, { ...person, password: 'Cafe\u0301 Ångström 1' })
  await assertCanLogIn(service, { ...person, password: 'Café A\u030angstro\u0308m 1' })
})

test('§4.2 NFC, not NFKC: a ligature is not its letters', async () => {
  const person = newPerson()
  await signedUp(service, { ...person, password: 'ofﬁce hours' })
  await assertCannotLogIn(service, { ...person, password: 'office hours' })
})

const near: [string, string, string][] = [
  ['leading space', ' secret phrase', 'secret phrase'],
  ['trailing space', 'secret phrase ', 'secret phrase'],
  ['line ends', 'line one\r\nline two', 'line one\nline two'],
  ['what follows a NUL', 'same start\u0000one', 'same start\u0000two'],
  ['what follows a NUL, cut off', 'same start\u0000one', 'same start'],
  ['case', 'Secret Phrase', 'secret phrase'],
  ['the 73rd byte', `${'x'.repeat(72)}one`, `${'x'.repeat(72)}two`],
  ['the 256th character', `${'xY'.repeat(127)}ab`, `${'xY'.repeat(127)}ac`],
]
for (const [what, password, other] of near) {
  test(`§4.2 nothing is trimmed or cut: passwords that differ in ${what} are different`, async () => {
    const { person } = await signedUp(service, { ...newPerson(), password })
    await assertCannotLogIn(service, { ...person, password: other })
    await assertCanLogIn(service, person)
  })
}

test('§4.2 password change: 303 to /auth/account?done=password; the new one works, the old one no longer', async () => {
  const { agent, person } = await signedUp(service)
  const { password } = newPerson()
  const form = { current_password: person.password, new_password: password }
  assertRedirect(await agent.post('/auth/account/password', form), '/auth/account?done=password')
  await assertCannotLogIn(service, person)
  await assertCanLogIn(service, { ...person, password })
})

test('§4.2 password change with a wrong current password: 401 with the page, nothing changed', async () => {
  const { agent, person } = await signedUp(service)
  for (const current of ['wrong password', '', person.password.toUpperCase()]) {
    const form = { current_password: current, new_password: newPerson().password }
    const answer = await agent.post('/auth/account/password', form)
    assert.ok(answer.status === 401 || (current === '' && answer.status === 422), String(answer.status))
    assertPage(answer, answer.status)
  }
  await assertSignedIn(agent)
  await assertCanLogIn(service, person)
})

test('§4.2 a 1 MB password is 413 at every form with a password, without a change of state', async () => {
  const { agent, person } = await signedUp(service)
  const huge = 'x'.repeat(1_000_000)
  assertPage(await agent.post('/auth/login', { email: person.email, password: huge }), 413)
  assertPage(await agent.post('/auth/signup', { ...newPerson(), password: huge }), 413)
  const form = { current_password: person.password, new_password: huge }
  assertPage(await agent.post('/auth/account/password', form), 413)
  assertPage(await agent.post('/auth/account/delete', { password: huge }), 413)
  await assertCanLogIn(service, person)
})
