// Runs on SQLite and PostgreSQL.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { assertPage, assertRedirect } from '../../support/client/assertions.ts'
import { createUserAgent } from '../../support/client/user-agent.ts'
import { openDatabase } from '../../support/database/database.ts'
import { createAuthenticator } from '../../support/passkeys/authenticator.ts'
import { addPasskey } from '../../support/passkeys/passkeys.ts'
import { openReset, resetBy, resetTokenOf, withNewPassword } from '../../support/recovery/reset.ts'
import { pressLink } from '../../support/recovery/sign-in-by-mail.ts'
import {
  type GuardedAccount,
  guardedAccount,
  setUpApp,
  storePasskey,
  type WaysLeft,
  waysLeft,
} from '../../support/second-factor/guarded-account.ts'
import { runCommandOf, setPassword } from '../../support/service/operator-commands.ts'
import { openOperator } from '../../support/service/replicas.ts'
import { startService } from '../../support/service/service.ts'

const service = await startService()
const database = await openDatabase(service)
const core = await openOperator(service)
const deps = { service, core, database }

const newAgent = () => createUserAgent(service)
const newAccount = (options?: { isVerified: boolean }) => guardedAccount(deps, options)

const ALL_STAY: WaysLeft = {
  sessions: 'stay',
  signIns: 'stay',
  links: 'stay',
  browsers: 'stay',
  providers: 'stay',
  passkeys: 'stay',
  codes: 'stay',
  recoveryCodes: 'stay',
  grants: 'stay',
}
const ENDED = { sessions: 'all end', signIns: 'end', links: 'die', browsers: 'all end', grants: 'all end' } as const
const ALL_GO = { providers: 'go', passkeys: 'go', codes: 'go', recoveryCodes: 'go' } as const

const assertLeft = async (account: GuardedAccount, expected: Partial<WaysLeft>): Promise<void> =>
  assert.deepEqual(await waysLeft(deps, account), { ...ALL_STAY, ...expected })

/** The token of a link, as a message would bring it. */
const linkFor = async (
  { id, person }: GuardedAccount,
  purpose: 'sign_in' | 'undo' | 'not_my_passkey' | 'not_my_second_factor' | 'not_me',
  details: Record<string, string>,
): Promise<string> => {
  const link = { purpose, userId: id, emailLower: person.email, details, lifetimeMs: 3_600_000 }
  return (await core.db.inTransaction((transaction) => core.links.issued.create(transaction, link))).token
}

/** "This wasn't me", with a new password and a code of the app. */
const disown = ({ app }: GuardedAccount, token: string) =>
  newAgent().post('/auth/account/not-me', { token, password: 'a good password 1', code: app.nextCode() })

const undoLinkFor = (account: GuardedAccount, askedAtMs: number): Promise<string> => {
  const { email } = account.person
  const details = { email, verifiedAt: String(askedAtMs), askedAt: String(askedAtMs), newEmail: 'new@example.org' }
  return linkFor(account, 'undo', details)
}

