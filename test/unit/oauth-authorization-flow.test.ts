// Runs once.
import assert from 'node:assert/strict'
import { createHash, randomBytes, randomUUIDv7 } from 'node:crypto'
import { describe, test } from 'node:test'
import { createRootSecret } from '../../src/lib/derived-keys.ts'
import {
  type NewAuthorizationFlow,
  type PendingLink,
  createAuthorizationFlows,
} from '../../src/oauth/authorization-flow.ts'
import { createPendingLinks } from '../../src/oauth/pending-link.ts'
import type { Queries } from '../../src/storage/database.ts'
import { freshDatabase } from '../storage/databases.ts'

const T0 = 1_795_000_000_000
const MINUTE = 60_000
const rootSecret = createRootSecret({ current: Buffer.alloc(32, 7) })
const browserSecret = 'B'.repeat(43)
const { db } = await freshDatabase()

const flowsAt = (atMs = T0) => createAuthorizationFlows({ db, clock: { now: () => atMs }, rootSecret })
const newFlow: NewAuthorizationFlow = { provider: 'corp', returnTo: '/x', intent: 'sign_in' }

const pendingLink: PendingLink = {
  id: randomUUIDv7(),
  profile: {
    provider: 'corp',
    issuer: 'https://id.corp.example',
    subject: 's',
    email: { shown: 'A@example.com', lower: 'a@example.com' },
    emailVerified: true,
    hostedDomain: undefined,
    signedInAtMs: undefined,
    name: 'Ann',
  },
  userId: randomUUIDv7(),
  profileFetchedAtMs: T0,
}

/** JSON has no undefined values. */
const asRead = JSON.parse(JSON.stringify(pendingLink)) as PendingLink

describe('nonce and code verifier', () => {
  const flow = { ...newFlow, id: '019aa000-0000-7000-8000-000000000001', startedAtMs: T0 }

  test('are derived from the flow and the browser: HMAC-SHA256 with a key for each', () => {
    assert.deepEqual(flowsAt().secretsOf(flow, '', browserSecret), {
      nonce: 'o4uZZNe24oALIUTRvQIFnBigkeSeLWR3t27kzh_RjvU',
      codeVerifier: 'zorogoqIUwY_GSltUowNwbYlt28JhER8dhXasa3ALhw',
    })
  })

  test('the verifier has the form of RFC 7636 section 4.1; the challenge is its hash', () => {
    const { codeVerifier } = flowsAt().secretsOf(flow, '', browserSecret)
    assert.match(codeVerifier, /^[A-Za-z0-9._~-]{43,128}$/)
    const challenge = createHash('sha256').update(codeVerifier).digest('base64url')
    assert.equal(challenge, '-6ixeQNg91To5ZcsHlee_yCeaCTa-epeYocpGoaaJFo')
  })

  test('stay the same for a flow that began before the root secret was rotated', () => {
    const { flow: earlier, state } = flowsAt().begin(newFlow, browserSecret)
    const rotated = createAuthorizationFlows({
      db,
      clock: { now: () => T0 },
      rootSecret: createRootSecret({ current: Buffer.alloc(32, 8), previous: Buffer.alloc(32, 7) }),
    })
    assert.deepEqual(
      rotated.secretsOf(earlier, state, browserSecret),
      flowsAt().secretsOf(earlier, state, browserSecret),
    )
    const next = rotated.begin(newFlow, browserSecret)
    const after = createAuthorizationFlows({
      db,
      clock: { now: () => T0 },
      rootSecret: createRootSecret({ current: Buffer.alloc(32, 8) }),
    })
    assert.deepEqual(
      rotated.secretsOf(next.flow, next.state, browserSecret),
      after.secretsOf(next.flow, next.state, browserSecret),
    )
  })

  test('differ for another flow, browser or installation', () => {
    const others = [
      flowsAt().secretsOf(flow, '', browserSecret),
      flowsAt().secretsOf({ ...flow, id: randomUUIDv7() }, '', browserSecret),
      flowsAt().secretsOf(flow, '', 'b'.repeat(43)),
      createAuthorizationFlows({
        db,
        clock: { now: () => T0 },
        rootSecret: createRootSecret({ current: Buffer.alloc(32, 8) }),
      }).secretsOf(flow, '', browserSecret),
    ].flatMap(({ nonce, codeVerifier }) => [nonce, codeVerifier])
    assert.equal(new Set(others).size, 8)
  })
})

const MAX_STATE_LENGTH = 6000

/** An address with this many different Chinese characters. */
const lettersIn = (count: number) => {
  const letters = Array.from({ length: count }, (_, index) => 0x4e00 + ((index * index * 7919) % 20_011))
  return `/${encodeURIComponent(String.fromCodePoint(...letters))}`
}

