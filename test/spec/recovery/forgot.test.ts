// Runs on SQLite.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { currentUser, logIn, newAgent as newAgentOf, newPerson, signedUp } from '../../support/client/accounts.ts'
import {
  assertCanLogIn,
  assertErrorPage,
  assertPage,
  assertRedirect,
  assertSignedOut,
} from '../../support/client/assertions.ts'
import { createUserAgent } from '../../support/client/user-agent.ts'
import { turnedClock } from '../../support/clock/turned-clock.ts'
import { openOutbox, type Outbox } from '../../support/mail/outbox.ts'
import { startSmtpServer } from '../../support/network/smtp-server.ts'
import {
  askForLink,
  FORGOT,
  openReset,
  resetBy,
  resetMailFor,
  resetMails,
  resetTokenOf,
  tokenOf,
  withNewPassword,
} from '../../support/recovery/reset.ts'
import { disableUser, runCommandOf, setRoles } from '../../support/service/operator-commands.ts'
import { startService } from '../../support/service/service.ts'
import { eventually } from '../../support/wait.ts'

const HOUR = 3_600_000

const smtp = await startSmtpServer()
const withoutVerification = { ...smtp.env, SVC_EMAIL_VERIFICATION: 'off' }
const service = await startService({ env: withoutVerification })
const newAgent = () => createUserAgent(service)

/** Clients on this machine have limits of their own. */
const fromOutside = ({ url }: { url: string }) => ({ url, headers: { 'x-forwarded-for': '198.51.100.1' } })

/** The messages of an outbox, once every request was looked up. */
const lookedUp = async ({ rows }: Outbox) => {
  await eventually('all requests are looked up', async () => !(await rows()).some(({ state }) => state === 'requested'))
  return rows()
}

/** A page without what is different in each response. */
const withoutTokens = (page: string): string => page.replaceAll(/[\w-]{43}/g, 'TOKEN')

