// Runs on SQLite.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { currentUser, newPerson, signedUp, signUp } from '../../support/client/accounts.ts'
import {
  assertCanLogIn,
  assertCannotLogIn,
  assertErrorPage,
  assertPage,
  assertRedirect,
  assertSignedIn,
  assertSignedOut,
} from '../../support/client/assertions.ts'
import { type Answer, createUserAgent } from '../../support/client/user-agent.ts'
import { turnedClock } from '../../support/clock/turned-clock.ts'
import { startWebhookReceiver } from '../../support/network/webhook-receiver.ts'
import { acceptBy, INVITE, invite, openInvitation } from '../../support/recovery/invitation.ts'
import { resetBy, resetTokenOf, tokenOf } from '../../support/recovery/reset.ts'
import { accessToken, claimsOf } from '../../support/service/access-tokens.ts'
import {
  createUser,
  deleteUser,
  disableUser,
  enableUser,
  runCommandOf,
  runJsonCommandOf,
  setPassword,
  setRoles,
} from '../../support/service/operator-commands.ts'
import { openOperator } from '../../support/service/replicas.ts'
import { startService } from '../../support/service/service.ts'

const receiver = await startWebhookReceiver()
const service = await startService({
  env: {
    SVC_WEBHOOK_URL: receiver.url,
    SVC_WEBHOOK_SECRET: 'a secret of enough bytes',
    // Invitations work while nobody may sign up with a password.
    SVC_SIGNUP: 'on',
    SVC_INVITE_TTL: '2h',
    SVC_EMAIL_DOMAINS: 'example.com',
  },
})
const newAgent = () => createUserAgent(service)
const shown = (name: string) => runJsonCommandOf<Record<string, unknown>>(service, ['users', 'show', name])

const refused = async (args: string[], code: number, message: RegExp) => {
  const result = await service.cli(['users', 'invite', ...args])
  assert.equal(result.code, code, `${result.stdout}${result.stderr}`)
  assert.match(result.stderr, message)
  assert.equal(result.stdout, '')
}

/** The page of a link that is not good, with its heading. */
const assertDeadLink = (answer: Answer, heading: string): void => {
  assertPage(answer, 410)
  assert.match(answer.text, new RegExp(`<h1>${heading}</h1>`))
  assert.match(answer.text, /ask for a new invitation/)
  assert.equal(answer.headers['referrer-policy'], 'strict-origin')
}

/** The events of a user, once the account is deleted. */
const eventsUntilDeletionOf = async (id: string) => {
  await deleteUser(service, id)
  await receiver.receivedEvent(({ event }) => event.type === 'user.deleted' && event.data.user_id === id)
  const own = receiver.deliveries.filter(({ event }) => event.data.user_id === id)
  return own.map(({ event: { type, data } }) => [type, ...(data.changed ?? [])].join(' '))
}

