// Runs on SQLite.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, test } from 'node:test'
import { currentUser, logIn, loggedIn, newPerson, signUp } from '../../support/client/accounts.ts'
import {
  assertCannotLogIn,
  assertJsonError,
  assertPage,
  assertRedirect,
  assertSignedOut,
} from '../../support/client/assertions.ts'
import { createBackend } from '../../support/client/backend.ts'
import { createUserAgent } from '../../support/client/user-agent.ts'
import { openDatabase } from '../../support/database/database.ts'
import { askFor, changed, confirm, startMailedService, UNDO, undo } from '../../support/email/email-change.ts'
import type { ReceivedMail } from '../../support/network/smtp-server.ts'
import { createAuthenticator } from '../../support/passkeys/authenticator.ts'
import { addPasskey, logInWithPasskey } from '../../support/passkeys/passkeys.ts'
import { startOpenIdProvider } from '../../support/provider/openid-provider.ts'
import { newOpenIdUser } from '../../support/provider/openid-provider-users.ts'
import { signInBy } from '../../support/provider/provider-sign-in.ts'
import { askForLink, resetBy, tokenOf } from '../../support/recovery/reset.ts'
import { setUpApp } from '../../support/second-factor/app-set-up.ts'
import { disableUser, enableUser, runCommandOf } from '../../support/service/operator-commands.ts'
import { eventually } from '../../support/wait.ts'

const corp = await startOpenIdProvider()
const mailed = await startMailedService({ providers: { corp } })
const { service, smtp, operator, newUser, tokenTo } = mailed
const database = await openDatabase(service)
const backend = await createBackend(service, ['users:write', 'credentials:write'])
const newAgent = () => createUserAgent(service)

const mailsTo = (address: string): ReceivedMail[] => smtp.mails.filter(({ to }) => to === address)
/** The links in the messages to an address that lead into an account, the newest last. */
const linksTo = (address: string): URL[] =>
  mailsTo(address).flatMap(({ links }) => links.map((link) => new URL(link)).filter(({ search }) => search !== ''))
const isDead = async (token: string) => (await newAgent().get(`${UNDO}?token=${token}`)).status === 410
const patch = (id: string, changes: object) => backend.call('PATCH', `/users/${id}`, changes)
const emailOf = async (id: string) => (await operator.users.find(id))?.email

/** Until every message is sent or dropped. */
const allMailSettled = () =>
  eventually('all mail is settled', async () => {
    const open = await database.rows('SELECT id FROM mail_messages WHERE closed_at IS NULL')
    return open.length === 0
  })

/** A thief who has the password has moved the account to an address of theirs. */
const robbed = async () => {
  const owner = await newUser()
  const thief = await loggedIn(service, owner.person)
  const stolen = newPerson().email
  await changed(mailed, thief, stolen)
  const ownersUndo = await tokenTo(owner.person.email, 2)
  await allMailSettled()
  return { ...owner, thief, stolen, ownersUndo }
}

/** The commands of the steps in docs/security.md. */
const documentedSteps = (): string[] => {
  const text = readFileSync(new URL('../../../docs/security.md', import.meta.url), 'utf8')
  const steps = /## When an account was stolen\n(.*?)(\n## |$)/s.exec(text)?.[1] ?? ''
  return [...steps.matchAll(/^(?:\d\.|, then).*?`svc ([^`]+)`(?:, then `svc ([^`]+)`)?/gm)].flatMap(
    ([, first = '', then]) => (then === undefined ? [first] : [first, then]),
  )
}

