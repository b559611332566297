// Runs on SQLite.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { currentUser, logIn, newAgent, newPerson, signedUp, type Person } from '../../support/client/accounts.ts'
import {
  assertCanLogIn,
  assertCannotLogIn,
  assertPage,
  assertRedirect,
  assertSignedOut,
} from '../../support/client/assertions.ts'
import type { UserAgent } from '../../support/client/user-agent.ts'
import { openDatabase } from '../../support/database/database.ts'
import { startSmtpServer } from '../../support/network/smtp-server.ts'
import { githubPersonWith } from '../../support/provider/provider-accounts.ts'
import { type GitHubPerson, startGitHubServer } from '../../support/provider/github-server.ts'
import { startServiceWith } from '../../support/provider/provider-service.ts'
import { signInBy } from '../../support/provider/provider-sign-in.ts'
import { resetBy, tokenOf } from '../../support/recovery/reset.ts'
import { createUser, runCommandOf, setPassword } from '../../support/service/operator-commands.ts'
import { startService } from '../../support/service/service.ts'
import { eventually } from '../../support/wait.ts'

const smtp = await startSmtpServer()
const github = await startGitHubServer()
// One hash after the other: logins that come at once are under way at once.
const env = { ...smtp.env, SVC_RATE_LIMIT: 'on', SVC_HASHES_AT_ONCE: '1' }
const service = await startServiceWith({ github }, { env })
const database = await openDatabase(service)
const byGithub = (person: GitHubPerson) => (url: string) => github.visit(url, { person })

/** The messages to an address with this in their subject, once there are so many. */
const noticesFor = async (email: string, subject: RegExp, count = 1) => {
  for (let arrived = 1; ; arrived += 1) {
    await smtp.receivedFor(email, arrived)
    const found = smtp.mails.filter((mail) => mail.to === email && subject.test(mail.subject))
    if (found.length >= count) return found
  }
}

const noticeFor = async (email: string, subject: RegExp) => {
  const [found] = await noticesFor(email, subject)
  assert.ok(found)
  return found
}

/** A user whose address is verified, in a browser that their account knows. */
const verifiedUser = async () => {
  const person = newPerson()
  await createUser(service, person)
  const agent = newAgent(service)
  assertRedirect(await logIn(agent, person), '/')
  await noticeFor(person.email, /^New login/)
  return { agent, person, id: (await currentUser(agent)).id }
}

const guess = (agent: UserAgent, { email }: Person) => agent.post('/auth/login', { email, password: 'wrong password' })

/** Every row of the outbox, as the database has it. */
const messagesTo = (email: string, purpose: string) =>
  database.rows('SELECT id FROM mail_messages WHERE recipient = ? AND purpose = ?', email, purpose)

const loggedInElsewhere = async (person: Person): Promise<UserAgent> => {
  const agent = newAgent(service)
  assertRedirect(await logIn(agent, person), '/')
  return agent
}

/** The `count`th change of a password that ends in a number. */
const changePassword = async (agent: UserAgent, person: Person, count: number): Promise<void> => {
  const change = { current_password: `${person.password} ${count - 1}`, new_password: `${person.password} ${count}` }
  assertRedirect(await agent.post('/auth/account/password', change), '/auth/account?done=password')
}

describe('a sign-in from a new browser', () => {
  test('is told to the user once, with device and address, and nothing of the request besides', async () => {
    const { person } = await verifiedUser()
    const agent = newAgent(service)
    const headers = {
      'user-agent': 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0 <b>evil</b>',
    }
    assertRedirect(await agent.post('/auth/login', { email: person.email, password: person.password }, headers), '/')
    const [, notice] = await noticesFor(person.email, /^New login/, 2)
    assert.match(notice?.text ?? '', /Firefox on Linux/)
    assert.match(notice?.text ?? '', /127\.0\.0\.1|::1/)
    assert.doesNotMatch(`${notice?.text}${notice?.html}`, /evil/)
    assertRedirect(await logIn(agent, person), '/')
    assert.equal((await messagesTo(person.email, 'new_browser')).length, 2)
  })

  test('is not told about a signup, nor with SVC_MAIL_NOTICES=off', async (t) => {
    const quiet = await startService({ t, env: { ...smtp.env, SVC_MAIL_NOTICES: 'off' } })
    const [{ person }, known] = [await signedUp(service), newPerson()]
    await createUser(quiet, known)
    assertRedirect(await logIn(newAgent(quiet), known), '/')
    assert.deepEqual(await messagesTo(person.email, 'new_browser'), [])
    const rows = await (await openDatabase(quiet, t)).rows(`SELECT id FROM mail_messages WHERE purpose = 'new_browser'`)
    assert.deepEqual(rows, [])
  })

  test('sends at most 20 messages an hour to one address', async () => {
    const { person } = await verifiedUser()
    for (let count = 0; count < 22; count += 1) await loggedInElsewhere(person)
    assert.equal((await messagesTo(person.email, 'new_browser')).length, 20)
  })
})

