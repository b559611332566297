// Runs on SQLite.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { currentUser, loggedIn, newPerson, signedUp } from '../../support/client/accounts.ts'
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
import { startWebhookReceiver } from '../../support/network/webhook-receiver.ts'
import { openReset, RESET, resetBy, resetTokenOf, withNewPassword } from '../../support/recovery/reset.ts'
import { accessToken, claimsOf } from '../../support/service/access-tokens.ts'
import { deleteUser, disableUser, enableUser, setPassword } from '../../support/service/operator-commands.ts'
import { startReplicas } from '../../support/service/replicas.ts'
import { startService } from '../../support/service/service.ts'

const receiver = await startWebhookReceiver()
const service = await startService({
  env: { SVC_WEBHOOK_URL: receiver.url, SVC_WEBHOOK_SECRET: 'a secret of enough bytes' },
})
const newAgent = () => createUserAgent(service)

/** A user who is signed in, and a link to a new password. */
const withLink = async () => {
  const { agent, person } = await signedUp(service)
  return { agent, person, next: withNewPassword(person), token: await resetTokenOf(service, person.email) }
}

/** The page of a link that is not good, with its heading. */
const assertDeadLink = (answer: Answer, heading: string): void => {
  assertPage(answer, 410)
  assert.match(answer.text, new RegExp(`<h1>${heading}</h1>`))
  assert.equal(answer.headers['referrer-policy'], 'strict-origin')
}