describe('§4.2 forgot password', { concurrency: true }, () => {
  test('from the page to the application, in the browser that asked', async () => {
    const { person } = await signedUp(service)
    const next = withNewPassword(person)
    const agent = newAgent()
    const shown = await agent.get(`${FORGOT}?email=${encodeURIComponent(person.email)}&return_to=%2Fmembers%3Fa%3Db`)
    assertPage(shown)
    assert.ok(shown.text.includes(`value="${person.email}"`), 'the email is carried')
    assert.ok(shown.text.includes('name="return_to" value="/members?a=b"'))

    const asked = await askForLink(agent, person.email, { return_to: '/members?a=b' })
    assertPage(asked)
    assert.match(asked.text, /If there is an account, we have sent a link/)
    assert.ok(!asked.text.includes(person.email))
    const cookie = asked.cookie('svc_link')
    assert.deepEqual(
      [cookie?.attributes.path, cookie?.attributes.httponly, cookie?.attributes['max-age']],
      ['/auth', '', String(24 * 3600)],
    )

    const token = tokenOf((await resetMailFor(smtp, person.email)).link)
    assertPage(await openReset(agent, token))
    assertRedirect(await resetBy(agent, token, next.password, { return_to: '/elsewhere' }), '/members?a=b')
    assert.equal((await currentUser(agent)).email, person.email)
    await assertCanLogIn(service, next)
    await eventually('the user is told', () =>
      smtp.mails.some(({ to, subject }) => to === person.email && subject === 'Your password was reset'),
    )
  })

  test('return_to counts in the browser that asked, and in no other', async () => {
    const { person } = await signedUp(service)
    const asking = newAgent()
    const other = newAgent()
    await askForLink(other, newPerson().email)
    await askForLink(asking, person.email, { return_to: '/members' })
    const token = tokenOf((await resetMailFor(smtp, person.email)).link)
    assertRedirect(await resetBy(other, token, withNewPassword(person).password), '/')
  })

  test('two requests of one browser both lead back, with the one cookie', async () => {
    const { person } = await signedUp(service)
    const agent = newAgent()
    await askForLink(agent, person.email, { return_to: '/first' })
    const secret = agent.cookies.get('svc_link')
    const first = tokenOf((await resetMailFor(smtp, person.email)).link)
    await askForLink(agent, person.email, { return_to: '/second' })
    assert.equal(agent.cookies.get('svc_link'), secret)
    assertRedirect(await resetBy(agent, first, withNewPassword(person).password), '/first')
  })

  test('every address gets the same page: with and without an account, disabled, in another case', async () => {
    const { person } = await signedUp(service)
    const { person: disabled } = await signedUp(service)
    await disableUser(service, disabled.email)
    const unknown = newPerson()
    const agent = newAgent()
    const pages: string[] = []
    for (const email of [unknown.email, disabled.email, ` ${person.email.toUpperCase()} `]) {
      const answer = await askForLink(agent, email)
      assertPage(answer)
      pages.push(withoutTokens(answer.text))
    }
    assert.equal(new Set(pages).size, 1)
    const mail = await resetMailFor(smtp, person.email)
    assert.equal(mail.to, person.email, 'to the address as it stands in the account')
    // Requests are looked up in their order: those before are done.
    assert.deepEqual([...resetMails(smtp, unknown.email), ...resetMails(smtp, disabled.email)], [])
  })

  test('what is no address is 422, and keeps what was typed', async () => {
    for (const email of [
      '',
      'ada',
      'ada@localhost',
      'a@b@c.example',
      `${'a'.repeat(250)}@example.com`,
      '<b>@x.example',
    ]) {
      const answer = await askForLink(newAgent(), email)
      assertPage(answer, 422)
      assert.match(answer.text, /name="email"[^>]*aria-invalid="true"/)
      assert.equal(answer.cookie('svc_link'), undefined)
    }
    assertErrorPage(await askForLink(newAgent(), 'ada@example.com', { email: ['a@b.example', 'c@d.example'] }), 400)
    assertErrorPage(await askForLink(newAgent(), 'ada@example.com', { return_to: '//evil.example' }), 400)
    assertErrorPage(await newAgent().get(`${FORGOT}?return_to=https://evil.example`), 400)
  })

  test('a mail scanner that follows every link uses none up', async () => {
    const { person } = await signedUp(service)
    await askForLink(newAgent(), person.email)
    const mail = await resetMailFor(smtp, person.email)
    for (const link of [...mail.links, ...mail.htmlLinks]) {
      const { pathname, search } = new URL(link)
      for (const method of ['HEAD', 'GET']) await newAgent().send({ method, path: pathname + search })
    }
    assertRedirect(await resetBy(newAgent(), tokenOf(mail.link), withNewPassword(person).password), '/')
  })

  test('svc users reset-link --mail sends the same link, and prints none', async () => {
    const { person } = await signedUp(service)
    const printed = await runCommandOf(service, ['users', 'reset-link', person.email, '--mail'])
    assert.ok(!printed.includes('token='))
    const token = tokenOf((await resetMailFor(smtp, person.email)).link)
    assertRedirect(await resetBy(newAgent(), token, withNewPassword(person).password), '/')
  })

  test('an unverified account is taken over: what another person may have put there ends', async () => {
    const { person, agent: attacker } = await signedUp(service)
    const owner = newAgent()
    await setRoles(service, person.email, ['admin'])
    await askForLink(owner, person.email)
    const token = tokenOf((await resetMailFor(smtp, person.email)).link)
    assertRedirect(await resetBy(owner, token, withNewPassword(person).password), '/')
    assert.deepEqual((await currentUser(owner)).roles, [])
    await assertSignedOut(attacker)
  })

  test('in a browser with a session of the account it is no take-over, and roles stay', async () => {
    const { person, agent } = await signedUp(service)
    await setRoles(service, person.email, ['admin'])
    await askForLink(agent, person.email)
    const token = tokenOf((await resetMailFor(smtp, person.email)).link)
    assertRedirect(await resetBy(agent, token, withNewPassword(person).password), '/')
    assert.deepEqual((await currentUser(agent)).roles, ['admin'])
  })
})

test('a link is good for SVC_RESET_TTL', async (t) => {
  const clock = turnedClock()
  const short = await startService({ t, clock, env: { ...withoutVerification, SVC_RESET_TTL: '20m' } })
  const { person } = await signedUp(short)
  const agent = createUserAgent(short)
  await askForLink(agent, person.email)
  const token = tokenOf((await resetMailFor(smtp, person.email)).link)
  await clock.turnTo(HOUR / 3 - 30_000)
  assertPage(await openReset(agent, token))
  await clock.turnTo(HOUR / 3 + 1000)
  const expired = await resetBy(agent, token, withNewPassword(person).password)
  assertPage(expired, 410)
  assert.match(expired.text, /<h1>This link has expired<\/h1>/)
  await assertCanLogIn(short, person)
})

