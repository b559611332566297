// Runs on SQLite.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, test } from 'node:test'
import { currentUser, logIn, logOut, newPerson } from '../../support/client/accounts.ts'
import {
  assertErrorPage,
  assertPage,
  assertRedirect,
  assertSignedIn,
  assertSignedOut,
} from '../../support/client/assertions.ts'
import { createUserAgent, type UserAgent } from '../../support/client/user-agent.ts'
import { createAuthenticator } from '../../support/passkeys/authenticator.ts'
import { addPasskey, logInWithPasskey } from '../../support/passkeys/passkeys.ts'
import { askForLink, openReset, resetBy, resetMailFor, tokenOf } from '../../support/recovery/reset.ts'
import {
  ask,
  ASK,
  openLink,
  pressLink,
  startSignInByMail,
  typeCode,
  WRONG,
} from '../../support/recovery/sign-in-by-mail.ts'
import { setUpApp, storePasskey } from '../../support/second-factor/guarded-account.ts'
import { eventually } from '../../support/wait.ts'

const { service, smtp, database, core, asked, askedForMail, signInMails } = await startSignInByMail({
  env: { SVC_MAIL_NOTICES: 'off' },
})

const CODE_PAGE = '/auth/login/code'
const ACCOUNT = '/auth/account'
const NEXT = 'a good password 1'
const newAgent = () => createUserAgent(service)

/** An owner with a verified address and a password alone. */
const plainOwner = async () => {
  const person = newPerson()
  const { id } = await core.users.create({ ...person, emailVerified: true })
  return { id, person }
}

/** An owner with a verified address, an app and recovery codes. */
const owner = async () => {
  const { id, person } = await plainOwner()
  return { id, person, app: await setUpApp(core, { userId: id, email: person.email }) }
}

/** An owner with a password and passkeys alone. */
const passkeyOwner = async () => {
  const account = await plainOwner()
  await storePasskey(core, account.id)
  return account
}

type Plain = Awaited<ReturnType<typeof plainOwner>>
type Owner = Awaited<ReturnType<typeof owner>>

const assertAtCode = async (agent: UserAgent, { person }: Plain): Promise<void> => {
  const answer = await logIn(agent, person)
  assert.equal(answer.status, 303)
  assert.ok(answer.location?.startsWith(CODE_PAGE), answer.location)
}

const passwordHashOf = async ({ id }: Plain) =>
  (await database.rows('SELECT password_hash FROM users WHERE id = ?', id))[0]?.password_hash

/** What gets into an account for good: none of it may work. */
const assertChangesNothing = async (agent: UserAgent, account: Plain, ...tables: string[]): Promise<void> => {
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
    const isRefused = status === 303 && /^\/auth\/(?:login|account\/confirm)/.test(location ?? '')
    assert.ok(isRefused || ('password' in form && status === 401), `${path}: ${status} ${location}`)
  }
  assert.equal(await passwordHashOf(account), before)
  for (const table of tables)
    assert.equal((await database.rows(`SELECT user_id FROM ${table} WHERE user_id = ?`, account.id)).length, 1, table)
}

const linkFor = async ({ person }: Plain): Promise<string> => {
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
    await assertChangesNothing(thief, account, 'one_time_codes')
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
    await assertChangesNothing(thief, account, 'one_time_codes')
  })

  test('gets in where there is no second factor', async () => {
    const account = await plainOwner()
    const thief = newAgent()
    assertRedirect(await resetBy(thief, await linkFor(account), NEXT), '/')
    await assertSignedIn(thief)
  })
})

/** A browser in which the owner was signed in: the thief uses it, but not their session. */
const knownBrowser = async ({ person, app }: Plain & Partial<Owner>, form = {}): Promise<UserAgent> => {
  const agent = newAgent()
  const { location } = await logIn(agent, person)
  if (app && location?.startsWith(CODE_PAGE))
    assertRedirect(await agent.post(CODE_PAGE, { code: app.nextCode(), ...form }), '/')
  await assertSignedIn(agent)
  await logOut(agent)
  return agent
}