describe('an invitation', () => {
  test('makes the account at once, with its roles, and nobody can enter it before the link was followed', async () => {
    const person = newPerson()
    const beforeMs = Date.now()
    const { user, token } = await invite(service, person.email, '--role', 'editor', '--role', 'admin,reader')
    assert.deepEqual(
      [user.email, user.roles, user.email_verified, user.self_made, user.invited],
      [person.email, ['editor', 'admin', 'reader'], false, false, true],
    )
    assert.match(user.url, new RegExp(`^${service.url}${INVITE}\\?token=[A-Za-z0-9_-]{43}$`))
    const madeMs = Date.parse(user.expires_at) - 7_200_000
    assert.ok(madeMs >= beforeMs && madeMs <= Date.now(), user.expires_at)
    await receiver.receivedEvent(({ event }) => event.type === 'user.created' && event.data.user_id === user.id)
    await assertCannotLogIn(service, person)
    for (const password of ['null', 'undefined']) await assertCannotLogIn(service, { ...person, password })
    assert.equal((await signUp(newAgent(), person)).status, 409, 'as for every address that has an account')
    assert.match(await runCommandOf(service, ['users', 'show', person.email]), /made by +an invitation of/)

    const agent = newAgent()
    const page = await openInvitation(agent, token)
    assertPage(page)
    assert.ok(
      page.text.indexOf(person.email) < page.text.indexOf('<button class="svc-button first"'),
      'above the button',
    )
    assert.match(page.text, new RegExp(`name="username"[^>]*value="${user.username}"`))
    assert.equal(page.headers['referrer-policy'], 'strict-origin')
    const answer = await acceptBy(agent, token, person.password)
    assertRedirect(answer, '/')
    assert.deepEqual(claimsOf(accessToken(agent)).roles, ['editor', 'admin', 'reader'])
    assert.equal(claimsOf(accessToken(agent)).email_verified, true)
    assert.equal((await currentUser(agent)).id, user.id)
    await assertCanLogIn(service, person)
    assert.deepEqual(await eventsUntilDeletionOf(user.id), [
      'user.created',
      'user.updated email_verified',
      'user.deleted',
    ])
  })

  test('prints the link alone, so that a script can pass it on, and a note that says for whom it is', async () => {
    const { email } = newPerson()
    const { stdout, stderr } = await service.cli(['users', 'invite', email])
    assert.match(stdout, /^http:\S+\?token=[A-Za-z0-9_-]{43}\n$/)
    assert.match(stderr, new RegExp(`for ${email} alone`))
    assert.doesNotMatch(stderr, /token=/)
  })

  test('shows the username that was given; the user may choose another, and a taken one changes nothing', async () => {
    const [person, { person: other }] = [newPerson(), await signedUp(service)]
    const given = newPerson().username
    const { user, token } = await invite(service, person.email, '--username', given.toUpperCase())
    assert.equal(user.username, given)
    const agent = newAgent()
    assert.match((await openInvitation(agent, token)).text, new RegExp(`value="${given}"`))
    const taken = await acceptBy(agent, token, person.password, { username: other.username })
    assertPage(taken, 409)
    assert.match(taken.text, new RegExp(`value="${other.username}"`))
    assertPage(await acceptBy(agent, token, person.password, { username: 'a b' }), 422)
    await assertCannotLogIn(service, person)
    assertRedirect(await acceptBy(agent, token, person.password, { username: person.username }), '/')
    assert.equal((await currentUser(agent)).username, person.username)
    assert.deepEqual(await eventsUntilDeletionOf(user.id), [
      'user.created',
      'user.updated username email_verified',
      'user.deleted',
    ])
  })

  test('is not used up by scanners and by passwords that are refused', async () => {
    const person = newPerson()
    const { user, token } = await invite(service, person.email)
    for (let count = 0; count < 3; count += 1) {
      const scanner = newAgent()
      assertPage(await openInvitation(scanner, token))
      const head = await scanner.send({ method: 'HEAD', path: `${INVITE}?token=${token}` })
      assert.deepEqual([head.status, head.text], [200, ''])
    }
    const agent = newAgent()
    for (const password of ['', 'short', 'password', person.email, user.username, 'a'.repeat(257)]) {
      const answer = await acceptBy(agent, token, password)
      assertPage(answer, 422)
      assert.match(answer.text, /name="password"[^>]*aria-invalid="true"/)
    }
    assert.equal((await shown(person.email)).invited, true)
    assertRedirect(await acceptBy(agent, token, person.password), '/')
  })

  test('needs a token: missing, empty or repeated 400, one that was never made 410', async () => {
    const agent = newAgent()
    for (const query of ['', '?token=', '?token=a&token=b']) assertErrorPage(await agent.get(`${INVITE}${query}`), 400)
    for (const form of [{}, { token: '' }, { token: ['a', 'b'] }])
      assertErrorPage(await agent.post(INVITE, { password: 'a good password 1', ...form }), 400)
    const { person } = await signedUp(service)
    for (const token of ['x', '\u0000', 'ß'.repeat(500), await resetTokenOf(service, person.email)]) {
      assertDeadLink(await openInvitation(agent, token), 'This link isn’t valid')
      assertDeadLink(await acceptBy(agent, token, 'a good password 1'), 'This link isn’t valid')
    }
  })

  test('without a CSRF token the form is shown again, and nothing happens', async () => {
    const person = newPerson()
    const { token } = await invite(service, person.email)
    const answer = await newAgent().send({
      method: 'POST',
      path: INVITE,
      headers: { 'content-type': 'application/x-www-form-urlencoded', origin: service.url },
      body: new URLSearchParams({ token, password: person.password, username: 'typed-by-me' }).toString(),
    })
    assertPage(answer, 403)
    assert.match(answer.text, /value="typed-by-me"/)
    assert.ok(!answer.text.includes(person.password))
    assert.equal((await shown(person.email)).invited, true)
  })

  test('names the session of another account first, and replaces it', async () => {
    const [{ agent, person: other }, person] = [await signedUp(service), newPerson()]
    const { user, token } = await invite(service, person.email)
    const copy = agent.copy()
    const page = await openInvitation(agent, token)
    assert.ok(page.text.indexOf(other.email) < page.text.indexOf('<form'), 'above the form')
    await assertSignedIn(agent)
    assertRedirect(await acceptBy(agent, token, person.password), '/')
    assert.equal((await currentUser(agent)).id, user.id)
    await assertSignedOut(copy)
  })

  test('works for addresses whose domain nobody may sign up with', async () => {
    const person = { ...newPerson(), email: `${newPerson().username}@elsewhere.example` }
    assert.equal((await signUp(newAgent(), person)).status, 422)
    const { token } = await invite(service, person.email)
    assertRedirect(await acceptBy(newAgent(), token, person.password), '/')
    await assertCanLogIn(service, person)
  })

  test('what is no address, role or username is refused, and nothing is made', async () => {
    const { email } = newPerson()
    await refused(['no-address'], 1, /email address/)
    await refused([email, '--role', 'No Role'], 1, /"No Role" is no role/)
    await refused([email, '--username', 'x'], 1, /3 to 30/)
    await refused([email, '--mail'], 1, /SVC_SMTP_URL/)
    await refused([], 2, /missing required argument 'email'/)
    assert.equal((await service.cli(['users', 'show', email])).code, 1)
  })
})