describe('a state fits into an address', () => {
  test('with 1,000 different characters that are not ASCII', () => {
    const returnTo = lettersIn(1000)
    const { state } = flowsAt().begin({ ...newFlow, returnTo }, browserSecret)
    assert.ok(state.length <= MAX_STATE_LENGTH, `${state.length} characters`)
    assert.equal(flowsAt().readState(state, 'corp', browserSecret).flow?.returnTo, returnTo)
  })

  test('or the flow is refused before the browser is sent away, with the name of the field', () => {
    const returnTo = lettersIn(2000)
    assert.throws(() => flowsAt().begin({ ...newFlow, returnTo }, browserSecret), {
      code: 'invalid_request',
      field: 'return_to',
    })
  })

  test('up to its maximum length, and no further', () => {
    // Random base64url text compresses to three quarters of its length at best.
    const text = randomBytes(6000).toString('base64url')
    const lengthOf = (count: number): number => {
      try {
        return flowsAt().begin({ ...newFlow, returnTo: `/${text.slice(0, count)}` }, browserSecret).state.length
      } catch {
        return Number.POSITIVE_INFINITY
      }
    }
    const lengths = Array.from({ length: 80 }, (_, index) => lengthOf(4000 + index * 50))
    const accepted = lengths.filter((length) => length < Number.POSITIVE_INFINITY)
    assert.ok(
      Math.max(...accepted) <= MAX_STATE_LENGTH && Math.max(...accepted) > MAX_STATE_LENGTH - 100,
      `${accepted.at(-1)}`,
    )
    assert.ok(accepted.length < lengths.length, 'longer ones are refused')
  })
})

/** Without what is undefined. */
const asJson = (content: unknown): unknown => JSON.parse(JSON.stringify(content))

describe('a flow whose state comes back', () => {
  test('is read as it began', () => {
    const userId = randomUUIDv7()
    const flows: NewAuthorizationFlow[] = [
      newFlow,
      { ...newFlow, intent: 'link', userId },
      { ...newFlow, intent: 'confirm', userId },
      { ...newFlow, pendingLink: asRead },
    ]
    for (const given of flows) {
      const { flow, state } = flowsAt().begin(given, browserSecret)
      const read = flowsAt(T0 + 10 * MINUTE - 1).readState(state, 'corp', browserSecret)
      assert.deepEqual(read, { flow: asJson(flow), problem: undefined })
      assert.equal(read.flow?.startedAtMs, T0)
    }
  })

  test('is refused after ten minutes, in another browser, for another provider; its returnTo is known still', () => {
    const { state } = flowsAt().begin(newFlow, browserSecret)
    const problem = (provider: string, browser: string | undefined, atMs = T0) => {
      const read = flowsAt(atMs).readState(state, provider, browser)
      assert.equal(read.flow?.returnTo, '/x')
      return read.problem
    }
    assert.equal(problem('corp', browserSecret, T0 + 10 * MINUTE), 'expired')
    assert.equal(problem('corp', undefined, T0 + 10 * MINUTE), 'expired')
    assert.equal(problem('corp', 'b'.repeat(43)), 'other_browser')
    assert.equal(problem('corp', undefined), 'other_browser')
    assert.equal(problem('github', browserSecret), 'unreadable')
    assert.equal(problem('github', browserSecret, T0 + 10 * MINUTE), 'unreadable')
  })

  test('is not read from a missing state, nor from another kind of sealed token', () => {
    const links = createPendingLinks({ db, clock: { now: () => T0 }, rootSecret })
    const linkRequest = links.sealLinkRequest({ pendingLink, returnTo: '/x' }, browserSecret)
    for (const state of [undefined, '', 'garbage', linkRequest]) {
      assert.deepEqual(flowsAt().readState(state, 'corp', browserSecret), { flow: undefined, problem: 'unreadable' })
    }
  })

  test('ends once', async () => {
    const { flow } = flowsAt().begin(newFlow, browserSecret)
    await flowsAt().consumeState(flow)
    await assert.rejects(flowsAt().consumeState(flow), { code: 'invalid_request', reason: 'used' })
    await flowsAt().consumeState(flowsAt().begin(newFlow, browserSecret).flow)
  })

  test('that has ended is remembered for longer than its state is valid', async () => {
    const { flow } = flowsAt(Date.now()).begin(newFlow, browserSecret)
    await flowsAt().consumeState(flow)
    await flowsAt().deleteExpired(Date.now() + 11 * MINUTE)
    await assert.rejects(flowsAt().consumeState(flow), { reason: 'used' })
    assert.ok((await flowsAt().deleteExpired(Date.now() + 21 * MINUTE)) >= 1)
  })
})

test('the row of a pending link has the same hashes for every replica', async () => {
  const deleted: unknown[][] = []
  const queries = { run: async (_sql: string, ...values: unknown[]) => deleted.push(values) } as unknown as Queries
  await createPendingLinks({ db, clock: { now: () => T0 }, rootSecret }).consume(
    queries,
    { ...pendingLink, id: '019aa000-0000-7000-8000-000000000002', userId: '019aa000-0000-7000-8000-000000000003' },
    browserSecret,
  )
  assert.deepEqual(deleted, [
    [
      '019aa000-0000-7000-8000-000000000002',
      '019aa000-0000-7000-8000-000000000003',
      'QS3EbMnjyybyn3wUFcVWNJr2KQTF0VsKLYz9xc-iKzQ',
      '_bp9U0P6w4k8Qd-8FUNaDol9iCN_ypScRuSXbgSYKyU',
      T0,
    ],
  ])
})
