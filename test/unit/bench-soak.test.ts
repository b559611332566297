// Runs once.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import { test } from 'node:test'
import { growth, type Sample, toTable } from '../../bench/soak/samples.ts'
import { createVisitor } from '../../bench/soak/visits.ts'
import { constantClient } from '../../bench/support/users.ts'
import { pace } from '../../bench/support/pace.ts'
import { storm } from '../../bench/overload/storm.ts'

const KINDS = { 'GET /user': 1, refresh: 2, login: 30, others: 4 }

const createSample = (residentMb: number): Sample => ({
  requests: 1000,
  seconds: 30,
  residentMb,
  descriptors: 40,
  walMb: 4,
  databaseMb: 2,
  p50: KINDS,
  p99: KINDS,
})

const samples = (count: number): Sample[] => Array.from({ length: count }, (_, at) => createSample(100 + at))

test('a soak has a line for each tenth of its time, and fewer while it has fewer samples', () => {
  const { header, lines } = toTable(samples(120))
  assert.deepEqual(
    lines.map(([until, requests]) => [until, requests]),
    ['0 h 6 min', '0 h 12 min', '0 h 18 min', '0 h 24 min', '0 h 30 min', '0 h 36 min', '0 h 42 min', '0 h 48 min']
      .concat(['0 h 54 min', '1 h 0 min'])
      .map((until) => [until, '12,000']),
  )
  assert.ok(lines.every(({ length }) => length === header.length))
  assert.equal(lines[0]?.[2], '105.5 MB')
  assert.equal(toTable(samples(3)).lines.length, 3)
  assert.deepEqual(toTable([]).lines, [])
})

test('growth compares the last quarter with the second', () => {
  assert.equal(
    growth(samples(4), () => 7),
    1,
  )
  assert.equal(
    growth(samples(400), ({ residentMb }) => residentMb),
    449.5 / 249.5,
  )
})

/** Answers every request with the next of the responses, and hangs up where there is none. */
const startAnswering = async (responses: string[]) => {
  const server = createServer((socket) => {
    socket.on('data', () => {
      const response = responses.shift()
      if (response === undefined) socket.destroy()
      else socket.write(response)
    })
    socket.on('error', () => {})
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return { port: (server.address() as AddressInfo).port, [Symbol.dispose]: () => void server.close() }
}

const response = (status: number, headers = ''): string =>
  `HTTP/1.1 ${status} OK\r\n${headers}Content-Length: 0\r\n\r\n`

test('a lost connection is a failure, and the load goes on', async () => {
  using server = await startAnswering([response(200), response(500), response(200)])
  const latenciesMs: number[] = []
  const failures: string[] = []
  const options = {
    port: server.port,
    clients: [constantClient('GET / HTTP/1.1\r\n\r\n')],
    ratePerS: 100,
    durationMs: 100,
    onLatency: (latencyMs: number) => void latenciesMs.push(latencyMs),
    onFailure: (message: string) => void failures.push(message),
  }
  while (failures.length < 3) await pace(options)
  assert.equal(latenciesMs.length, 2)
  assert.match(failures[0] ?? '', /^expected 200, got 500/)
  assert.deepEqual([...new Set(failures.slice(1))], ['the server closed the connection'])
})

const login = () => 'POST / HTTP/1.1\r\n\r\n'

test('a storm counts what is served, times what is refused, and takes anything else for an error', async () => {
  const options = { clients: 1, durationMs: 1000, login }
  using server = await startAnswering([response(303), response(303), response(503, 'Retry-After: 60\r\n')])
  const { servedPerS, refusedMs } = await storm({ ...options, port: server.port })
  assert.deepEqual([servedPerS, refusedMs.length], [2, 1])
  using failing = await startAnswering([response(500)])
  await assert.rejects(storm({ ...options, port: failing.port }), /^Error: 1 logins failed; the first: 500/)
})

test('a visitor whose request failed begins again, and gives the account back', () => {
  const accounts = [{ email: 'user@example.com', cookies: new Map([['svc_access', 'x']]) }]
  const visitor = createVisitor(accounts)
  for (let visit = 0; visit < 100; visit++) {
    assert.match(visitor.request().toString(), /^GET \/auth\/(?:login|signup)[^]*\r\nX-Forwarded-For: 10\./)
    visitor.onUnexpected?.()
  }
})