describe('inviting again', () => {
  test('gives another link as long as nobody has entered, and keeps the roles unless others are given', async () => {
    const [person, { username }] = [newPerson(), newPerson()]
    const first = await invite(service, person.email, '--role', 'editor')
    const second = await invite(service, person.email.toUpperCase())
    assert.deepEqual([second.user.id, second.user.roles], [first.user.id, ['editor']])
    const third = await invite(service, person.email, '--role', 'admin', '--username', username)
    assert.deepEqual([third.user.roles, third.user.username], [['admin'], username])
    assertPage(await openInvitation(newAgent(), first.token))
    assertRedirect(await acceptBy(newAgent(), second.token, person.password), '/')
    for (const { token } of [first, third])
      assertDeadLink(await openInvitation(newAgent(), token), 'This link no longer works')
    assertDeadLink(await openInvitation(newAgent(), second.token), 'Link already used')
    await refused([person.email], 1, /has an account already/)
    assert.deepEqual(await eventsUntilDeletionOf(first.user.id), [
      'user.created',
      'user.updated username roles',
      'user.updated email_verified',
      'user.deleted',
    ])
  })

  test('after a correction of the address: the former link ends, and the account stays the same', async () => {
    const [typo, person] = [newPerson(), newPerson()]
    const first = await invite(service, typo.email, '--role', 'editor')
    await runCommandOf(service, ['users', 'set-email', typo.email, person.email])
    const second = await invite(service, person.email)
    assert.deepEqual([second.user.id, second.user.roles], [first.user.id, ['editor']])
    assertDeadLink(await openInvitation(newAgent(), first.token), 'This link no longer works')
    assertRedirect(await acceptBy(newAgent(), second.token, person.password), '/')
    await assertCanLogIn(service, person)
  })

  test('five links live at most: the oldest gives way', async () => {
    const { email } = newPerson()
    const tokens: string[] = []
    for (let count = 0; count < 6; count += 1) tokens.push((await invite(service, email)).token)
    const statuses = await Promise.all(tokens.map(async (token) => (await openInvitation(newAgent(), token)).status))
    assert.deepEqual(statuses, [410, 200, 200, 200, 200, 200])
    assertDeadLink(await openInvitation(newAgent(), tokens[0] ?? ''), 'There’s a newer link')
  })

  test('an account that a user made with the address, and never proved it, is taken over', async () => {
    const { agent: stranger, person } = await signedUp(service)
    const { id } = await currentUser(stranger)
    await setRoles(service, person.email, ['former'])
    const { user, token } = await invite(service, person.email, '--role', 'editor')
    assert.deepEqual([user.id, user.roles, user.invited, user.self_made], [id, ['editor'], true, false])
    await assertSignedOut(stranger)
    await assertCannotLogIn(service, person)
    assertRedirect(await acceptBy(newAgent(), token, `${person.password} of the owner`), '/')
    await assertCannotLogIn(service, person)
    assert.deepEqual((await shown(person.email)).roles, ['editor'])
    assert.deepEqual(await eventsUntilDeletionOf(id), [
      'user.created',
      'user.updated roles',
      'user.updated language roles',
      'user.updated email_verified',
      'user.deleted',
    ])
  })

  test('any other account is refused, and nothing changes: verified, made by an operator, disabled', async () => {
    const { agent, person } = await signedUp(service)
    await runCommandOf(service, ['users', 'verify-email', person.email])
    const made = newPerson()
    await createUser(service, made)
    for (const { email } of [person, made]) await refused([email, '--role', 'admin'], 1, /has an account already/)
    await assertSignedIn(agent)
    assert.deepEqual((await shown(person.email)).roles, [])
    for (const disabled of [newPerson(), (await signedUp(service)).person]) {
      if ((await service.cli(['users', 'show', disabled.email])).code === 1) await invite(service, disabled.email)
      await disableUser(service, disabled.email)
      await refused([disabled.email], 1, /is disabled: enable it first/)
    }
  })
})

