// Runs on SQLite.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, test } from 'node:test'
import { currentUser, logIn, logOut, newPerson } from '../../support/client/accounts.ts'
import { assertPage, assertRedirect, assertSignedIn, assertSignedOut } from '../../support/client/assertions.ts'
import { createUserAgent, type UserAgent } from '../../support/client/user-agent.ts'
import { openDatabase } from '../../support/database/database.ts'
import { startSmtpServer } from '../../support/network/smtp-server.ts'
import { createAuthenticator } from '../../support/passkeys/authenticator.ts'
import { addPasskey, logInWithPasskey } from '../../support/passkeys/passkeys.ts'
import { askForLink, openReset, resetBy, resetMailFor, tokenOf } from '../../support/recovery/reset.ts'
import { setUpApp, storePasskey } from '../../support/second-factor/guarded-account.ts'
import { openOperator } from '../../support/service/replicas.ts'
import { startService } from '../../support/service/service.ts'

const smtp = await startSmtpServer()
const env = { ...smtp.env, SVC_MAIL_NOTICES: 'off', SVC_EMAIL_VERIFICATION: 'off' }
const service = await startService({ env })
const database = await openDatabase(service)
const core = await openOperator(service)

const CODE_PAGE = '/auth/login/code'
const ACCOUNT = '/auth/account'
const NEXT = 'a good password 1'
const newAgent = () => createUserAgent(service)

/** An owner with a verified address, an app and recovery codes. */
const owner = async () => {
  const person = newPerson()
  const { id } = await core.users.create({ ...person, emailVerified: true })
  return { id, person, app: await setUpApp(core, { userId: id, email: person.email }) }
}

type Owner = Awaited<ReturnType<typeof owner>>

const assertAtCode = async (agent: UserAgent, { person }: Owner): Promise<void> => {
  const answer = await logIn(agent, person)
  assert.equal(answer.status, 303)
  assert.ok(answer.location?.startsWith(CODE_PAGE), answer.location)
}

const passwordHashOf = async ({ id }: Owner) =>
  (await database.rows('SELECT password_hash FROM users WHERE id = ?', id))[0]?.password_hash

/** What gets into an account for good: none of it may work. */
const assertChangesNothing = async (agent: UserAgent, account: Owner, table = 'one_time_codes'): Promise<void> => {
  const before = await passwordHashOf(account)
  const forms = [
    [`${ACCOUNT}/email`, { email: newPerson().email }],
    [`${ACCOUNT}/second-factor`, { remove: '1' }],
    [`${ACCOUNT}/second-factor`, { recovery_codes: 'new' }],
    [`${ACCOUNT}/passkeys`, { passkey_id: 'x', remove: '1' }],
    [`${ACCOUNT}/delete`, { password: account.person.password }],
  ] as const
  for (const [path, form] of forms) {
    const { status, location } = await agent.post(path, form)
    assert.ok(
      status === 303 && /^\/auth\/(?:login|account\/confirm)/.test(location ?? ''),
      `${path}: ${status} ${location}`,
    )
  }
  assert.equal(await passwordHashOf(account), before)
  assert.equal((await database.rows(`SELECT user_id FROM ${table} WHERE user_id = ?`, account.id)).length, 1)
}

const linkFor = async ({ person }: Owner): Promise<string> => {
  await askForLink(newAgent(), person.email)
  return tokenOf((await resetMailFor(smtp, person.email)).link)
}

/** Signed in with a code in a browser that is trusted from then on, a while ago. */
const trustedBrowser = async (account: Owner): Promise<UserAgent> => {
  const agent = newAgent()
  await assertAtCode(agent, account)
  assertRedirect(await agent.post(CODE_PAGE, { code: account.app.nextCode(), trust_browser: '1' }), '/')
  await database.rows('UPDATE sessions SET authenticated_at = authenticated_at - 660000 WHERE user_id = ?', account.id)
  return agent
}

describe('a thief of a password', () => {
  test('gets as far as the code, and the owner is told of wrong ones', async () => {
    const account = await owner()
    const thief = newAgent()
    await assertAtCode(thief, account)
    await assertSignedOut(thief)
    await assertChangesNothing(thief, account)
    for (let count = 0; count < 3; count += 1) assertPage(await thief.post(CODE_PAGE, { code: '000000' }), 401)
    // The first message is about the app.
    await smtp.receivedFor(account.person.email, 2)
    assert.ok(smtp.mails.some(({ to, subject }) => to === account.person.email && subject.startsWith('Wrong codes')))
    await assertSignedOut(thief)
  })
})

