// Runs on SQLite and PostgreSQL.
import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import { currentUser, type Person, logIn, newAgent, newPerson, signedUp } from '../../support/client/accounts.ts'
import { assertPage } from '../../support/client/assertions.ts'
import { createBackend } from '../../support/client/backend.ts'
import { urlEncoded } from '../../support/client/user-agent.ts'
import { openDatabase } from '../../support/database/database.ts'
import { connectRaw } from '../../support/network/raw-connection.ts'
import { startService } from '../../support/service/service.ts'

interface Event {
  type: string
  user_id: string | null
  address: string | null
  user_agent: string | null
  request_id: string
  details: { account?: string; limit?: string; reason?: string; count?: number }
}

const service = await startService({ env: { SVC_RATE_LIMIT: 'on' } })
const unlimited = await startService({ env: { SVC_RATE_LIMIT: 'off' } })
const database = await openDatabase(service)
const backend = await createBackend(service, ['audit:read', 'users:write'])
const unlimitedBackend = await createBackend(unlimited, ['audit:read'])

const eventsOf = async (query: string, of = backend): Promise<Event[]> => {
  const answer = await of.call('GET', `/audit?${query}`)
  assert.equal(answer.status, 200, answer.text)
  return answer.json<{ events: Event[] }>().events
}

let networks = 0
const newNetwork = (): string => `198.51.100.${++networks}`

const guess = (email: string, from: string, at = service) =>
  logIn(newAgent({ url: at.url, headers: { 'x-forwarded-for': from } }), { ...newPerson(), email })

/** Uses up the tries of a network, for so few accounts that each has a record of its own. */
const useUp = async (from: string): Promise<void> => {
  const emails = Array.from({ length: 10 }, () => newPerson().email)
  const answers = await Promise.all(emails.flatMap((email) => Array.from({ length: 10 }, () => guess(email, from))))
  assert.ok(answers.every(({ status }) => status === 401))
}

const NO_EMAILS = ['x\0@y', '\0', 'ada@example.com\0', 'é@example.com', '\u{1f600}', '\x1b[2J', 'x'.repeat(10_000)]

describe('what is entered for an email, and is none', () => {
  test('is a wrong login, and past the limit of a network a refused one; all of it is recorded', async () => {
    const [from, full] = [newNetwork(), newNetwork()]
    for (const email of NO_EMAILS) assertPage(await guess(email, from), 401)
    await useUp(full)
    for (const email of [newPerson().email, ...NO_EMAILS]) assertPage(await guess(email, full), 429)
    const { person, agent } = await signedUp(service)
    const { id } = await currentUser(agent)
    assertPage(await guess(person.email, from), 401)
    const [failed] = await eventsOf(`user_id=${id}&type=login.failed`)
    assert.equal(failed?.address, from)
    const limited = (await eventsOf('type=login.limited')).filter(({ address }) => address === full)
    assert.equal(limited.length, NO_EMAILS.length + 1)
    assert.ok(limited.every(({ details }) => /^[0-9a-f]{16}$/.test(details.account ?? '')))
    assert.ok(limited.every(({ details }) => details.limit === 'login_of_address'))
    const rows = await database.rows('SELECT details FROM audit_events UNION ALL SELECT id FROM counters')
    assert.doesNotMatch(JSON.stringify(rows), /x@y|\\\\u0000|ada@|é@|xxxxxx/)
  })

  test('is a wrong login without limits, too, and others are recorded after it', async () => {
    const from = newNetwork()
    for (const email of [...NO_EMAILS, newPerson().email]) assertPage(await guess(email, from, unlimited), 401)
    const failed = (await eventsOf('type=login.failed', unlimitedBackend)).filter(({ address }) => address === from)
    assert.equal(failed.length, NO_EMAILS.length + 1)
  })
})

/** Sends a request as these bytes; resolves to the status and the id of the request. */
const sendRaw = async (t: TestContext, head: string[], body = '') => {
  const connection = await connectRaw(service, t)
  const { host } = new URL(service.url)
  const lines = [...head, `Host: ${host}`, 'Connection: close', `Content-Length: ${body.length}`]
  connection.write(`${lines.join('\r\n')}\r\n\r\n${body}`)
  const answer = await connection.answer()
  return {
    status: Number(/^HTTP\/1\.1 (\d{3}) /.exec(answer)?.[1]),
    requestId: /^x-request-id: (\w+)\r$/im.exec(answer)?.[1] ?? assert.fail(answer),
  }
}