describe('an invitation ends', () => {
  test('with its time', async (t) => {
    const clock = turnedClock()
    const aging = await startService({ t, clock, env: { SVC_INVITE_TTL: '2h' } })
    const { token } = await invite(aging, newPerson().email)
    await clock.turnTo(7_190_000)
    assertPage(await openInvitation(createUserAgent(aging), token))
    await clock.turnTo(7_210_000)
    assertDeadLink(await openInvitation(createUserAgent(aging), token), 'This link has expired')
    assertDeadLink(await acceptBy(createUserAgent(aging), token, 'a good password 1'), 'This link has expired')
  })

  test('when the account is disabled, for good, or deleted', async () => {
    const [first, second] = [newPerson(), newPerson()]
    const [disabled, deleted] = [await invite(service, first.email), await invite(service, second.email)]
    await disableUser(service, first.email)
    await enableUser(service, first.email)
    await deleteUser(service, second.email)
    assertDeadLink(await acceptBy(newAgent(), disabled.token, first.password), 'This link no longer works')
    assertDeadLink(await acceptBy(newAgent(), deleted.token, second.password), 'This link isn’t valid')
    assertRedirect(await acceptBy(newAgent(), (await invite(service, first.email)).token, first.password), '/')
  })

  test('when the user enters by a reset, which is a proof too, or an operator sets a password', async () => {
    const [byReset, bySet] = [newPerson(), newPerson()]
    const [reset, set] = [await invite(service, byReset.email, '--role', 'kept'), await invite(service, bySet.email)]
    const agent = newAgent()
    assertRedirect(await resetBy(agent, await resetTokenOf(service, byReset.email), byReset.password), '/')
    assert.deepEqual(claimsOf(accessToken(agent)).roles, ['kept'])
    await setPassword(service, bySet.email, bySet.password)
    await assertCanLogIn(service, bySet)
    for (const { user, token } of [reset, set]) {
      assertDeadLink(await acceptBy(newAgent(), token, 'a good password 1'), 'This link no longer works')
      assert.equal((await shown(user.id)).invited, false)
      await refused([user.email], 1, /has an account already/)
    }
  })

  test('not when an operator vouches for the address', async () => {
    const person = newPerson()
    const { user, token } = await invite(service, person.email)
    await runCommandOf(service, ['users', 'verify-email', person.email])
    assertRedirect(await acceptBy(newAgent(), token, person.password), '/')
    await assertCanLogIn(service, person)
    assert.deepEqual(await eventsUntilDeletionOf(user.id), [
      'user.created',
      'user.updated email_verified',
      'user.deleted',
    ])
  })
})