test('five requests an hour for one address, thirty from one network; past that the page says the same', async (t) => {
  const clock = turnedClock()
  const limited = await startService({ t, clock, env: { ...withoutVerification, SVC_RATE_LIMIT: 'on' } })
  const outbox = await openOutbox(limited, t)
  const { person } = await signedUp(limited)
  await runCommandOf(limited, ['users', 'verify-email', person.email])
  const agent = createUserAgent(limited)
  const askedSince = async (sinceMs: number) => {
    const rows = await lookedUp(outbox)
    return rows.filter((row) => row.recipient === person.email && Number(row.created_at) >= sinceMs).length
  }
  const pages = new Set<string>()
  for (let count = 0; count < 7; count += 1) pages.add(withoutTokens((await askForLink(agent, person.email)).text))
  assert.equal(await askedSince(0), 5)

  await clock.turnTo(HOUR + 1000)
  const laterMs = clock.now()
  for (let count = 0; count < 29; count += 1) await askForLink(agent, newPerson().email)
  await askForLink(agent, person.email)
  assert.equal(await askedSince(laterMs), 1)
  pages.add(withoutTokens((await askForLink(agent, person.email)).text))
  assert.equal(await askedSince(laterMs), 1)
  assert.equal(pages.size, 1)
})

test('a reset lets the user log in again at once, however many wrong passwords there were', async (t) => {
  const started = await startService({ t, env: { ...withoutVerification, SVC_RATE_LIMIT: 'on' } })
  const limited = { ...started, headers: { 'x-forwarded-for': '198.51.100.7' } }
  const { person } = await signedUp(limited)
  const next = withNewPassword(person)
  const login = (password: string) => logIn(newAgentOf(fromOutside(limited)), { ...person, password })
  for (let tries = 0; tries < 10; tries += 1) assert.equal((await login('wrong')).status, 401)
  assert.equal((await login(person.password)).status, 429)
  assertRedirect(await resetBy(createUserAgent(limited), await resetTokenOf(limited, person.email), next.password), '/')
  assert.equal((await login(next.password)).status, 303)
})

test('svc users unlock lets a user log in again at once, and an attacker guess no longer than before', async (t) => {
  const started = await startService({ t, env: { ...withoutVerification, SVC_RATE_LIMIT: 'on' } })
  const limited = { ...started, headers: { 'x-forwarded-for': '198.51.100.7' } }
  const { person } = await signedUp(limited)
  const login = (password: string) => logIn(newAgentOf(fromOutside(limited)), { ...person, password })
  const fail = async () => {
    for (let tries = 0; tries < 10; tries += 1) assert.equal((await login('wrong')).status, 401)
    assert.equal((await login(person.password)).status, 429)
  }
  await fail()
  assert.match(await runCommandOf(limited, ['users', 'unlock', person.username]), /can log in again/)
  assert.equal((await login(person.password)).status, 303)
  await fail()
  await runCommandOf(limited, ['users', 'unlock', person.email])
  assert.equal((await login(person.password)).status, 303)
  const { code, stderr } = await limited.cli(['users', 'unlock', 'nobody@example.com'])
  assert.equal(code, 1)
  assert.match(stderr, /nobody@example\.com/)
})

test('past the limits a link is sent all the same while no earlier one is good: nobody is kept out by asking', async (t) => {
  const clock = turnedClock()
  const limited = await startService({ t, clock, env: { ...withoutVerification, SVC_RATE_LIMIT: 'on' } })
  const outbox = await openOutbox(limited, t)
  const { person } = await signedUp(limited)
  const ask = async (times: number) => {
    for (let count = 0; count < times; count += 1) await askForLink(createUserAgent(limited), person.email)
    return (await lookedUp(outbox)).filter(({ purpose }) => purpose === 'reset').length
  }
  assert.equal(await ask(6), 5)
  // The limit of a day for an address that nobody has proved.
  await clock.turnTo(2 * HOUR)
  assert.equal(await ask(2), 6)
  // A link that an operator hands over is no message.
  await clock.turnTo(4 * HOUR)
  await resetTokenOf(limited, person.email)
  assert.equal(await ask(2), 7)
  // The limit of an hour, for an address that is proved by then.
  const useLink = async (count: number) => {
    const token = tokenOf((await resetMailFor(smtp, person.email, count)).link)
    assertRedirect(await resetBy(createUserAgent(limited), token, withNewPassword(person).password), '/')
  }
  await useLink(7)
  assert.equal(await ask(6), 10)
  await useLink(10)
  assert.equal(await ask(2), 11)
})