describe('what each event ends of an account with everything', () => {
  test('a password that is changed while signed in', async () => {
    const account = await newAccount()
    const { agent, person } = account
    const form = { current_password: person.password, new_password: withNewPassword(person).password }
    assertRedirect(await agent.post('/auth/account/password', form), '/auth/account?done=password')
    await assertLeft(account, {
      sessions: 'others end',
      signIns: 'end',
      links: 'die',
      browsers: 'trust ends',
      grants: 'others end',
    })
  })

  test('a reset link, once the second factor is proved', async () => {
    const account = await newAccount()
    const token = await resetTokenOf(service, account.person.email)
    const browser = newAgent()
    const answer = await resetBy(browser, token, 'a good password 1', { code: account.app.nextCode() })
    assertRedirect(answer, '/auth/account/ways-in?return_to=%2F')
    await assertLeft(account, ENDED)
  })

  test('a reset link that takes an unverified account over, which asks for no factor of the former holder', async () => {
    const account = await newAccount({ isVerified: false })
    const token = await resetTokenOf(service, account.person.email)
    const browser = newAgent()
    assert.doesNotMatch((await openReset(browser, token)).text, /name="code"|passkey_response/)
    assertRedirect(await resetBy(browser, token, 'a good password 1'), '/')
    await assertLeft(account, { ...ENDED, ...ALL_GO, links: 'all die' })
  })

  test('a link or code by mail, in a browser that is trusted: nothing', async () => {
    const account = await newAccount()
    const token = await linkFor(account, 'sign_in', { browser: 'another one', device: account.browser })
    const browser = newAgent()
    browser.cookies.set('svc_device', account.agent.cookies.get('svc_device') ?? '', '/auth')
    assertRedirect(await pressLink(browser, token), '/')
    await assertLeft(account, {})
  })

  test('a link or code by mail that takes an unverified account over', async () => {
    const account = await newAccount({ isVerified: false })
    const token = await linkFor(account, 'sign_in', { browser: 'another one' })
    assertRedirect(await pressLink(newAgent(), token), '/')
    await assertLeft(account, { ...ENDED, ...ALL_GO, links: 'all die' })
  })

  test('an undo link: what was there before the request is asked for, and stays', async () => {
    const account = await newAccount()
    const token = await undoLinkFor(account, account.completeAtMs + 1)
    const form = { token, password: 'a good password 1' }
    const browser = newAgent()
    assertPage(await browser.post('/auth/email/undo', form), 422)
    await assertLeft(account, {})
    const answer = await browser.post('/auth/email/undo', { ...form, code: account.app.nextCode() })
    assertRedirect(answer, '/auth/account/ways-in?return_to=%2F')
    await assertLeft(account, ENDED)
  })

  test('an undo link: what was added since the request goes, and is not asked for', async () => {
    const account = await newAccount()
    const token = await undoLinkFor(account, 1)
    const browser = newAgent()
    assert.doesNotMatch((await browser.get(`/auth/email/undo?token=${token}`)).text, /name="code"|passkey_response/)
    assertRedirect(await browser.post('/auth/email/undo', { token, password: 'a good password 1' }), '/')
    await assertLeft(account, { ...ENDED, ...ALL_GO, links: 'all die' })
  })

  test('an undo link: an app that was replaced since goes, and a recovery code from before is asked for', async () => {
    const account = await newAccount()
    await database.rows('DELETE FROM passkeys WHERE user_id = ?', account.id)
    const token = await undoLinkFor(account, account.completeAtMs + 1)
    // As if the app in place of the first had been set up a second later.
    const later = account.completeAtMs + 1000
    await database.rows('UPDATE one_time_codes SET created_at = ? WHERE user_id = ?', later, account.id)
    const form = { token, password: 'a good password 1' }
    const browser = newAgent()
    assert.match((await browser.get(`/auth/email/undo?token=${token}`)).text, /Recovery code/)
    assertPage(await browser.post('/auth/email/undo', form), 422)
    assertPage(await browser.post('/auth/email/undo', { ...form, code: account.app.nextCode() }), 401)
    const code = account.app.recoveryCodes[0] ?? ''
    assert.equal((await browser.post('/auth/email/undo', { ...form, code })).status, 303)
    await assertLeft(account, { ...ENDED, passkeys: 'go', codes: 'go', recoveryCodes: 'go' })
  })

  test('"This wasn’t me" about a passkey: it goes, with recovery codes that were made since', async () => {
    const account = await newAccount()
    const details = { passkeyId: account.passkeyId, addedAt: '1' }
    const token = await linkFor(account, 'not_my_passkey', details)
    assert.equal((await disown(account, token)).status, 303)
    await assertLeft(account, { ...ENDED, passkeys: 'go', recoveryCodes: 'go' })
  })

  test('"This wasn’t me" about a passkey leaves other passkeys, and recovery codes from before', async () => {
    const account = await newAccount()
    const passkeyId = await storePasskey(core, account.id, 'Thief')
    const details = { passkeyId, addedAt: String(account.completeAtMs + 1) }
    const token = await linkFor(account, 'not_my_passkey', details)
    assert.equal((await disown(account, token)).status, 303)
    await assertLeft(account, ENDED)
    assert.deepEqual(await database.rows('SELECT id FROM passkeys WHERE id = ?', passkeyId), [])
  })

  test('"This wasn’t me" about a passkey that is gone already: recovery codes that were made since go', async () => {
    const account = await newAccount()
    const details = { passkeyId: 'gone', addedAt: '1' }
    const token = await linkFor(account, 'not_my_passkey', details)
    assert.equal((await disown(account, token)).status, 303)
    await assertLeft(account, { ...ENDED, recoveryCodes: 'go' })
  })

  test('"This wasn’t me" about a second factor: it goes, with recovery codes that came with it', async () => {
    const account = await newAccount()
    const token = await linkFor(account, 'not_my_second_factor', { setUpAt: '1' })
    // The passkey of this account opens nothing: without a password, the page after this one asks for it.
    await database.rows('UPDATE users SET password_hash = NULL WHERE id = ?', account.id)
    assert.equal((await newAgent().post('/auth/account/not-me', { token })).status, 303)
    await assertLeft(account, { ...ENDED, codes: 'go', recoveryCodes: 'go' })
  })

  test('"This wasn’t me" about a provider', async () => {
    const account = await newAccount()
    const token = await linkFor(account, 'not_me', { identityId: account.identityId, provider: 'Corp' })
    assert.equal((await disown(account, token)).status, 303)
    await assertLeft(account, { ...ENDED, providers: 'go' })
  })

  test('a provider that is disconnected', async () => {
    const account = await newAccount()
    const form = { identity_id: account.identityId }
    assertRedirect(await account.agent.post('/auth/account/identities', form), '/auth/account?done=unlinked')
    await assertLeft(account, { sessions: 'others end', signIns: 'end', browsers: 'trust ends', providers: 'go' })
  })

  test('a passkey that is added, and one that is removed', async () => {
    const ended = { sessions: 'others end', signIns: 'end', browsers: 'trust ends' } as const
    const [account, other] = [await newAccount(), await newAccount()]
    await addPasskey(account.agent, createAuthenticator({ origin: service.url }))
    await assertLeft(account, ended)
    assert.equal(
      (await other.agent.post('/auth/account/passkeys', { passkey_id: other.passkeyId, remove: '1' })).status,
      303,
    )
    await assertLeft(other, { ...ended, passkeys: 'go' })
  })

  test('a second factor that is removed', async () => {
    const account = await newAccount()
    assert.equal((await account.agent.post('/auth/account/second-factor', { remove: '1' })).status, 303)
    await assertLeft(account, { sessions: 'others end', signIns: 'end', browsers: 'trust ends', codes: 'go' })
  })

  test('a second factor that is set up in place of another', async () => {
    const account = await newAccount()
    await setUpApp(core, { userId: account.id, email: account.person.email, sessionId: 'none' })
    await assertLeft(account, { sessions: 'all end', signIns: 'end', browsers: 'trust ends' })
  })

  test('a second factor that is set up where there was none', async () => {
    const account = await newAccount()
    for (const table of ['passkeys', 'one_time_codes'])
      await database.rows(`DELETE FROM ${table} WHERE user_id = ?`, account.id)
    const [sessionId = ''] = account.agent.cookies.get('svc_refresh')?.split('.') ?? []
    await setUpApp(core, { userId: account.id, email: account.person.email, sessionId })
    await assertLeft(account, { sessions: 'others end', signIns: 'end', browsers: 'all end', passkeys: 'go' })
  })

  test('reset-second-factor: passkeys stay, and go with --passkeys', async () => {
    const [account, other] = [await newAccount(), await newAccount()]
    await runCommandOf(service, ['users', 'reset-second-factor', account.id])
    await assertLeft(account, { ...ENDED, codes: 'go', recoveryCodes: 'go' })
    await runCommandOf(service, ['users', 'reset-second-factor', other.person.email, '--passkeys'])
    await assertLeft(other, { ...ENDED, codes: 'go', recoveryCodes: 'go', passkeys: 'go' })
  })

  test('a password that an operator sets', async () => {
    const [account, other] = [await newAccount(), await newAccount()]
    await setPassword(service, account.id, 'a good password 1')
    await assertLeft(account, { ...ENDED, providers: 'go' })
    await runCommandOf(service, ['users', 'set-password', other.id, '--keep-providers'], 'a good password 1')
    await assertLeft(other, ENDED)
  })

  test('an address that changes', async () => {
    const account = await newAccount()
    await runCommandOf(service, ['users', 'set-email', account.id, `new-${account.person.email}`, '--verified'])
    await assertLeft(account, { links: 'die' })
  })

  test('an address that an operator sets after a theft', async () => {
    const account = await newAccount()
    await runCommandOf(service, ['users', 'set-email', account.id, account.person.email, '--stolen'])
    await assertLeft(account, { ...ENDED, links: 'all die' })
  })

  test('an account that is disabled, and what is back once it is enabled', async () => {
    const account = await newAccount()
    await runCommandOf(service, ['users', 'disable', account.id])
    await runCommandOf(service, ['users', 'enable', account.id])
    await assertLeft(account, { sessions: 'all end', signIns: 'end', links: 'die', grants: 'all end' })
  })

  test('an account that is deleted takes everything along', async () => {
    const account = await newAccount()
    await runCommandOf(service, ['users', 'delete', account.id, '--yes'])
    const tables = [
      'passkeys',
      'one_time_codes',
      'recovery_codes',
      'identities',
      'known_browsers',
      'sessions',
      'grants',
    ]
    for (const table of tables)
      assert.deepEqual(await database.rows(`SELECT user_id FROM ${table} WHERE user_id = ?`, account.id), [])
  })
})