describe('an account whose address nobody has proved', () => {
  test('is told what happens in it, whatever strangers have asked for in its name', async () => {
    const { person } = await signedUp(service, { ...newPerson(), password: 'a pass phrase 0' })
    for (let count = 0; count < 5; count += 1) {
      const { agent: stranger } = await signedUp(service)
      const answer = await stranger.post('/auth/account/email', { email: person.email })
      assertRedirect(answer, '/auth/account?done=email_requested')
      await newAgent(service).post('/auth/password/forgot', { email: person.email })
    }
    await eventually('all requests are looked up', async () => {
      const rows = await database.rows(`SELECT id FROM mail_messages WHERE state = 'requested'`)
      return rows.length === 0
    })
    const agent = await loggedInElsewhere(person)
    await changePassword(agent, { ...person, password: 'a pass phrase' }, 1)
    assertRedirect(
      await agent.post('/auth/account/username', { username: newPerson().username }),
      '/auth/account?done=username',
    )
    for (const subject of [/^New login/, /password was changed/, /username was changed/])
      await noticeFor(person.email, subject)
  })

  test('gets 20 notices an hour, and beyond that one of each kind: neither flooded nor left in the dark', async () => {
    const { agent, person } = await signedUp(service, { ...newPerson(), password: 'a pass phrase 0' })
    for (let count = 1; count <= 23; count += 1)
      await changePassword(agent, { ...person, password: 'a pass phrase' }, count)
    assert.equal((await messagesTo(person.email, 'password_changed')).length, 21)
    for (let count = 0; count < 2; count += 1)
      assertRedirect(
        await agent.post('/auth/account/username', { username: newPerson().username }),
        '/auth/account?done=username',
      )
    assert.equal((await messagesTo(person.email, 'username_changed')).length, 1)
    await loggedInElsewhere({ ...person, password: 'a pass phrase 23' })
    assert.equal((await messagesTo(person.email, 'new_browser')).length, 1)
  })
})