describe('§4.11 an account that was stolen', () => {
  test('comes back to its owner by the steps of docs/security.md, with the thief beside it', async () => {
    const { id, person, thief, stolen } = await robbed()
    const providerPerson = newOpenIdUser()
    const visit = (url: string) => corp.visit(url, { person: providerPerson })
    assertRedirect(await signInBy(thief, 'corp', visit, { intent: 'link' }), '/auth/account?done=linked')
    await setUpApp(thief, Date.now())
    const authenticator = createAuthenticator({ origin: service.url })
    await addPasskey(thief, authenticator)
    await askFor(thief, newPerson().email)
    await askForLink(newAgent(), stolen)
    await eventually('the thief has links of every kind', () => {
      const paths = new Set(linksTo(stolen).map(({ pathname }) => pathname))
      return [UNDO, '/auth/account/not-me', '/auth/password/reset'].every((path) => paths.has(path))
    })

    const thiefsUndo =
      linksTo(stolen)
        .find(({ pathname }) => pathname === UNDO)
        ?.searchParams.get('token') ?? ''

    const owners = newPerson().email
    const steps = documentedSteps()
    assert.equal(steps.length, 7, steps.join('\n'))
    let resetLink = ''
    for (const step of steps) {
      const args = step.split(' ').map((word) => ({ USER: id, ADDRESS: owners })[word] ?? word)
      const printed = await runCommandOf(service, args, newPerson().password)
      if (args.includes('reset-link')) resetLink = printed.trim()
      if (args.includes('disable')) assertPage(await undo(newAgent(), thiefsUndo, 'a password of the thief'), 403)
    }
    const owner = newAgent()
    const password = 'a password of the owner'
    assertRedirect(await resetBy(owner, tokenOf(resetLink), password), '/')
    assert.equal((await currentUser(owner)).email, owners)

    await allMailSettled()
    for (const { pathname, searchParams } of linksTo(stolen)) {
      const token = searchParams.get('token') ?? ''
      assertPage(await newAgent().get(`${pathname}?token=${token}`), 410)
      const pressed = await newAgent().post(pathname, { token, password: 'a password of the thief' })
      assert.ok(pressed.status === 410 || pressed.status === 404, `${pathname}: ${pressed.status}`)
    }
    await assertSignedOut(thief)
    for (const email of [owners, stolen, person.email]) await assertCannotLogIn(service, { ...person, email })
    assert.equal((await logInWithPasskey(newAgent(), authenticator)).status, 401)
    const byProvider = newAgent()
    await signInBy(byProvider, 'corp', visit)
    const comer = byProvider.cookies.get('svc_access') === undefined ? undefined : await currentUser(byProvider)
    assert.notEqual(comer?.id, id)
    await askForLink(newAgent(), stolen)

    const before = mailsTo(stolen).length
    await loggedIn(service, { ...person, email: owners, password })
    assertRedirect(
      await owner.post('/auth/account/username', { username: newPerson().username }),
      '/auth/account?done=username',
    )
    await smtp.receivedFor(owners, 2)
    await allMailSettled()
    assert.equal(mailsTo(stolen).length, before, 'no copy of a notice goes to the thief')
    assert.equal(await emailOf(id), owners)
  })

  test('is given back by --stolen: other addresses are free, get nothing, and none can be put back', async () => {
    const { id, person, thief, stolen, ownersUndo } = await robbed()
    const owners = newPerson().email
    const before = mailsTo(stolen).length
    await runCommandOf(service, ['users', 'set-email', id, owners, '--verified', '--stolen'])
    await smtp.receivedFor(owners)
    await assertSignedOut(thief)
    assert.ok(await isDead(ownersUndo))
    assert.equal(mailsTo(stolen).length, before)
    for (const email of [stolen, person.email])
      assert.equal((await signUp(newAgent(), { ...newPerson(), email })).status, 303, 'the address is free')
    assert.equal(await emailOf(id), owners)
  })

  test('is made safe by --stolen also with the address that it has, which a thief moved away and back', async () => {
    const { id, person, thief, stolen } = await robbed()
    await askFor(thief, person.email)
    assert.equal((await confirm(thief, await tokenTo(person.email, 3))).status, 200)
    const thiefsUndo = tokenOf((await smtp.receivedFor(stolen, 4)).link)
    assert.equal(await isDead(thiefsUndo), false)
    const args = ['users', 'set-email', id, person.email]
    assert.equal((await service.cli(args)).code, 1)
    assert.equal(await isDead(thiefsUndo), false)
    await runCommandOf(service, [...args, '--stolen'])
    assert.ok(await isDead(thiefsUndo))
    assert.notEqual((await operator.users.find(id))?.emailVerifiedAtMs, undefined, 'it stays verified')
    const [record] = await database.rows(
      `SELECT details FROM audit_events WHERE user_id = ? AND type = 'email.change_cancelled'`,
      id,
    )
    assert.match(String(record?.details), /stolen/)
  })

  test('that is disabled counts as stolen, and with an address of the own that is given explicitly too', async () => {
    const { id, person, ownersUndo, stolen } = await robbed()
    await disableUser(service, id)
    await runCommandOf(service, ['users', 'set-email', id, person.email, '--verified'])
    assert.ok(await isDead(ownersUndo))
    await enableUser(service, id)
    assertRedirect(await logIn(newAgent(), person), '/')
    assert.equal((await signUp(newAgent(), { ...newPerson(), email: stolen })).status, 303)
  })
})

