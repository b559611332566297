// Runs on SQLite.
import assert from 'node:assert/strict'
import { type TestContext, describe, test } from 'node:test'
import { newPerson, signedUp } from '../../support/client/accounts.ts'
import { assertPage } from '../../support/client/assertions.ts'
import { createUserAgent } from '../../support/client/user-agent.ts'
import { connectRaw } from '../../support/network/raw-connection.ts'
import { loggedLine } from '../../support/service/request-log.ts'
import { startService } from '../../support/service/service.ts'

const service = await startService()

/** Sends unchanged bytes, and parses the response. */
const exchange = async (t: TestContext, request: string) => {
  const connection = await connectRaw(service, t)
  connection.write(request)
  const [head = '', body = ''] = (await connection.answer(/\r\n\r\n.+$/s)).split('\r\n\r\n')
  return { head, body, requestId: /^X-Request-Id: (.+)$/im.exec(head)?.[1]?.trim() ?? '' }
}

const unusual = [
  ['HTTP/1.1 without Host', 'GET /auth/login HTTP/1.1\r\nConnection: close\r\n\r\n', 400],
  ['an Expect that nobody knows', 'GET /auth/login HTTP/1.1\r\nHost: localhost\r\nExpect: foo\r\n\r\n', 417],
  ['what is no HTTP', 'GET the login page\r\n\r\n', 400],
  ['a method that nobody knows', 'FETCH /auth/login HTTP/1.1\r\nHost: localhost\r\n\r\n', 405],
  ['a header that is none', 'GET /auth/login HTTP/1.1\r\nHost: localhost\r\n\u0001: x\r\n\r\n', 400],
] as const

describe('§7 unreadable requests', () => {
  for (const [what, request, status] of unusual) {
    test(`${what} is ${status}, with an X-Request-Id that is in the log`, async (t) => {
      const { head, requestId } = await exchange(t, request)
      assert.match(head, new RegExp(`^HTTP/1\\.1 ${status} `))
      assert.ok(requestId.length >= 8, head)
      const line = await loggedLine(service, ({ request_id }) => request_id === requestId)
      assert.equal(line.status, status)
    })
  }

  test('HTTP/1.1 without Host gets a JSON error that says so', async (t) => {
    const { head, body, requestId } = await exchange(t, 'GET /auth/api/v1/user HTTP/1.1\r\nConnection: close\r\n\r\n')
    assert.match(head, /^HTTP\/1\.1 400 /)
    assert.match(head, /^Content-Type: application\/json/im)
    assert.match(body, /"code":"invalid_request"/)
    assert.ok(body.includes(requestId), body)
  })

  test('all invalid fields of a signup form are marked at once', async () => {
    const { agent } = await signedUp(service)
    for (const visitor of [createUserAgent(service), agent]) {
      const wrong = { email: 'no address', username: 'no name!', password: 'short' }
      const answer = await visitor.post('/auth/signup', wrong)
      assertPage(answer, 422)
      const marked = answer.text.match(/<input [^>]*aria-invalid="true"/g) ?? []
      const names = marked.map((input) => /name="(\w+)"/.exec(input)?.[1])
      assert.deepEqual(new Set(names), new Set(['email', 'username', 'password']))
    }
    assert.equal((await createUserAgent(service).post('/auth/signup', newPerson())).status, 303)
  })
})