describe('§4.2 "This wasn’t me"', () => {
  test('changes nothing until it is pressed with a new password; then everything ends at once', async () => {
    const { agent: owner, person, id } = await verifiedUser()
    const thief = await loggedInElsewhere(person)
    const [, notice] = await noticesFor(person.email, /^New login/, 2)
    const link = notice?.link ?? ''
    assert.ok(link.startsWith(`${service.url}/auth/account/not-me?token=`), link)
    const path = link.slice(service.url.length)
    const browser = newAgent(service)
    for (const scanner of [browser, newAgent(service)]) {
      const shown = await scanner.get(path)
      assertPage(shown)
      assert.match(shown.text, new RegExp(person.email))
      assert.equal(shown.headers['referrer-policy'], 'strict-origin')
    }
    assert.equal((await thief.get('/auth/api/v1/user')).status, 200)

    const press = (password: string) => browser.post('/auth/account/not-me', { token: tokenOf(link), password })
    for (const password of ['', 'short', person.email]) assertPage(await press(password), 422)
    assert.equal((await thief.get('/auth/api/v1/user')).status, 200, 'the link stays good, and nothing has changed')
    const next = { ...person, password: `new ${person.password}` }
    assertRedirect(await press(next.password), '/')
    assert.equal((await currentUser(browser)).id, id)
    await assertSignedOut(thief)
    await assertSignedOut(owner)
    assert.equal((await database.rows('SELECT id FROM known_browsers WHERE user_id = ?', id)).length, 1)
    await assertCannotLogIn(service, person)
    await noticeFor(person.email, /password was reset/)
    await assertCanLogIn(service, next)
    assertPage(await newAgent(service).get(path), 410)
    assertPage(await browser.post('/auth/account/not-me', { token: tokenOf(link) }), 410)
  })

  test('of two presses at the same moment, one wins', async () => {
    const { person } = await verifiedUser()
    const { link } = await noticeFor(person.email, /^New login/)
    const press = () =>
      newAgent(service).post('/auth/account/not-me', { token: tokenOf(link), password: 'a good password 1' })
    const statuses = (await Promise.all([press(), press(), press()])).map(({ status }) => status)
    assert.deepEqual(
      statuses.sort((a, b) => a - b),
      [303, 410, 410],
    )
  })

  test('disconnects the provider that was connected, and no other', async () => {
    const { agent, person, id } = await verifiedUser()
    const [mine, thiefs] = [githubPersonWith('own@example.org'), githubPersonWith('thief@example.org')]
    assertRedirect(await signInBy(agent, 'github', byGithub(mine), { intent: 'link' }), '/auth/account?done=linked')
    assertRedirect(await signInBy(agent, 'github', byGithub(thiefs), { intent: 'link' }), '/auth/account?done=linked')
    const [, notice] = await noticesFor(person.email, /GitHub was connected/, 2)
    const browser = newAgent(service)
    assert.match((await browser.get(notice?.link.slice(service.url.length) ?? '')).text, /GitHub/)
    const form = { token: tokenOf(notice?.link ?? ''), password: 'a good password 1' }
    assert.equal((await browser.post('/auth/account/not-me', form)).status, 303)
    const left = await database.rows('SELECT email FROM identities WHERE user_id = ?', id)
    assert.deepEqual(
      left.map(({ email }) => email),
      ['own@example.org'],
    )
    await assertSignedOut(agent)
    await noticeFor(person.email, /GitHub was disconnected/)
  })

  test('proves no address: the message may have gone to one that the account has left', async () => {
    const { person, agent } = await signedUp(service)
    await loggedInElsewhere(person)
    const { link } = await noticeFor(person.email, /^New login/)
    const { id } = await currentUser(agent)
    const form = { token: tokenOf(link), password: `new ${person.password}` }
    assertRedirect(await newAgent(service).post('/auth/account/not-me', form), '/')
    const [user] = await database.rows('SELECT email_verified_at FROM users WHERE id = ?', id)
    assert.equal(user?.email_verified_at, null)
  })

  test('leads an account without a password to a link, by which its user gets in', async () => {
    const { person, id } = await verifiedUser()
    const { link } = await noticeFor(person.email, /^New login/)
    await database.rows('UPDATE users SET password_hash = NULL WHERE id = ?', id)
    const browser = newAgent(service)
    assert.doesNotMatch((await browser.get(link.slice(service.url.length))).text, /name="password"/)
    const pressed = await browser.post('/auth/account/not-me', { token: tokenOf(link) })
    const token = tokenOf(`${service.url}${pressed.location}`)
    assertRedirect(await resetBy(browser, token, `new ${person.password}`), '/')
  })
})