describe('§10.5 PATCH /users/{id} of an account that was stolen', () => {
  test('with stolen, or of a disabled account: no other address gets it back', async () => {
    for (const more of [{ stolen: true }, { disabled: true }]) {
      const { id, stolen, ownersUndo } = await robbed()
      const before = mailsTo(stolen).length
      const { email } = newPerson()
      const answer = await patch(id, { email, email_verified: true, ...more })
      assert.equal(answer.status, 200, answer.text)
      await smtp.receivedFor(email)
      assert.ok(await isDead(ownersUndo))
      assert.equal(mailsTo(stolen).length, before)
    }
  })

  test('of a disabled account with stolen: false is a change as any other, and the address it has is none', async () => {
    const { id, stolen, ownersUndo } = await robbed()
    await disableUser(service, id)
    assert.equal((await patch(id, { email: stolen })).status, 200)
    assert.equal(await isDead(ownersUndo), false)
    assert.equal((await patch(id, { email: newPerson().email, stolen: false })).status, 200)
    assert.equal(new URL((await smtp.receivedFor(stolen, 3)).link).pathname, UNDO)
    assert.equal(await isDead(ownersUndo), false)
    const own = { email: (await emailOf(id)) ?? '', stolen: true }
    assert.equal((await patch(id, { ...own, email_verified: true })).status, 200)
    assert.ok(await isDead(ownersUndo))
    for (const [more, verified] of [
      [{}, true],
      [{ email_verified: false }, false],
    ] as const) {
      const answer = await patch(id, { ...own, ...more })
      assert.equal(answer.json<{ email_verified: boolean }>().email_verified, verified)
    }
  })

  test('refuses stolen without an email: 422', async () => {
    const { id } = await newUser()
    const answer = await patch(id, { stolen: true, roles: ['admin'] })
    assertJsonError(answer, 422, 'unprocessable')
    assert.equal(answer.json<{ error: { field: string } }>().error.field, 'stolen')
    assert.deepEqual((await operator.users.find(id))?.roles, [])
  })
})

/** The links in the copy of a notice that goes to an address which an account has left. */
const linksOfCopy = async (leave: (user: Awaited<ReturnType<typeof newUser>>, email: string) => Promise<unknown>) => {
  const user = await newUser()
  await leave(user, newPerson().email)
  const mine = newOpenIdUser()
  const visit = (url: string) => corp.visit(url, { person: mine })
  assertRedirect(await signInBy(user.agent, 'corp', visit, { intent: 'link' }), '/auth/account?done=linked')
  await eventually('the copy', () => mailsTo(user.person.email).some(({ subject }) => /was connected/.test(subject)))
  const [copy] = mailsTo(user.person.email).filter(({ subject }) => /was connected/.test(subject))
  return copy?.links.map((link) => new URL(link)).filter(({ search }) => search !== '') ?? []
}

test('§4.11 an address that an operator has left gets copies without a link; one that a user left, with one', async () => {
  assert.deepEqual(await linksOfCopy(({ id }, email) => runCommandOf(service, ['users', 'set-email', id, email])), [])
  const byUser = await linksOfCopy(({ agent }, email) => changed(mailed, agent, email))
  assert.ok(byUser.every(({ pathname }) => pathname === '/auth/account/not-me') && byUser.length > 0)
})
