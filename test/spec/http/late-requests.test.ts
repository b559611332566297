// Runs on SQLite.
import assert from 'node:assert/strict'
import diagnostics from 'node:diagnostics_channel'
import type { Server } from 'node:http'
import { test } from 'node:test'
import { connectRaw } from '../../support/network/raw-connection.ts'
import { startService } from '../../support/service/service.ts'

const service = await startService()

const PART_OF_HEADERS = 'GET /auth/health HTTP/1.1\r\nHost: localhost\r\nX-Slow: '
const PART_OF_BODY =
  'POST /auth/login HTTP/1.1\r\nHost: localhost\r\n' +
  'Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 100\r\n\r\nemail='
const WHOLE = 'GET /auth/health HTTP/1.1\r\nHost: localhost\r\n\r\n'

/** Shortens the time that requests have to arrive, which is 10 and 20 seconds, and looks whether it was that. */
const hurry = async (): Promise<void> => {
  const { promise, resolve } = Promise.withResolvers<Server>()
  const take = (message: unknown): void => resolve((message as { server: Server }).server)
  diagnostics.subscribe('http.server.request.start', take)
  await fetchHealth()
  diagnostics.unsubscribe('http.server.request.start', take)
  const server = await promise
  assert.deepEqual([server.headersTimeout, server.requestTimeout], [10_000, 20_000])
  Object.assign(server, { headersTimeout: 200, requestTimeout: 300 })
}

const fetchHealth = async (): Promise<void> => {
  assert.equal((await fetch(`http://127.0.0.1:${service.port}/auth/health`)).status, 200)
}

await hurry()

const refusals = (): unknown[] => service.logLines().filter(({ status }) => status === 408)

for (const [what, bytes] of Object.entries({ head: PART_OF_HEADERS, body: PART_OF_BODY })) {
  test(`a request whose ${what} does not come to an end gets 408, and its connection ends`, async (t) => {
    const connection = await connectRaw(service, t)
    connection.write(bytes)
    const answer = await connection.answer()
    assert.match(answer, /^HTTP\/1\.1 408 [^]*"code":"request_timeout"[^]*\}$/)
    assert.equal(answer.match(/HTTP\/1\.1/g)?.length, 1)
  })
}

test('a connection that brings nothing is closed without a response and without a line in the log', async (t) => {
  const before = refusals().length
  const connection = await connectRaw(service, t)
  assert.equal(await connection.answer(), '')
  assert.equal(refusals().length, before)
})

test('a connection that has brought a request is not late with the next one', async (t) => {
  const [kept, late] = [await connectRaw(service, t), await connectRaw(service, t)]
  kept.write(WHOLE)
  late.write(PART_OF_HEADERS)
  assert.match(await late.answer(), /^HTTP\/1\.1 408 /)
  kept.write(WHOLE)
  const answer = await kept.answer(/"ok"[^]*"ok"/)
  assert.equal(answer.match(/HTTP\/1\.1 200 /g)?.length, 2)
})

test('hundreds of late requests at once are refused one by one while others are answered', async (t) => {
  const crowd = await Promise.all(Array.from({ length: 300 }, () => connectRaw(service, t)))
  const before = refusals().length
  for (const connection of crowd) connection.write(PART_OF_HEADERS)
  const answers = Promise.all(crowd.map(async (connection) => connection.answer()))
  let between = 0
  for (let refused = 0; refused < crowd.length; ) {
    await fetchHealth()
    refused = refusals().length - before
    if (refused > 0 && refused < crowd.length) between += 1
  }
  assert.equal(refusals().length - before, crowd.length)
  for (const answer of await answers) assert.match(answer, /^HTTP\/1\.1 408 [^]*\}$/)
  assert.ok(between > 0, 'no request was answered between two refusals')
})