const logInRaw = (t: TestContext, { email, password }: Person, headers: string[]) => {
  const csrf = 'x'.repeat(43)
  const type = ['Content-Type: application/x-www-form-urlencoded', `Cookie: svc_csrf=${csrf}`]
  const body = urlEncoded({ email, password, csrf_token: csrf })
  return sendRaw(t, ['POST /auth/login HTTP/1.1', ...type, ...headers], body)
}

/** Headers of which something gets into a record, as bytes. */
const headersWith = (bytes: string): string[] => [
  `User-Agent: a${bytes}b`,
  `X-Forwarded-For: ${bytes}, fe80::1%${bytes}, [::1%${bytes}]:1`,
  `X-Request-Id: ${bytes}`,
  `X-Real-IP: ${bytes}`,
]

const READ: [what: string, bytes: string][] = [
  ['every byte above 0x7f', Array.from({ length: 128 }, (_, index) => String.fromCharCode(128 + index)).join('')],
  ['a lone surrogate', '\xed\xa0\x80'],
  ['half of a pair at the end of what is kept', `${'x'.repeat(252)}\xed\xb0\x80\xed\xa0\xbd`],
  ['a NUL in two bytes', '\xc0\x80'],
  ['an escaped NUL', '\\u0000%00&#0;'],
  ['a tab', '\t'],
]

/** What of the control characters HTTP leaves to the server to refuse or to read (RFC 9110 section 5.5). */
const CONTROLS = Array.from({ length: 32 }, (_, index) => String.fromCharCode(index))
  .concat('\x7f')
  .filter((it) => !'\t\r\n'.includes(it))

describe('records of requests whose headers have', () => {
  for (const [what, bytes] of READ) {
    test(`${what}: a login and a deletion go on, and are recorded`, async (t) => {
      const { person, agent } = await signedUp(service)
      const { id } = await currentUser(agent)
      const headers = headersWith(bytes)
      const wrong = await logInRaw(t, { ...person, password: 'wrong' }, headers)
      const right = await logInRaw(t, person, headers)
      assert.deepEqual([wrong.status, right.status], [401, 303])
      const events = await eventsOf(`user_id=${id}`)
      for (const { requestId } of [wrong, right]) {
        const event = events.find((it) => it.request_id === requestId) ?? assert.fail(JSON.stringify(events))
        assert.match(event.user_agent ?? '', /^a[\x20-\x7e\xa0-\xff]+$/)
        assert.match(event.address ?? '', /^[0-9a-f.:]+$/)
      }
      const deleted = await sendRaw(t, [
        `DELETE /auth/api/v2/users/${id} HTTP/1.1`,
        `Authorization: Bearer ${backend.key}`,
        ...headers,
      ])
      assert.equal(deleted.status, 204)
      assert.equal((await eventsOf(`user_id=${id}&type=user.deleted`)).length, 1)
    })
  }

  test('a control character: the request is refused as unreadable, or done and recorded', async (t) => {
    const { person, agent } = await signedUp(service)
    const { id } = await currentUser(agent)
    const answers = await Promise.all(CONTROLS.map((control) => logInRaw(t, person, [`User-Agent: a${control}b`])))
    const done = answers.filter(({ status }) => status === 303)
    assert.ok(answers.every(({ status }) => [303, 400].includes(status)))
    assert.equal(answers[0]?.status, 400, 'a NUL')
    const events = await eventsOf(`user_id=${id}&type=login.succeeded`)
    for (const { requestId } of done) assert.equal(events.find((it) => it.request_id === requestId)?.user_agent, 'a?b')
  })
})

test('no control character of a request gets to a terminal, neither in JSON nor in the log', async (t) => {
  const { person } = await signedUp(service)
  const controls = Array.from({ length: 33 }, (_, index) => String.fromCharCode(0x7f + index)).join('')
  const origin = `Origin: http://a${controls.slice(1)}b`
  const refused = await logInRaw(t, person, [origin])
  const { status } = await logInRaw(t, person, [`User-Agent: a${controls.slice(1)}\xadb`])
  assert.deepEqual([refused.status, status], [403, 303])
  const printed = await Promise.all(
    [
      ['sessions', 'list', person.email, '--json'],
      ['sessions', 'list', person.email],
      ['audit', 'list', '--user', person.email, '--json'],
      ['audit', 'export', '--user', person.email],
    ].map(async (args) => (await service.cli(args)).stdout),
  )
  const sessions = JSON.parse(printed[0] ?? '') as { user_agent: string }[]
  assert.ok(sessions.some(({ user_agent }) => user_agent.includes('\x9b') && user_agent.includes('\xad')))
  assert.ok(service.logs().includes('http://a\\u0080'))
  for (const text of [...printed, service.logs()])
    assert.doesNotMatch(text.replaceAll('\n', ''), /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u)
})