describe('§4.2 a reset link', () => {
  test('shows whose account it is, sets the password, verifies the email and logs in', async () => {
    const { person, next, token } = await withLink()
    const agent = newAgent()
    const shown = await openReset(agent, token)
    assertPage(shown)
    assert.ok(
      shown.text.indexOf(person.email) < shown.text.indexOf('<button class="svc-button first"'),
      'above the button',
    )
    assert.equal(shown.headers['referrer-policy'], 'strict-origin')

    const answer = await resetBy(agent, token, next.password)
    assertRedirect(answer, '/')
    assert.equal(answer.headers['referrer-policy'], 'strict-origin')
    assert.equal((await currentUser(agent)).email, person.email)
    assert.equal(claimsOf(accessToken(agent)).email_verified, true)
    await assertCanLogIn(service, next)
    await assertCannotLogIn(service, person)
  })

  test('tells the application that the email is verified now, and only then', async () => {
    const { person, agent } = await signedUp(service)
    const { id } = await currentUser(agent)
    for (let times = 0; times < 2; times += 1)
      await resetBy(newAgent(), await resetTokenOf(service, id), `a good password ${times}`)
    await deleteUser(service, person.email)
    await receiver.receivedEvent(({ event }) => event.type === 'user.deleted' && event.data.user_id === id)
    const own = receiver.deliveries.filter(({ event }) => event.data.user_id === id)
    assert.deepEqual(
      own.map(({ event: { type, data } }) => [type, ...(data.changed ?? [])].join(' ')),
      ['user.created', 'user.updated email_verified', 'user.deleted'],
    )
  })

  test('is not used up by opening it, as a mail scanner does, nor by HEAD', async () => {
    const { agent, next, token } = await withLink()
    for (let count = 0; count < 5; count += 1) {
      const scanner = newAgent()
      const path = `${RESET}?token=${token}`
      assert.equal((await scanner.get(path)).status, 200)
      const head = await scanner.send({ method: 'HEAD', path })
      assert.deepEqual([head.status, head.text], [200, ''])
    }
    await assertSignedIn(agent)
    assertRedirect(await resetBy(newAgent(), token, next.password), '/')
  })

  test('stays good after a password that is refused, and changes nothing', async () => {
    const { agent, person, next, token } = await withLink()
    const browser = newAgent()
    for (const password of ['', 'short', 'password', person.email, 'a'.repeat(257)]) {
      const answer = await resetBy(browser, token, password)
      assertPage(answer, 422)
      assert.match(answer.text, /name="password"[^>]*aria-invalid="true"/)
    }
    await assertSignedIn(agent)
    await assertCanLogIn(service, person)
    assertRedirect(await resetBy(browser, token, next.password), '/')
  })

  test('is good once: of two presses at the same moment, one wins', async () => {
    const { person, token } = await withLink()
    const passwords = ['the first of them 1', 'the second of them 2']
    const answers = await Promise.all(passwords.map((password) => resetBy(newAgent(), token, password)))
    const statuses = answers.map(({ status }) => status)
    assert.deepEqual(
      [...statuses].toSorted((one, other) => one - other),
      [303, 410],
    )
    const winner = passwords[answers.findIndex(({ status }) => status === 303)] ?? ''
    await assertCanLogIn(service, { ...person, password: winner })
    assertDeadLink(await openReset(newAgent(), token), 'Link already used')
    assertDeadLink(await resetBy(newAgent(), token, 'another password 3'), 'Link already used')
  })

  test('is good once for all replicas', async (t) => {
    const replicas = await startReplicas({ t })
    const { person } = await signedUp(replicas[0])
    const token = await resetTokenOf(replicas[0], person.email)
    const answers = await Promise.all(
      replicas.map((replica) => resetBy(createUserAgent(replica), token, `a good password of ${replica.port}`)),
    )
    const statuses = answers.map(({ status }) => status)
    assert.deepEqual(
      [...statuses].toSorted((one, other) => one - other),
      [303, 410],
    )
  })

  test('without a token, with an empty one or several: 400, which names the field', async () => {
    const agent = newAgent()
    for (const query of ['', '?', '?token=', '?token=a&token=b']) {
      const answer = await agent.get(`${RESET}${query}`)
      assertErrorPage(answer, 400)
      assert.match(answer.text, /token/)
      assert.equal(answer.headers['referrer-policy'], 'strict-origin')
    }
    for (const form of [{}, { token: '' }, { token: ['a', 'b'] }])
      assertErrorPage(await agent.post(RESET, { password: 'a good password 1', ...form }), 400)
  })

  test('with a token that was never made, or is none: 410', async () => {
    const { token } = await withLink()
    const changed = `${token.slice(0, -2)}${token.endsWith('AA') ? 'BB' : 'AA'}`
    for (const wrong of [
      changed,
      token.slice(1),
      `${token}=`,
      ` ${token}`,
      'x',
      '\u0000',
      '%00',
      'ß'.repeat(500),
      "'",
    ]) {
      assertDeadLink(await openReset(newAgent(), wrong), 'This link isn’t valid')
      assertDeadLink(await resetBy(newAgent(), wrong, 'a good password 1'), 'This link isn’t valid')
    }
  })

  test('replaces the session of another account in this browser, which the page names first', async () => {
    const { next, person, token } = await withLink()
    const { agent: other, person: otherPerson } = await signedUp(service)
    const copy = other.copy()
    const shown = await openReset(other, token)
    assert.ok(shown.text.includes(otherPerson.email), 'it names the session')
    assertRedirect(await resetBy(other, token, next.password), '/')
    assert.equal((await currentUser(other)).email, person.email)
    await assertSignedOut(copy)
    await assertCanLogIn(service, otherPerson)
  })

  test('needs the CSRF token and the own origin', async () => {
    const { person, next, token } = await withLink()
    const { password } = next
    assertErrorPage(await newAgent().post(RESET, { token, password, csrf_token: 'x'.repeat(43) }), 403)
    assertErrorPage(await newAgent().post(RESET, { token, password }, { origin: 'https://evil.example' }), 403)
    assertErrorPage(await newAgent().post(RESET, { token, password }, { origin: 'null' }), 403)
    await assertCanLogIn(service, person)
  })

  test('is not in the log, and neither is the password', async () => {
    const { next, token } = await withLink()
    await openReset(newAgent(), token)
    await resetBy(newAgent(), token, 'short')
    await resetBy(newAgent(), token, next.password)
    await resetBy(newAgent(), token, next.password)
    assert.ok(!service.logs().includes(token.slice(0, 20)))
    assert.ok(!service.logs().includes(next.password))
  })
})

