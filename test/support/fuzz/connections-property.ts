import assert from 'node:assert/strict'
import fc from 'fast-check'
import type { Request } from '../client/user-agent.ts'
import { toRequest } from './filled-in.ts'
import { type FuzzRequest, fuzzRequest } from './request.ts'
import { exchangeBytes, readResponses, toBytes, type WireResponse, type Writing, writing } from './wire.ts'
import type { FuzzWorld } from './world.ts'

/** A byte of the request that is not as it should be. */
type Damage = { at: number; change: 'replaced' | 'removed' | 'repeated'; byte: number }

interface Connection {
  requests: [FuzzRequest, Writing][]
  sizes: number[]
  damage: Damage[]
}

const damage: fc.Arbitrary<Damage> = fc.record({
  at: fc.nat(2000),
  change: fc.constantFrom('replaced', 'removed', 'repeated'),
  byte: fc.oneof(fc.constantFrom(...Buffer.from('\r\n\0 \t:;,/=0159\xff', 'latin1')), fc.nat(255)),
})

const applyDamage = (bytes: Buffer, all: readonly Damage[]): Buffer => {
  let result = bytes
  for (const { at, change, byte } of all) {
    const index = at % result.length
    const put = change === 'removed' ? [] : change === 'replaced' ? [byte] : [result[index] ?? 0, byte]
    result = Buffer.concat([result.subarray(0, index), Buffer.from(put), result.subarray(index + 1)])
  }
  return result
}

const connection = (request: fc.Arbitrary<FuzzRequest>): fc.Arbitrary<Connection> =>
  fc.record({
    requests: fc.array(fc.tuple(request, writing), { minLength: 1, maxLength: 6 }),
    sizes: fc.oneof(
      fc.constant<number[]>([]),
      fc.array(fc.integer({ min: 1, max: 3000 }), { minLength: 1, maxLength: 5 }),
    ),
    damage: fc.oneof(
      { weight: 3, arbitrary: fc.constant<Damage[]>([]) },
      { weight: 2, arbitrary: fc.array(damage, { minLength: 1, maxLength: 3 }) },
    ),
  })

const last = 'GET /auth/health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n'

const judge = (responses: WireResponse[], requests: readonly Request[], isDamaged: boolean): void => {
  for (const { status, headers } of responses) {
    assert.ok(status < 500, `${status}`)
    assert.match(headers.get('x-request-id') ?? '', /^[0-9a-f]{20}$/, `${status} without its id`)
  }
  const closing = responses.findIndex(({ headers }) => headers.get('connection') === 'close')
  const isLast = closing === responses.length - 1
  assert.ok(isLast || (isDamaged && closing < 0), 'the last response closes the connection, and no other one')
  if (isDamaged) return
  assert.ok(responses.length <= requests.length, `${responses.length} responses to ${requests.length} requests`)
  const last = responses.at(-1)
  // A refusal may close the connection, and so does the check for proxies where a body is announced.
  const mayClose = last !== undefined && last.status >= 400
  // Where its client sends the body all the same, that may reset the connection before the response was read.
  const around = requests.slice(Math.max(0, responses.length - 1), responses.length + 1)
  const isCheck = around.some(({ path }) => path.startsWith('/auth/check'))
  if (!mayClose && !isCheck) assert.equal(responses.length, requests.length)
}

/** Several requests in one go, in any writing, or with bytes that break them: each gets one response, in its order. */
export const connectionsAreAnswered = (world: FuzzWorld, ids: Set<string>) => {
  const { service, routes, fields, pantry, browser } = world
  const { host } = new URL(service.env.SVC_BASE_URL ?? service.url)
  return fc.asyncProperty(connection(fuzzRequest(routes, fields)), async ({ requests, sizes, damage: broken }) => {
    const sent = requests
      .map(([fuzzed, how]) => ({ request: toRequest(fuzzed, browser, pantry), how }))
      // What damage does to the method cannot be known, and the length of a response to HEAD depends on it.
      .filter(({ request }) => broken.length === 0 || request.method !== 'HEAD')
    const bytes = sent.map(({ request, how }) => {
      const cookie = browser.cookies.header(request.path.split('?', 1).join(''))
      const headers = cookie === undefined ? request.headers : { cookie, ...request.headers }
      return toBytes({ ...request, ...(headers && { headers }) }, how, { host })
    })
    const whole = applyDamage(Buffer.concat([...bytes, Buffer.from(last)]), broken)
    const received = await exchangeBytes(service.port, whole, {
      sizes,
      patienceMs: broken.length > 0 ? 100 : 20_000,
    })
    const all = [...sent.map(({ request }) => request), { method: 'GET', path: '/auth/health' }]
    try {
      const responses = readResponses(
        received,
        all.map(({ method }) => method),
      )
      judge(responses, all, broken.length > 0)
      for (const { headers } of responses) {
        const id = headers.get('x-request-id') ?? ''
        assert.ok(!ids.has(id), `${id} twice`)
        ids.add(id)
      }
    } catch (error) {
      throw new Error(`${whole.toString('latin1')}\n\n${received.toString('latin1')}`, { cause: error })
    }
  })
}
