// Runs on SQLite.
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { describe, test } from 'node:test'
import { newAgent, newPerson, signedUp, signUp } from '../../support/client/accounts.ts'
import { assertCanLogIn, assertPage } from '../../support/client/assertions.ts'
import { createBackend } from '../../support/client/backend.ts'
import type { Answer } from '../../support/client/user-agent.ts'
import { askFor, confirm, UNDO } from '../../support/email/email-change.ts'
import { acceptBy, invite, openInvitation } from '../../support/recovery/invitation.ts'
import { openReset, resetBy, resetTokenOf, tokenOf } from '../../support/recovery/reset.ts'
import { openVerify, startVerification, verifyBy } from '../../support/recovery/verification.ts'
import { exportLines, importLines } from '../../support/service/imports.ts'
import { runCommandOf } from '../../support/service/operator-commands.ts'
import { temporaryDirectory } from '../../support/temporary-directory.ts'

const LEAST = 12
const TOO_SHORT = 'q7#Kd2!zu9X'
const GOOD = 'q7#Kd2!zu9Xw'
const KNOWN = 'Known To Everybody'

const blocklist = path.join(temporaryDirectory(), 'known.txt')
writeFileSync(blocklist, `${KNOWN}\n`)

const {
  service,
  smtp,
  signUp: signUpByMail,
} = await startVerification({
  mode: 'optional',
  env: { SVC_PASSWORD_MIN_LENGTH: String(LEAST), SVC_PASSWORD_BLOCKLIST_FILE: blocklist },
})
const backend = await createBackend(service, ['users:write'])
await runCommandOf(service, ['users', 'create', 'old@example.com'], GOOD)

const assertRefused = (answer: Answer, name: 'password' | 'new_password', problem: RegExp) => {
  assertPage(answer, 422)
  assert.match(answer.text, new RegExp(`name="${name}"[^>]*aria-invalid="true"`))
  assert.match(answer.text, problem)
}

/** Messages to programs. */
const REFUSED = [
  [TOO_SHORT, /A password has at least 12 characters\./],
  [KNOWN.toUpperCase(), /This password is on the list of passwords that are known to others\./],
] as const

const linkTo = async (email: string, count = 1) => tokenOf((await smtp.receivedFor(email, count)).link)

/** The page of each form where a password is chosen, and what sending it with a password answers. */
const FORMS: Record<string, () => Promise<{ page: string; send: (password: string) => Promise<Answer> }>> = {
  async signup() {
    const agent = newAgent(service)
    const { text: page } = await agent.get('/auth/signup')
    return { page, send: (password) => signUp(agent, { ...newPerson(), password }) }
  },
  async 'the account page'() {
    const { agent, person } = await signedUp(service)
    const { text: page } = await agent.get('/auth/account')
    const send = (password: string) =>
      agent.post('/auth/account/password', { current_password: person.password, new_password: password })
    return { page, send }
  },
  async 'a reset link'() {
    const { person } = await signedUp(service)
    const [agent, token] = [newAgent(service), await resetTokenOf(service, person.email)]
    return { page: (await openReset(agent, token)).text, send: (password) => resetBy(agent, token, password) }
  },
  async 'an invitation'() {
    const [agent, { token }] = [newAgent(service), await invite(service, newPerson().email)]
    return { page: (await openInvitation(agent, token)).text, send: (password) => acceptBy(agent, token, password) }
  },
  async 'taking an account over'() {
    const [agent, { token }] = [newAgent(service), await signUpByMail()]
    const { text: page } = await openVerify(agent, token)
    return { page, send: (password) => verifyBy(agent, token, { new_password: password }) }
  },
  async 'undoing a change of email'() {
    const { agent, person, token: proof } = await signUpByMail()
    assert.equal((await verifyBy(agent, proof)).status, 303)
    const { email } = newPerson()
    assert.equal((await askFor(agent, email)).status, 303)
    assert.equal((await confirm(agent, await linkTo(email))).status, 200)
    const [owner, token] = [newAgent(service), await linkTo(person.email, 3)]
    const { text: page } = await owner.get(`${UNDO}?token=${token}`)
    return { page, send: (password) => owner.post(UNDO, { token, password }) }
  },
}

describe('§2.3 SVC_PASSWORD_MIN_LENGTH and SVC_PASSWORD_BLOCKLIST_FILE', () => {
  for (const [form, open] of Object.entries(FORMS)) {
    test(`${form}: the page says the number; one character less is 422, and so is a known password`, async () => {
      const { page, send } = await open()
      assert.match(page, /At least 12 characters\./)
      assert.match(page, /autocomplete="new-password"[^>]*minlength="12"/)
      assert.doesNotMatch(page, /minlength="8"|8 characters/)
      const name = /name="new_password"/.test(page) ? 'new_password' : 'password'
      assertRefused(await send(TOO_SHORT), name, /Use at least 12 characters\./)
      assertRefused(await send(KNOWN), name, /This password is on a list of known passwords/)
      assert.equal((await send(GOOD)).status, 303)
    })
  }

  test('the server API: 422 with the field and the rule', async () => {
    const { email } = newPerson()
    for (const [password, message] of REFUSED) {
      const { status, text } = await backend.call('POST', '/users', { email, password })
      assert.equal(status, 422)
      assert.match(text, message)
      assert.match(text, /"field":"password"/)
    }
    assert.equal((await backend.call('POST', '/users', { email, password: GOOD })).status, 201)
  })

  test('commands: create, set-password and import say it, and change nothing', async () => {
    for (const args of [
      ['users', 'create', 'new@example.com'],
      ['users', 'set-password', 'old@example.com'],
    ]) {
      for (const [input, message] of REFUSED) {
        const { code, stderr } = await service.cli(args, { input })
        assert.equal(code, 1)
        assert.match(stderr, message)
      }
    }
    const imported = await importLines(service, [
      { email: 'short@example.com', password: TOO_SHORT },
      { email: 'known@example.com', password: KNOWN },
      { email: 'long@example.com', password: GOOD },
    ])
    assert.match(imported.stderr, /line 1: password: A password has at least 12 characters\./)
    assert.match(imported.stderr, /line 2: password: This password is on the list of passwords that are known/)
    const emails = (await exportLines(service)).map(({ email }) => email)
    assert.deepEqual(
      ['new', 'short', 'known', 'long'].map((name) => emails.includes(`${name}@example.com`)),
      [false, false, false, true],
    )
    await assertCanLogIn(service, { ...newPerson(), email: 'old@example.com', password: GOOD })
  })

  test('passwords from before go on working, also where they are shorter', async (t) => {
    const { person } = await signedUp(service)
    await service.restart({ env: { SVC_PASSWORD_MIN_LENGTH: '64' } })
    t.after(() => service.restart({ env: { SVC_PASSWORD_MIN_LENGTH: String(LEAST) } }))
    await assertCanLogIn(service, person)
    const answer = await signUp(newAgent(service), { ...newPerson(), password: 'x1!'.padEnd(63, 'abcdefg hijkl') })
    assert.equal(answer.status, 422)
    assert.match(answer.text, /Use at least 64 characters\./)
  })
})