describe('§4.2 what a reset ends', () => {
  test('every session, also that of this browser', async () => {
    const { agent, person, next, token } = await withLink()
    const elsewhere = await loggedIn(service, person)
    const copy = agent.copy()
    assertRedirect(await resetBy(agent, token, next.password), '/')
    await assertSignedOut(elsewhere)
    await assertSignedOut(copy)
    await assertSignedIn(agent)
  })

  test('every other link to a new password', async () => {
    const { person, next, token } = await withLink()
    const other = await resetTokenOf(service, person.email)
    assertRedirect(await resetBy(newAgent(), token, next.password), '/')
    assertDeadLink(await openReset(newAgent(), other), 'This link no longer works')
    assertDeadLink(await resetBy(newAgent(), other, person.password), 'This link no longer works')
    await assertCanLogIn(service, next)
  })
})

describe('§4.2 a reset link ends', () => {
  test('with the sixth link: at most five are live, and the oldest gives way', async () => {
    const { person, next, token } = await withLink()
    const later: string[] = []
    for (let count = 0; count < 5; count += 1) later.push(await resetTokenOf(service, person.email))
    assertDeadLink(await resetBy(newAgent(), token, next.password), 'There’s a newer link')
    for (const live of later) assert.equal((await openReset(newAgent(), live)).status, 200)
  })

  test('with a change of the password, and not with a login', async () => {
    const { agent, person, next, token } = await withLink()
    await assertCanLogIn(service, person)
    assert.equal((await openReset(newAgent(), token)).status, 200)
    const form = { current_password: person.password, new_password: next.password }
    assert.equal((await agent.post('/auth/account/password', form)).status, 303)
    assertDeadLink(await resetBy(newAgent(), token, person.password), 'This link no longer works')
  })

  test('with a password that an operator sets', async () => {
    const { person, next, token } = await withLink()
    await setPassword(service, person.email, next.password)
    assertDeadLink(await openReset(newAgent(), token), 'This link no longer works')
  })

  test('with a disabled account, also once it is enabled again', async () => {
    const { person, next, token } = await withLink()
    await disableUser(service, person.email)
    assertDeadLink(await resetBy(newAgent(), token, next.password), 'This link no longer works')
    await enableUser(service, person.email)
    assertDeadLink(await resetBy(newAgent(), token, next.password), 'This link no longer works')
    await assertCanLogIn(service, person)
  })

  test('with a deleted account', async () => {
    const { person, next, token } = await withLink()
    await deleteUser(service, person.email)
    assertDeadLink(await openReset(newAgent(), token), 'This link isn’t valid')
    assertDeadLink(await resetBy(newAgent(), token, next.password), 'This link isn’t valid')
  })
})

describe('§8.1 svc users reset-link', () => {
  test('prints the address alone, and says on stderr what an unverified account loses', async () => {
    const { person } = await signedUp(service)
    const { code, stdout, stderr } = await service.cli(['users', 'reset-link', person.username])
    assert.equal(code, 0)
    assert.match(stdout, new RegExp(`^${service.url}/auth/password/reset\\?token=[\\w-]{43}\n$`))
    assert.match(stderr, /takes the account over/)
    assertPage(await newAgent().get(stdout.trim().slice(service.url.length)))
  })

  test('mails nothing while mail is off, and names the setting', async () => {
    const { person } = await signedUp(service)
    const { code, stdout, stderr } = await service.cli(['users', 'reset-link', person.email, '--mail'])
    assert.deepEqual([code, stdout], [1, ''])
    assert.match(stderr, /SVC_SMTP_URL/)
  })

  test('is refused for a disabled and for an unknown account', async () => {
    const { person } = await signedUp(service)
    await disableUser(service, person.email)
    const disabled = await service.cli(['users', 'reset-link', person.email])
    assert.deepEqual([disabled.code, disabled.stdout], [1, ''])
    assert.match(disabled.stderr, /disabled/)
    const unknown = await service.cli(['users', 'reset-link', newPerson().email])
    assert.equal(unknown.code, 1)
    assert.match(unknown.stderr, /there is no user/)
  })
})
