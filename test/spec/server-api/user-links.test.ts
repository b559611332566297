// Runs on SQLite and PostgreSQL.
import assert from 'node:assert/strict'
import { pbkdf2Sync, randomUUID } from 'node:crypto'
import { describe, test } from 'node:test'
import { currentUser, logIn, newPerson, type Person } from '../../support/client/accounts.ts'
import {
  assertCanLogIn,
  assertCannotLogIn,
  assertJsonError,
  assertPage,
  assertRedirect,
  assertSignedIn,
  assertSignedOut,
} from '../../support/client/assertions.ts'
import { createBackend } from '../../support/client/backend.ts'
import { type Answer, createUserAgent } from '../../support/client/user-agent.ts'
import { startSmtpServer } from '../../support/network/smtp-server.ts'
import { startOpenIdProvider } from '../../support/provider/openid-provider.ts'
import { newOpenIdUser } from '../../support/provider/openid-provider-users.ts'
import { PATIENT, startServiceWith } from '../../support/provider/provider-service.ts'
import { signInBy } from '../../support/provider/provider-sign-in.ts'
import { acceptBy, INVITE, openInvitation } from '../../support/recovery/invitation.ts'
import { openReset, RESET, resetBy, resetMails, tokenOf } from '../../support/recovery/reset.ts'
import { isVerified, VERIFY, verifyBy } from '../../support/recovery/verification.ts'
import { createUser, disableUser, enableUser, runCommandOf } from '../../support/service/operator-commands.ts'

type ApiUser = {
  id: string
  email: string
  email_verified: boolean
  has_password: boolean
  updated_at: string
  created_at: string
  identities: { provider: string; issuer: string; subject: string; email: string | null }[]
  invite_url?: string
}

const smtp = await startSmtpServer()
const corp = await startOpenIdProvider()
// What a user may not do, an operator may: sign up, and have any email.
const env = {
  ...PATIENT,
  ...smtp.env,
  SVC_SIGNUP: 'off',
  SVC_EMAIL_DOMAINS: 'elsewhere.example',
  SVC_EMAIL_VERIFICATION: 'required',
  SVC_MAIL_NOTICES: 'off',
}
const service = await startServiceWith({ corp }, { env })
const backend = await createBackend(service, ['users:write', 'credentials:write'])
const newAgent = () => createUserAgent(service)

const created = async (
  given: object = {},
  person: Person = newPerson(),
): Promise<{ user: ApiUser; person: Person }> => {
  const answer = await backend.call('POST', '/users', { email: person.email, ...given })
  assert.equal(answer.status, 201, answer.text)
  return { user: answer.json<ApiUser>(), person }
}
const found = async (id: string): Promise<ApiUser> => (await backend.call('GET', `/users/${id}`)).json<ApiUser>()
const linkFor = async (id: string, body: object): Promise<{ url: string; expires_at: string }> => {
  const answer = await backend.call('POST', `/users/${id}/links`, body)
  assert.equal(answer.status, 201, answer.text)
  return answer.json()
}
const assertConflict = (answer: Answer): void => {
  assertJsonError(answer, 409, 'conflict')
  assert.equal(answer.json<{ error: { field: string } }>().error.field, 'purpose')
}

/** PBKDF2, as another system has stored it. */
const foreignHashOf = (password: string): string => {
  const salt = 'c2FsdHNhbHRzYWx0c2FsdA'
  const key = pbkdf2Sync(password, Buffer.from(salt, 'base64'), 1000, 32, 'sha256')
    .toString('base64')
    .replace(/=+$/, '')
  return `$pbkdf2-sha256$i=1000$${salt}$${key}`
}

describe('§10.5 an account that is not verified, under SVC_EMAIL_VERIFICATION=required', () => {
  for (const by of ['a password', 'a hash of another system']) {
    test(`exists at once; with ${by}, its first login sends a link and gives no session, which comes with the link`, async () => {
      const person = newPerson()
      const { password } = person
      const way = by === 'a password' ? { password } : { password_hash: foreignHashOf(password) }
      const { user } = await created(way, person)
      assert.deepEqual([user.email_verified, user.has_password], [false, true])
      const agent = newAgent()
      const answer = await logIn(agent, person)
      assertPage(answer)
      assert.equal(answer.cookie('svc_access'), undefined)
      await assertSignedOut(agent)
      assertRedirect(await verifyBy(agent, tokenOf((await smtp.receivedFor(person.email)).link)), '/')
      assert.equal((await currentUser(agent)).id, user.id)
      assert.equal(await isVerified(agent), true)
      const after = await found(user.id)
      assert.ok(after.email_verified && after.updated_at > after.created_at)
    })
  }

  test('gets a link at its login too when the command line has made it so', async () => {
    const person = newPerson()
    await createUser(service, person)
    const email = newPerson().email
    await runCommandOf(service, ['users', 'set-email', person.email, email])
    const agent = newAgent()
    assertPage(await logIn(agent, { ...person, email }))
    await assertSignedOut(agent)
    // The first message tells of the change.
    assert.equal(new URL((await smtp.receivedFor(email, 2)).link).pathname, VERIFY)
  })

  test('logs in as usual when the application vouches for the email, at once or later', async () => {
    const person = newPerson()
    const { user } = await created({ password: person.password, email_verified: true }, person)
    await assertCanLogIn(service, person)
    await backend.call('PATCH', `/users/${user.id}`, { email_verified: false })
    assertPage(await logIn(newAgent(), person))
    await backend.call('PATCH', `/users/${user.id}`, { email_verified: true })
    await assertCanLogIn(service, person)
  })
})

