// Runs on SQLite and PostgreSQL.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { currentUser, newPerson, signedUp } from '../../support/client/accounts.ts'
import {
  assertErrorPage,
  assertPage,
  assertRedirect,
  assertSignedIn,
  assertSignedOut,
} from '../../support/client/assertions.ts'
import type { Answer } from '../../support/client/user-agent.ts'
import { resetTokenOf } from '../../support/recovery/reset.ts'
import {
  ask,
  ASK,
  CODE,
  LINK,
  openLink,
  pressLink,
  startSignInByMail,
  typeCode,
  WRONG,
} from '../../support/recovery/sign-in-by-mail.ts'
import { accessToken, claimsOf } from '../../support/service/access-tokens.ts'

const { service, database, smtp, core, asked, newUser, newAgent } = await startSignInByMail()

/** A verified account, a browser that has asked for a code, and what has come. */
const withCode = async (form = {}) => {
  const person = await newUser()
  const agent = newAgent()
  return { person, agent, ...(await asked(agent, person.email, form)) }
}

const assertWrong = (answer: Answer): void => {
  assertPage(answer, 401)
  assert.match(answer.text, /name="code"[^>]*aria-invalid="true"/)
  assert.equal(answer.cookie('svc_access'), undefined)
}

describe('§4.21 a code', () => {
  test('signs in in the browser that asked, goes where it was asked for, and is used up with its link', async () => {
    const { person, agent, code, token } = await withCode({ return_to: '/kept?a=b' })
    const answer = await typeCode(agent, code)
    assertRedirect(answer, '/kept?a=b')
    assert.equal((await currentUser(agent)).email, person.email)
    assert.deepEqual(claimsOf(accessToken(agent)).amr, ['otp'])
    assert.equal(answer.cookie('svc_last_way')?.value, 'email')
    assertWrong(await typeCode(agent, code))
    assertPage(await openLink(agent, token), 410)
    assertPage(await pressLink(newAgent(), token), 410)
  })

  test('is typed with spaces and hyphens, and in another width', async () => {
    const { agent, code } = await withCode()
    const wide = [...code].map((digit) => String.fromCodePoint(0xff10 + Number(digit))).join('')
    assertRedirect(await typeCode(agent, ` ${wide.slice(0, 4)} - ${wide.slice(4)} `), '/')
  })

  test('is nothing in another browser, which has asked for nothing or for another code', async () => {
    const { agent, person, code } = await withCode()
    const stranger = newAgent()
    assertPage(await typeCode(stranger, code), 401)
    await ask(stranger, person.email)
    assertWrong(await typeCode(stranger, code))
    assertWrong(await typeCode(stranger, code, { email: person.email }))
    await assertSignedOut(stranger)
    assertRedirect(await typeCode(agent, code), '/')
  })

  test('is good for its address: two tabs of one browser ask for two', async () => {
    const [one, other] = [await newUser(), await newUser()]
    const agent = newAgent()
    const [first, second] = [await asked(agent, one.email), await asked(agent, other.email)]
    assertWrong(await typeCode(agent, first.code, { email: other.email }))
    assertRedirect(await typeCode(agent, first.code, { email: one.email }), '/')
    assert.equal((await currentUser(agent)).email, one.email)
    assertRedirect(await typeCode(agent, second.code), '/')
    assert.equal((await currentUser(agent)).email, other.email)
  })

  test('has five tries, counted before the comparison; its link has none, and another code begins again', async () => {
    const { person, agent, code, token } = await withCode()
    for (let tries = 1; tries <= 5; tries += 1) assertWrong(await typeCode(agent, WRONG))
    for (const refused of [await typeCode(agent, code), await typeCode(agent, WRONG)]) {
      assertPage(refused, 429)
      assert.ok(Number(refused.headers['retry-after']) > 0)
      assert.match(refused.text, /Open the link in our email/)
    }
    assertPage(await openLink(agent, token))
    const again = await asked(agent, person.email)
    assertWrong(await typeCode(agent, code))
    assertRedirect(await typeCode(agent, again.code), '/')
    assertRedirect(await pressLink(newAgent(), token), '/')
  })

  test('an empty field is no try, and names the field', async () => {
    const { agent, code } = await withCode()
    for (let tries = 1; tries <= 7; tries += 1) assertPage(await typeCode(agent, ' - '), 422)
    assertRedirect(await typeCode(agent, code), '/')
  })

  test('200 at once are five tries, and one sign-in at most', async () => {
    for (const right of [3, 200]) {
      const { agent, code } = await withCode()
      const sessions = () =>
        database.rows(`SELECT id FROM audit_events WHERE type = 'login.succeeded' AND details LIKE '%email_code%'`)
      const before = (await sessions()).length
      const codes = Array.from({ length: 200 }, (_, at) => (at < right ? code : WRONG))
      const answers = await Promise.all(codes.map((typed) => agent.copy().post(CODE, { code: typed })))
      const count = (status: number) => answers.filter((answer) => answer.status === status).length
      assert.deepEqual([count(303) <= 1, count(401) <= 5, count(303) + count(401) + count(429)], [true, true, 200])
      assert.equal((await sessions()).length - before, count(303))
      if (right === 200) assert.equal(count(303), 1)
    }
  })

  test('a newer request ends no older one; three are open, and a fourth ends the oldest', async () => {
    const person = await newUser()
    const agent = newAgent()
    const made = []
    for (let count = 1; count <= 4; count += 1) made.push(await asked(agent, person.email))
    const [first, second, , fourth] = made
    assertPage(await openLink(agent, first?.token ?? ''), 410)
    assertWrong(await typeCode(agent, first?.code ?? ''))
    assertPage(await openLink(agent, second?.token ?? ''))
    assertRedirect(await typeCode(agent, second?.code ?? ''), '/')
    assertRedirect(await typeCode(agent, fourth?.code ?? ''), '/')
  })

  test('the database and the outbox hold neither it nor its token', async () => {
    const { code, token } = await withCode()
    const contents = await database.contents()
    for (const text of [code, token, Buffer.from(code).toString('base64'), Buffer.from(token).toString('base64')])
      assert.ok(!contents.includes(text))
  })

  test('the log holds neither it nor the address', async () => {
    const { person, agent, code, token } = await withCode()
    await typeCode(agent, WRONG)
    await openLink(newAgent(), token)
    await typeCode(agent, code)
    for (const text of [code, token, person.email]) assert.ok(!service.logs().includes(text))
  })
})