describe('a thief of a mailbox', () => {
  test('sets no new password without the second factor, and switches no factor off', async () => {
    const account = await owner()
    const token = await linkFor(account)
    const thief = newAgent()
    assertPage(await openReset(thief, token))
    assertPage(await resetBy(thief, token, NEXT), 422)
    assertPage(await resetBy(thief, token, NEXT, { code: '000000' }), 401)
    await assertSignedOut(thief)
    await assertChangesNothing(thief, account)
  })

  test('gets in where there is no second factor', async () => {
    const person = newPerson()
    const { id } = await core.users.create({ ...person, emailVerified: true })
    const account = { id, person, app: undefined as never }
    const thief = newAgent()
    assertRedirect(await resetBy(thief, await linkFor(account), NEXT), '/')
    await assertSignedIn(thief)
  })
})

describe('a thief of an unlocked trusted browser', () => {
  test('uses the session, and changes no way into the account', async () => {
    const account = await owner()
    const thief = await trustedBrowser(account)
    assert.equal((await currentUser(thief)).id, account.id)
    await assertChangesNothing(thief, account)
    assertPage(
      await thief.post(`${ACCOUNT}/confirm`, { password: 'wrong password', code: account.app.nextCode() }),
      401,
    )
  })

  test('with the password as well, signs in without a code, and still changes no way in but the password', async () => {
    const account = await owner()
    const thief = await trustedBrowser(account)
    await logOut(thief)
    assertRedirect(await logIn(thief, account.person), '/')
    await assertChangesNothing(thief, account)
    const form = { current_password: account.person.password, new_password: NEXT }
    assertRedirect(await thief.post(`${ACCOUNT}/password`, form), `${ACCOUNT}?done=password`)
    await logOut(thief)
    const answer = await logIn(thief, { ...account.person, password: NEXT })
    assert.ok(answer.location?.startsWith(CODE_PAGE), 'the trust has ended with the password')
  })
})

describe('a thief of a password, of an account that has passkeys alone', () => {
  test('signs in, unless a second factor is required, and changes no way in but the password', async () => {
    const person = newPerson()
    const { id } = await core.users.create({ ...person, emailVerified: true })
    await storePasskey(core, id)
    const account = { id, person, app: undefined as never }
    const thief = newAgent()
    assertRedirect(await logIn(thief, person), '/')
    await assertChangesNothing(thief, account, 'passkeys')
    await service.restart({ env: { SVC_SECOND_FACTOR: 'required' } })
    await assertAtCode(newAgent(), account)
    await service.restart({ env: { SVC_SECOND_FACTOR: 'optional' } })
  })
})

describe('a thief of a phone', () => {
  test('has codes, which open nothing without the password, a provider or a link', async () => {
    const account = await owner()
    const { person, app } = account
    const thief = newAgent()
    for (const code of [app.nextCode(), app.recoveryCodes[0] ?? '']) {
      assert.notEqual((await thief.post(CODE_PAGE, { code })).location, '/')
      assertPage(await logIn(thief, { ...person, password: code }), 401)
    }
    await assertSignedOut(thief)
    await assertChangesNothing(thief, account)
  })

  test('cannot use its passkey without unlocking it, and gets in with it unlocked', async () => {
    const person = newPerson()
    await core.users.create({ ...person, emailVerified: true })
    const agent = newAgent()
    assertRedirect(await logIn(agent, person), '/')
    const phone = createAuthenticator({ origin: service.url })
    await addPasskey(agent, phone)
    const thief = newAgent()
    assert.notEqual((await logInWithPasskey(thief, phone, { userVerified: false })).status, 200)
    await assertSignedOut(thief)
    assert.equal((await logInWithPasskey(thief, phone)).status, 200)
    await assertSignedIn(thief)
  })
})

const read = (file: string) => readFileSync(new URL(`../../../${file}`, import.meta.url), 'utf8')

test('docs/security.md names a test in each row about second factors', () => {
  const table = /^\| stolen, and nothing else \|.*\n.*\n((?:\|.*\n)+)/m.exec(read('docs/security.md'))?.[1] ?? ''
  const rows = table.trim().split('\n')
  assert.ok(rows.length >= 9)
  for (const row of rows) {
    const [, title, file] = /\| \[([^\]]+)\]\(\.\.\/([^)]+)\) \|$/.exec(row) ?? []
    assert.ok(title && file, row)
    assert.ok(read(file).includes(`test('${title}'`), title)
  }
})