describe('§10.5 invitations', () => {
  test('invite_url is the way in: the user chooses a password, and the email is verified', async () => {
    const { user, person } = await created({ invite: true, roles: ['editor'] })
    assert.equal(user.has_password, false)
    const url = new URL(user.invite_url ?? '')
    assert.deepEqual([url.origin, url.pathname], [service.url, INVITE])
    const agent = newAgent()
    assertPage(await openInvitation(agent, tokenOf(url.href)))
    assertRedirect(await acceptBy(agent, tokenOf(url.href), person.password), '/')
    assert.partialDeepStrictEqual(await currentUser(agent), { id: user.id, roles: ['editor'] })
    assert.partialDeepStrictEqual(await found(user.id), { email_verified: true, has_password: true })
    assert.equal(smtp.mails.filter(({ to }) => to === person.email).length, 0, 'the application hands it over')
    assertConflict(await backend.call('POST', `/users/${user.id}/links`, { purpose: 'invite' }))
  })

  test('another one can be made until the account is entered, with a page to go on to', async () => {
    const { user, person } = await created()
    const { url, expires_at: expiresAt } = await linkFor(user.id, { purpose: 'invite', return_to: '/team?tab=é' })
    assert.ok(Date.parse(expiresAt) > Date.now())
    assertRedirect(await acceptBy(newAgent(), tokenOf(url), person.password), '/team?tab=%C3%A9')
    await assertCanLogIn(service, person)
  })

  test('an account with a password was entered by the user who knows it, and so with a hash', async () => {
    const { user } = await created({ password: newPerson().password })
    assertConflict(await backend.call('POST', `/users/${user.id}/links`, { purpose: 'invite' }))
    const hashed = await created({ password_hash: foreignHashOf('pass phrase') })
    assertConflict(await backend.call('POST', `/users/${hashed.user.id}/links`, { purpose: 'invite' }))
    assertJsonError(await backend.call('POST', '/users', { email: user.email, invite: true }), 409, 'conflict')
  })

  test('the same Idempotency-Key gives the same link, and another one another', async () => {
    const { user } = await created()
    const ask = async (key: string) => {
      const headers = { 'idempotency-key': key }
      const answer = await backend.call('POST', `/users/${user.id}/links`, { purpose: 'invite' }, headers)
      return answer.json<{ url: string }>().url
    }
    const key = randomUUID()
    const first = await ask(key)
    assert.equal(await ask(key), first)
    assert.notEqual(await ask(randomUUID()), first)
  })

  test('a user who comes with a provider that has verified the address enters without the link, and is shown with it', async () => {
    const visitor = newOpenIdUser()
    const { user } = await created({ email: visitor.email })
    const agent = newAgent()
    assertRedirect(await signInBy(agent, 'corp', (url) => corp.visit(url, { person: visitor })), '/')
    assert.equal((await currentUser(agent)).id, user.id)
    const after = await found(user.id)
    assert.partialDeepStrictEqual(after, { email_verified: true, has_password: false })
    assert.equal(after.identities.length, 1)
    assert.partialDeepStrictEqual(after.identities[0] ?? {}, {
      provider: 'corp',
      issuer: corp.issuer,
      email: visitor.email,
    })
    assert.deepEqual(Object.keys(after.identities[0] ?? {}), ['provider', 'issuer', 'subject', 'email'])
    assert.ok(after.updated_at > user.updated_at)
    const listed = await backend.call('GET', `/users?id=${user.id}`)
    assert.deepEqual(listed.json(), { users: [after], next_cursor: null })
    await runCommandOf(service, ['identities', 'unlink', user.id, 'corp'])
    const unlinked = await found(user.id)
    assert.deepEqual([unlinked.identities, unlinked.updated_at > after.updated_at], [[], true])
  })
})