describe('at the same moment', () => {
  test('of two presses, one wins', async () => {
    const person = newPerson()
    const { token } = await invite(service, person.email)
    const passwords = ['the first of them 1', 'the second of them 2', 'the third of them 3']
    const answers = await Promise.all(passwords.map((password) => acceptBy(newAgent(), token, password)))
    const statuses = answers.map(({ status }) => status)
    assert.deepEqual(
      [...statuses].toSorted((one, other) => one - other),
      [303, 410, 410],
    )
    await assertCanLogIn(service, { ...person, password: passwords[statuses.indexOf(303)] ?? '' })
  })

  test('of two links, one wins', async () => {
    const person = newPerson()
    const tokens = [(await invite(service, person.email)).token, (await invite(service, person.email)).token]
    const answers = await Promise.all(tokens.map((token) => acceptBy(newAgent(), token, person.password)))
    assert.deepEqual(
      answers.map(({ status }) => status).toSorted((one, other) => one - other),
      [303, 410],
    )
    await assertCanLogIn(service, person)
  })

  test('two invitations of one address: one account with two links', async () => {
    const operators = [await openOperator(service), await openOperator(service)]
    for (let round = 0; round < 5; round += 1) {
      const { email } = newPerson()
      const invited = await Promise.all(
        operators.map(({ links }) => links.invitations.invite({ email, roles: ['editor'], isMailed: false })),
      )
      const [userId = ''] = new Set(invited.map((each) => each.userId))
      assert.equal(new Set(invited.map((each) => each.userId)).size, 1)
      for (const { url } of invited) assertPage(await openInvitation(newAgent(), tokenOf(url)))
      const events = await eventsUntilDeletionOf(userId)
      assert.deepEqual(events, ['user.created', 'user.deleted'])
    }
  })

  test('a signup with the address and its invitation: one account, which the owner of the address enters', async () => {
    for (let round = 0; round < 4; round += 1) {
      const person = newPerson()
      const stranger = newAgent()
      const [answer, { user, token }] = await Promise.all([
        signUp(stranger, { ...person, password: 'that of a stranger 1' }),
        invite(service, person.email, '--role', 'editor'),
      ])
      assert.ok([303, 409].includes(answer.status), answer.text)
      await assertSignedOut(stranger)
      const agent = newAgent()
      assertRedirect(await acceptBy(agent, token, person.password), '/')
      assert.deepEqual((await currentUser(agent)).roles, ['editor'])
      const events = await eventsUntilDeletionOf(user.id)
      assert.equal(events.filter((event) => event === 'user.created').length, 1, events.join())
    }
  })
})

test('§7 an invited user cannot try out which usernames are taken for long: 429', async (t) => {
  const limited = await startService({ t, env: { SVC_RATE_LIMIT: 'on' } })
  const { person } = await signedUp(limited)
  const invited = newPerson()
  const { token } = await invite(limited, invited.email)
  const agent = createUserAgent(limited)
  const statuses: number[] = []
  for (let tries = 0; tries < 6; tries += 1)
    statuses.push((await acceptBy(agent, token, invited.password, { username: person.username })).status)
  assert.deepEqual(statuses, [409, 409, 409, 409, 409, 429])
})
