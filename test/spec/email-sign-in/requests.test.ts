// Runs on SQLite and PostgreSQL.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { loggedIn, logOut, newPerson } from '../../support/client/accounts.ts'
import { assertPage, assertRedirect } from '../../support/client/assertions.ts'
import { createUserAgent, type UserAgent } from '../../support/client/user-agent.ts'
import { ask, ASK, CODE, startSignInByMail, typeCode, WRONG } from '../../support/recovery/sign-in-by-mail.ts'
import { eventually } from '../../support/wait.ts'

const { service, database, smtp, asked, newUser, signInMails } = await startSignInByMail({
  env: { SVC_RATE_LIMIT: 'on', SVC_SIGNUP: 'providers' },
})

let networks = 0

/** A browser in a network of its own, which is Firefox on Windows. */
const newAgent = (address = `198.51.${Math.floor(++networks / 250)}.${networks % 250}`): UserAgent =>
  createUserAgent({
    url: service.url,
    headers: {
      'x-forwarded-for': address,
      'user-agent': 'Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:140.0) Gecko/20100101 Firefox/140.0',
    },
  })

/** Waits until every request so far was looked up: then one that was made later is. */
const settled = async (): Promise<void> => {
  await eventually('all requests are looked up', async () => {
    const [row] = await database.rows(
      `SELECT COUNT(*) AS count FROM mail_messages WHERE state IN ('requested', 'waiting')`,
    )
    return Number(row?.count) === 0
  })
}

describe('§4.21 how many messages', () => {
  test('five an hour to an address, from wherever they are asked for; the page says the same', async () => {
    const { email } = await newUser()
    const pages = new Set<string>()
    for (let count = 1; count <= 7; count += 1) pages.add(blank(await ask(newAgent(), email)))
    await settled()
    assert.equal(signInMails(email).length, 5)
    assert.equal(pages.size, 1)
  })

  test('a browser that the account knows has a count of its own: strangers keep no user out', async () => {
    const user = await newUser()
    const known = await loggedIn(service, user)
    await logOut(known)
    for (let count = 1; count <= 7; count += 1) await ask(newAgent(), user.email)
    await settled()
    const mine = await asked(known, user.email)
    for (let count = 1; count <= 4; count += 1) await ask(newAgent(), user.email)
    await settled()
    assertRedirect(await typeCode(known, mine.code), '/')
  })

  test('twenty an hour from a network', async () => {
    const agent = newAgent('203.0.113.99')
    const users = []
    for (let count = 1; count <= 22; count += 1) users.push(await newUser())
    for (const { email } of users) await ask(agent, email)
    await settled()
    assert.equal(users.filter(({ email }) => signInMails(email).length === 1).length, 20)
  })

  test('none to an address without an account, where signup does not make one', async () => {
    const { email } = newPerson()
    await ask(newAgent(), email)
    await settled()
    assert.ok(!smtp.mails.some(({ to }) => to === email))
    assert.deepEqual(await database.rows('SELECT id FROM mail_messages WHERE recipient = ?', email), [])
  })
})

/** A page without what differs by chance, or was typed. */
const blank = ({ text }: { text: string }): string =>
  text
    .replaceAll(/[\w-]{43}/g, 'TOKEN')
    .replaceAll(/[\w.+-]+@example\.com/g, 'EMAIL')
    .replaceAll(/[\w-]{20,}/g, 'ID')

describe('§4.21 what a stranger can find out', () => {
  test('nothing: bytes, statuses, tries and limits are those of an address without an account', async () => {
    const { email: known } = await newUser()
    const { email: unknown } = newPerson()
    const seen = []
    for (const email of [known, unknown]) {
      const agent = newAgent()
      const answers = [await agent.post(ASK, { email })]
      await settled()
      for (let tries = 1; tries <= 7; tries += 1) answers.push(await typeCode(agent, WRONG))
      answers.push(await agent.get(CODE), await agent.post(CODE, { code: '' }))
      seen.push(answers.map((answer) => [answer.status, answer.headers['retry-after'] !== undefined, blank(answer)]))
    }
    assert.deepEqual(seen[0], seen[1])
    assert.deepEqual(
      seen[0]?.map(([status]) => status),
      [200, 401, 401, 401, 401, 401, 429, 429, 200, 422],
    )
  })

  test('nor does an account that was disabled, or has used its link since, show to the browser that asked', async () => {
    const { email } = await newUser()
    const agent = newAgent()
    const { token } = await asked(agent, email)
    assertRedirect(await newAgent().post('/auth/login/email/link', { token }), '/')
    const page = await agent.get(CODE)
    assertPage(page)
    for (let tries = 1; tries <= 5; tries += 1) assertPage(await typeCode(agent, WRONG), 401)
    assertPage(await typeCode(agent, WRONG), 429)
  })
})

describe('§4.21 the message', () => {
  test('names the browser and the network of the request, behind a proxy too, and where the code belongs', async () => {
    const { email } = await newUser()
    const { mail } = await asked(newAgent('203.0.113.7'), email)
    assert.match(mail.text, /^Device: Firefox on Windows$/m)
    assert.match(mail.text, /^Network: 203\.0\.113\.7$/m)
    assert.match(mail.text, new RegExp(`Type it only at ${service.url} `))
    const { mail: other } = await asked(newAgent('2001:db8:1:2:3:4:5:6'), (await newUser()).email)
    assert.match(other.text, /^Network: 2001:db8:1:2::\/64$/m)
  })
})

const recordsOf = async (userId: string) =>
  (await database.rows('SELECT type, details, address FROM audit_events WHERE user_id = ? ORDER BY id', userId)).map(
    ({ type, details, address }) => ({ type, address, ...JSON.parse(String(details)) }),
  )

describe('§4.21 the records', () => {
  test('of a request, wrong codes, the limit, and the sign-in with its way', async () => {
    const { id, email } = await newUser()
    const agent = newAgent('203.0.113.8')
    await asked(agent, email)
    for (let tries = 1; tries <= 6; tries += 1) await typeCode(agent, WRONG)
    const { code } = await asked(agent, email)
    await typeCode(agent, code)
    await eventually('the counts are written', async () => (await recordsOf(id)).length >= 5)
    const records = (await recordsOf(id)).toSorted((one, other) => (one.type < other.type ? -1 : 1))
    const address = '203.0.113.8'
    assert.deepEqual(
      records.filter(({ type }) => type !== 'user.created' && type !== 'signup'),
      [
        { type: 'login.email_requested', address, count: 2 },
        { type: 'login.failed', address, count: 5, method: 'email_code', reason: 'mail_code_wrong' },
        { type: 'login.limited', address, count: 1, method: 'email_code', limit: 'mail_codes_limited' },
        { type: 'login.succeeded', address, method: 'email_code' },
      ],
    )
  })
})