describe('users are told what happens to their account', () => {
  test('by themselves: username, password, deletion, with the device', async () => {
    const { agent, person } = await verifiedUser()
    const username = newPerson().username
    assertRedirect(await agent.post('/auth/account/username', { username }), '/auth/account?done=username')
    const renamed = await noticeFor(person.email, /username was changed/)
    assert.match(renamed.text, new RegExp(username))
    assert.match(renamed.text, new RegExp(person.username))
    const next = `new ${person.password}`
    const change = { current_password: person.password, new_password: next }
    assertRedirect(await agent.post('/auth/account/password', change), '/auth/account?done=password')
    const changed = await noticeFor(person.email, /password was changed/)
    assert.match(changed.text, /127\.0\.0\.1|::1/)
    assertRedirect(await agent.post('/auth/account/delete', { password: next }), '/auth/login?done=deleted')
    await noticeFor(person.email, /account was deleted/)
  })

  test('by an operator: password, deletion, without a device', async () => {
    const { person } = await verifiedUser()
    await setPassword(service, person.email, `new ${person.password}`)
    const changed = await noticeFor(person.email, /password was changed/)
    assert.match(changed.text, /^By: An administrator$/m)
    assert.doesNotMatch(changed.text, /127\.0\.0\.1|::1/)
    await runCommandOf(service, ['users', 'delete', person.email, '--yes'])
    await noticeFor(person.email, /account was deleted/)
  })

  test('not when too many came at once and none has failed, and the notice of that day can still come', async () => {
    const from = { 'x-forwarded-for': '198.51.100.8' }
    const logInOnce = ({ email }: Person, password: string) =>
      newAgent(service).post('/auth/login', { email, password }, from)
    const logInAtOnce = (person: Person, password: string) =>
      Promise.all(Array.from({ length: 28 }, () => logInOnce(person, password)))
    // A busy machine may take them one after the other: then none is refused.
    const untilRefused = async () => {
      for (;;) {
        const { person, id } = await verifiedUser()
        const answers = await logInAtOnce(person, person.password)
        const refused = answers.filter(({ status }) => status === 429)
        if (refused.length > 0) return { person, id, refused }
      }
    }
    const { person, id, refused } = await untilRefused()
    for (const { headers, text } of refused) {
      assert.equal(headers['retry-after'], '2')
      assert.doesNotMatch(text, /wrong passwords/)
    }
    assert.deepEqual(await messagesTo(person.email, 'login_limited'), [])
    await logInAtOnce(person, 'wrong password')
    assert.equal((await logInOnce(person, person.password)).status, 429)
    await noticeFor(person.email, /Too many failed logins/)
    const records = () =>
      database.rows(`SELECT request_id FROM audit_events WHERE user_id = ? AND type = 'login.limited' ORDER BY id`, id)
    await eventually('the record of what failed', async () => (await records()).length > 0)
    const [first] = await records()
    assert.ok(!refused.some(({ headers }) => headers['x-request-id'] === first?.request_id), 'a record of no failure')
  })

  test('which logins are refused, and where the user still gets in: in the message and on the page alike', async () => {
    const { agent: known, person: one } = await verifiedUser()
    for (let tries = 0; tries < 20; tries += 1) assertPage(await guess(known, one), 401)
    const inBrowser = await guess(known, one)
    assertPage(inBrowser, 429)
    const parts = ['this account in this browser', 'class="svc-button first" href', 'name="password"', 'Reference:']
    assert.match(inBrowser.text, new RegExp(parts.join('.*'), 's'), 'the cause, the remedy, the form, the request')
    assert.match(
      inBrowser.text,
      /class="svc-button first" href="\/auth\/password\/forgot\?email=[^"]*">Reset your password now</,
    )
    assert.doesNotMatch(inBrowser.text, /you’ve logged in with/)
    const ofBrowser = await noticeFor(one.email, /Too many failed logins/)
    assert.match(ofBrowser.text, /Logins from that browser are paused/)

    const { person: other } = await verifiedUser()
    const inNetwork = newAgent(service)
    for (let tries = 0; tries < 9; tries += 1) assertPage(await guess(inNetwork, other), 401)
    await database.rows(`UPDATE counters SET count = 100 WHERE id LIKE 'login % anywhere'`)
    const anywhere = await guess(inNetwork, other)
    assertPage(anywhere, 429)
    assert.match(
      anywhere.text,
      /wrong passwords for this account, perhaps not from you\..*A browser you’ve logged in with before still works\./s,
    )
    const ofAccount = await noticeFor(other.email, /Too many failed logins/)
    assert.match(ofAccount.text, /Logins are paused, except in browsers you’ve used before/)
  })

  test('once a day when too many logins have failed, and nobody where there is no account', async () => {
    const { person } = await verifiedUser()
    const unknown = newPerson()
    const from = { 'x-forwarded-for': '198.51.100.7' }
    for (const { email } of [person, unknown]) {
      for (let count = 0; count < 13; count += 1) {
        await newAgent(service).post('/auth/login', { email, password: 'wrong password' }, from)
      }
    }
    const { text } = await noticeFor(person.email, /Too many failed logins/)
    assert.match(text, /Logins from that network are paused/)
    assert.equal((await messagesTo(person.email, 'login_limited')).length, 1)
    assert.equal(smtp.mails.filter(({ to }) => to === unknown.email).length, 0)
  })
})