describe('§10.5 links for a new password', () => {
  test('are good once, go on to return_to in any browser, and are not mailed', async () => {
    const person = newPerson()
    const { user } = await created({ password: newPerson().password, email_verified: true }, person)
    const { url } = await linkFor(user.id, { purpose: 'reset', return_to: '/kept' })
    assert.deepEqual([new URL(url).origin, new URL(url).pathname], [service.url, RESET])
    const agent = newAgent()
    assertPage(await openReset(agent, tokenOf(url)))
    assertRedirect(await resetBy(agent, tokenOf(url), person.password), '/kept')
    await assertSignedIn(agent)
    await assertCanLogIn(service, person)
    assertPage(await openReset(newAgent(), tokenOf(url)), 410)
    assert.deepEqual(resetMails(smtp, person.email), [])
    const plain = await linkFor(user.id, { purpose: 'reset' })
    assertRedirect(await resetBy(newAgent(), tokenOf(plain.url), person.password), '/')
  })

  test('are refused for a disabled account and an unknown user, and so are bad fields', async () => {
    const { user } = await created({ password: newPerson().password })
    const path = `/users/${user.id}/links`
    await disableUser(service, user.id)
    for (const purpose of ['reset', 'invite']) assertConflict(await backend.call('POST', path, { purpose }))
    await enableUser(service, user.id)
    assertJsonError(await backend.call('POST', `/users/${randomUUID()}/links`, { purpose: 'reset' }), 404, 'not_found')
    for (const [body, field] of [
      [{}, 'purpose'],
      [{ purpose: 'undo' }, 'purpose'],
      [{ purpose: null }, 'purpose'],
      [{ purpose: 'reset', return_to: 'https://evil.example' }, 'return_to'],
      [{ purpose: 'reset', return_to: '//evil.example' }, 'return_to'],
      [{ purpose: 'reset', return_to: '' }, 'return_to'],
      [{ purpose: 'reset', mail: true }, 'mail'],
    ] as const) {
      const answer = await backend.call('POST', path, body)
      assertJsonError(answer, 422, 'unprocessable')
      assert.equal(answer.json<{ error: { field: string } }>().error.field, field)
    }
    const writer = await createBackend(service, ['users:write'])
    assertJsonError(await writer.call('POST', path, { purpose: 'reset' }), 403, 'forbidden')
  })
})

describe('§10.5 a new email', () => {
  test('tells the old address, with a link that undoes it; ends open links; and the session goes on', async () => {
    const person = newPerson()
    const { user } = await created({ password: person.password, email_verified: true }, person)
    const agent = newAgent()
    assertRedirect(await logIn(agent, person), '/')
    const { url } = await linkFor(user.id, { purpose: 'reset' })
    const { email } = newPerson()
    assert.equal((await backend.call('PATCH', `/users/${user.id}`, { email, email_verified: true })).status, 200)
    await assertSignedIn(agent)
    assert.equal((await currentUser(agent)).email, email)
    assertPage(await openReset(newAgent(), tokenOf(url)), 410)
    const told = await smtp.receivedFor(person.email)
    assert.equal(new URL(told.link).pathname, '/auth/email/undo')
    assert.ok(told.text.includes(email))
    await assertCannotLogIn(service, person)
    assertJsonError(await backend.call('POST', '/users', { email: person.email }), 409, 'conflict')
  })

  test('in other letters sends nothing and ends nothing', async () => {
    const { user, person } = await created({ password: newPerson().password, email_verified: true })
    const { url } = await linkFor(user.id, { purpose: 'reset' })
    const shouted = await backend.call('PATCH', `/users/${user.id}`, { email: person.email.toUpperCase() })
    assert.equal(shouted.json<ApiUser>().email, person.email.toUpperCase())
    assertPage(await openReset(newAgent(), tokenOf(url)))
    const another = await created({ email_verified: true, password: newPerson().password })
    await backend.call('PATCH', `/users/${another.user.id}`, { email: newPerson().email })
    await smtp.receivedFor(another.person.email)
    assert.deepEqual(
      smtp.mails.filter(({ to }) => to.toLowerCase() === person.email),
      [],
      'none before a later message',
    )
  })
})

test('§10.5 without passwords, neither a password nor a hash is taken; a link leads to a provider', async () => {
  await service.restart({ env: { SVC_PASSWORDS: 'off', SVC_EMAIL_VERIFICATION: 'optional' } })
  const { email, password } = newPerson()
  for (const field of ['password', 'password_hash']) {
    const answer = await backend.call('POST', '/users', { email, [field]: password })
    assertJsonError(answer, 422, 'unprocessable')
    assert.equal(answer.json<{ error: { field: string } }>().error.field, field)
  }
  const { user } = await created({ invite: true })
  assertPage(await openInvitation(newAgent(), tokenOf(user.invite_url ?? '')))
  await service.restart({ env })
})