describe('a thief of a mailbox, where users sign in by mail', () => {
  test('signs in where there is neither second factor nor passkey, and changes nothing without the password', async () => {
    const account = await plainOwner()
    for (const thief of [newAgent(), await knownBrowser(account)]) {
      const { code } = await asked(thief, account.person.email)
      assertRedirect(await typeCode(thief, code), '/')
      assert.equal((await currentUser(thief)).id, account.id)
      assertErrorPage(await thief.post(ASK, { intent: 'confirm' }), 403)
      await assertChangesNothing(thief, { ...account, person: { ...account.person, password: 'wrong password' } })
    }
  })

  test('is asked for the second factor by codes and links, except in a browser that is trusted, and changes nothing', async () => {
    const account = await owner()
    for (const thief of [newAgent(), await knownBrowser(account)]) {
      const { code } = await asked(thief, account.person.email)
      assertRedirect(await typeCode(thief, code), CODE_PAGE)
      assertRedirect(await pressLink(thief, (await asked(thief, account.person.email)).token), CODE_PAGE)
      assertPage(await thief.post(CODE_PAGE, { code: '000000' }), 401)
      await assertSignedOut(thief)
      await assertChangesNothing(thief, account, 'one_time_codes')
    }
    const trusted = await knownBrowser(account, { trust_browser: '1' })
    assertRedirect(await typeCode(trusted, (await asked(trusted, account.person.email)).code), '/')
    await assertChangesNothing(trusted, account, 'one_time_codes')
  })

  test('signs in to an account with a passkey in a browser that it knows alone, and changes nothing', async () => {
    const account = await passkeyOwner()
    const known = await knownBrowser(account)
    const thief = newAgent()
    const { token, mail } = await askedForMail(thief, account.person.email)
    assert.doesNotMatch(mail.text, /\b\d{8}\b/)
    for (const refused of [await openLink(thief, token), await pressLink(thief, token)]) assertPage(refused, 403)
    // The code of another browser is no way around.
    const { code } = await asked(known, account.person.email)
    assertPage(await typeCode(thief, code), 401)
    await assertSignedOut(thief)
    await assertChangesNothing(thief, account, 'passkeys')

    assertRedirect(await typeCode(known, code), '/')
    await assertChangesNothing(known, account, 'passkeys')
  })

  test('of an account with a passkey and an app, needs both a browser that it knows and the second factor', async () => {
    const account = await owner()
    await storePasskey(core, account.id)
    const thief = newAgent()
    assertPage(await pressLink(thief, (await askedForMail(thief, account.person.email)).token), 403)
    const known = await knownBrowser(account)
    assertRedirect(await typeCode(known, (await asked(known, account.person.email)).code), CODE_PAGE)
    for (const agent of [thief, known]) {
      await assertSignedOut(agent)
      await assertChangesNothing(agent, account, 'one_time_codes', 'passkeys')
    }
  })
})

describe('a thief of a password, where users sign in by mail', () => {
  test('gets no further by asking for codes, and has five guesses at each; the owner reads who asked', async () => {
    for (const account of [await owner(), await passkeyOwner()]) {
      const { email } = account.person
      for (const thief of [newAgent(), await knownBrowser(account)]) {
        await ask(thief, email)
        for (let tries = 1; tries <= 5; tries += 1) assertPage(await typeCode(thief, WRONG, { email }), 401)
        assertPage(await typeCode(thief, WRONG, { email }), 429)
        await assertSignedOut(thief)
        await assertChangesNothing(thief, account, 'app' in account ? 'one_time_codes' : 'passkeys')
      }
      await eventually('the owner is told of both', () => signInMails(email).length === 2)
      for (const { text } of signInMails(email)) assert.match(text, /^Device: Unknown device$/m)
    }
  })

  test('who is signed in by it confirms no change by mail', async () => {
    const account = await passkeyOwner()
    const thief = newAgent()
    assertRedirect(await logIn(thief, account.person), '/')
    assertErrorPage(await thief.post(ASK, { intent: 'confirm' }), 403)
    await assertChangesNothing(thief, account, 'passkeys')
  })
})

describe('a thief of an unlocked trusted browser', () => {
  test('uses the session, and changes no way into the account', async () => {
    const account = await owner()
    const thief = await trustedBrowser(account)
    assert.equal((await currentUser(thief)).id, account.id)
    await assertChangesNothing(thief, account, 'one_time_codes')
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
    await assertChangesNothing(thief, account, 'one_time_codes')
    const form = { current_password: account.person.password, new_password: NEXT }
    assertRedirect(await thief.post(`${ACCOUNT}/password`, form), `${ACCOUNT}?done=password`)
    await logOut(thief)
    const answer = await logIn(thief, { ...account.person, password: NEXT })
    assert.ok(answer.location?.startsWith(CODE_PAGE), 'the trust has ended with the password')
  })
})

describe('a thief of a password, of an account that has passkeys alone', () => {
  test('signs in, unless a second factor is required, and changes no way in but the password', async () => {
    const account = await passkeyOwner()
    const thief = newAgent()
    assertRedirect(await logIn(thief, account.person), '/')
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
    await assertChangesNothing(thief, account, 'one_time_codes')
  })

  test('cannot use its passkey without unlocking it, and gets in with it unlocked', async () => {
    const { person } = await plainOwner()
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