describe('§4.21 a link', () => {
  test('signs in where it is pressed, and never in the browser that asked', async () => {
    const { person, agent, code, token } = await withCode({ return_to: '/kept' })
    const other = newAgent()
    const shown = await openLink(other, token)
    assertPage(shown)
    assert.match(shown.text, /You asked for this on another device\. Log in here instead\?/)
    assert.ok(
      shown.text.indexOf(person.email) < shown.text.indexOf('<button class="svc-button first"'),
      'above the button',
    )
    assert.equal(shown.headers['referrer-policy'], 'strict-origin')
    assertRedirect(await pressLink(other, token), '/')
    await assertSignedIn(other)
    await assertSignedOut(agent)
    assertWrong(await typeCode(agent, code))
  })

  test('has one button in the browser that asked, and keeps the address to go to', async () => {
    const { agent, token } = await withCode({ return_to: '/kept' })
    const { text } = await openLink(agent, token)
    assert.doesNotMatch(text, /another device/)
    assert.match(text, /<button class="svc-button first">Log in<\/button>/)
    assertRedirect(await pressLink(agent, token), '/kept')
    assert.deepEqual(claimsOf(accessToken(agent)).amr, ['otp'])
  })

  test('is not used up by a scanner that opens it first, with GET and HEAD, and signs no scanner in', async () => {
    const { agent, token, code } = await withCode()
    for (let count = 0; count < 5; count += 1) {
      const scanner = newAgent()
      assertPage(await openLink(scanner, token))
      assert.equal((await scanner.send({ method: 'HEAD', path: `${LINK}?token=${token}` })).status, 200)
      await assertSignedOut(scanner)
    }
    assertRedirect(await typeCode(agent, code), '/')
  })

  test('names the account that is logged out, and leaves it alone until the button is pressed', async () => {
    const { token } = await withCode()
    const { agent: victim, person } = await signedUp(service)
    assert.match((await openLink(victim, token)).text, new RegExp(`logs you out of <b>${person.email}`))
    assert.equal((await currentUser(victim)).email, person.email)
  })

  test('is sent by no other site, and not without the token of the page', async () => {
    const { token } = await withCode()
    const victim = newAgent()
    assertPage(await pressLink(victim, token, { csrf_token: 'y'.repeat(43) }), 403)
    const crossSite = { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' }
    assertErrorPage(await victim.post(LINK, { token }, crossSite), 403)
    await assertSignedOut(victim)
    assertRedirect(await pressLink(victim, token), '/')
  })

  test('without a token, with two, with another, and of another purpose: 400 and 410', async () => {
    const agent = newAgent()
    assertErrorPage(await agent.get(LINK), 400)
    assertErrorPage(await agent.get(`${LINK}?token=a&token=b`), 400)
    assertPage(await openLink(agent, 'x'.repeat(43)), 410)
    const person = await newUser()
    assertPage(await openLink(agent, await resetTokenOf(service, person.email)), 410)
    const { token } = await asked(agent, person.email)
    assertPage(await agent.get(`/auth/password/reset?token=${token}`), 410)
    assertPage(await agent.get(`/auth/invite?token=${token}`), 410)
  })
})

describe('§4.21 an account that changes before the code is typed', () => {
  const changes: Record<string, (id: string) => Promise<unknown>> = {
    'a password that an operator sets': (id) => core.users.setPassword(id, 'another good password 1'),
    'a disabled account': (id) => core.users.change(id, { disabled: true }),
    'another address': (id) => core.users.setEmail(id, newPerson().email, {}),
    'a deleted account': (id) => core.users.delete(id),
  }
  for (const [what, change] of Object.entries(changes))
    test(`${what} ends code and link`, async () => {
      const { person, agent, code, token } = await withCode()
      await change(person.id)
      const answer = await typeCode(agent, code)
      assertPage(answer, 401)
      assertPage(await pressLink(agent, token), 410)
      await assertSignedOut(agent)
    })

  test('the message is not sent to an account that was disabled while it waited', async () => {
    const person = await newUser()
    await core.users.change(person.id, { disabled: true })
    const agent = newAgent()
    await ask(agent, person.email)
    const { mail } = await asked(newAgent(), (await newUser()).email)
    assert.ok(mail, 'a later one has come')
    assert.ok(!smtp.mails.some(({ to, subject }) => to === person.email && /login code/.test(subject)))
  })
})

describe('§4.21 the pages', () => {
  test('the code page comes back to the browser that asked; elsewhere one asks first', async () => {
    const { person, agent } = await withCode({ return_to: '/kept' })
    const shown = await agent.get(CODE)
    assertPage(shown)
    assert.match(shown.text, new RegExp(`If <b>${person.email}</b> can log in here, a code is on its way`))
    assert.match(shown.text, /name="code" type="text" autocomplete="one-time-code"[^>]*inputmode="numeric"/)
    assertRedirect(await newAgent().get(CODE), ASK)
  })

  test('a user who is signed in goes on, as from the login page', async () => {
    const { agent, code } = await withCode()
    await typeCode(agent, code)
    assertRedirect(await agent.get(`${ASK}?return_to=%2Fon`), '/on')
    assertRedirect(await agent.get(`${CODE}?return_to=%2Fon`), '/on')
  })

  test('an address that is none is 422, and a bad return_to 400', async () => {
    const agent = newAgent()
    for (const email of ['', 'ada', 'ada@', 'ada@example']) assertPage(await agent.post(ASK, { email }), 422)
    assertErrorPage(await agent.post(ASK, { email: newPerson().email, return_to: '//evil.example' }), 400)
    assertErrorPage(await agent.get(`${ASK}?return_to=https%3A%2F%2Fevil.example`), 400)
    assert.match((await agent.get(`${ASK}?email=ada%40example.com`)).text, /value="ada@example.com"/)
  })

  test('the login page has a second button, which sends the address that was typed', async () => {
    const { text } = await newAgent().get('/auth/login')
    assert.match(text, /<button class="svc-button second" formaction="\/auth\/login\/email">Email me a code<\/button>/)
  })
})
