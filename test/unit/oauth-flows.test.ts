import assert from 'node:assert/strict'
import { createHash, randomBytes, randomUUIDv7 } from 'node:crypto'
import { describe, test } from 'node:test'
import { createRootSecret } from '../../src/lib/derived-keys.ts'
import { AppError } from '../../src/lib/errors.ts'
import type { NewAuthorizationFlow, PendingLink } from '../../src/oauth/state.ts'
import { createAuthorizationFlows } from '../../src/oauth/state.ts'
import { freshDatabase } from '../contract/place.ts'

const T0 = 1_795_000_000_000
const MINUTE = 60_000
const rootSecret = createRootSecret({ current: Buffer.alloc(32, 7) })
const binding = 'B'.repeat(43)
const { db } = await freshDatabase()

const flowsAt = (atMs = T0) => createAuthorizationFlows({ db, clock: { now: () => atMs }, rootSecret })
const errand: NewAuthorizationFlow = { provider: 'corp', target: '/x', intent: 'sign_in' }

const pending: PendingLink = {
  vouched: {
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
  target: '/x',
  vouchedAtMs: T0,
}

const reasonOf = (action: () => unknown) => {
  try {
    action()
  } catch (error) {
    return error instanceof AppError ? error.reason : assert.fail(String(error))
  }
  return undefined
}

describe('nonce and code verifier', () => {
  const flow = { ...errand, id: '019aa000-0000-7000-8000-000000000001', startedAtMs: T0 }

  test('follow from the sign-in and the browser: HMAC-SHA256 under keys of their own', () => {
    assert.deepEqual(flowsAt().secretsOf(flow, '', binding), {
      nonce: 'o4uZZNe24oALIUTRvQIFnBigkeSeLWR3t27kzh_RjvU',
      codeVerifier: 'zorogoqIUwY_GSltUowNwbYlt28JhER8dhXasa3ALhw',
    })
  })

  test('the verifier is one of RFC 7636 (section 4.1), and what is sent ahead is its hash', () => {
    const { codeVerifier } = flowsAt().secretsOf(flow, '', binding)
    assert.match(codeVerifier, /^[A-Za-z0-9._~-]{43,128}$/)
    const challenge = createHash('sha256').update(codeVerifier).digest('base64url')
    assert.equal(challenge, '-6ixeQNg91To5ZcsHlee_yCeaCTa-epeYocpGoaaJFo')
  })

  test('stay the same for a sign-in that was begun before the root secret was rotated', () => {
    const { flow: begun, state } = flowsAt().begin(errand, binding)
    const rotated = createAuthorizationFlows({
      db,
      clock: { now: () => T0 },
      rootSecret: createRootSecret({ current: Buffer.alloc(32, 8), previous: Buffer.alloc(32, 7) }),
    })
    assert.deepEqual(rotated.secretsOf(begun, state, binding), flowsAt().secretsOf(begun, state, binding))
    const next = rotated.begin(errand, binding)
    const after = createAuthorizationFlows({
      db,
      clock: { now: () => T0 },
      rootSecret: createRootSecret({ current: Buffer.alloc(32, 8) }),
    })
    assert.deepEqual(rotated.secretsOf(next.flow, next.state, binding), after.secretsOf(next.flow, next.state, binding))
  })

  test('are others for another sign-in, browser or installation', () => {
    const others = [
      flowsAt().secretsOf(flow, '', binding),
      flowsAt().secretsOf({ ...flow, id: randomUUIDv7() }, '', binding),
      flowsAt().secretsOf(flow, '', 'b'.repeat(43)),
      createAuthorizationFlows({
        db,
        clock: { now: () => T0 },
        rootSecret: createRootSecret({ current: Buffer.alloc(32, 8) }),
      }).secretsOf(flow, '', binding),
    ].flatMap(({ nonce, codeVerifier }) => [nonce, codeVerifier])
    assert.equal(new Set(others).size, 8)
  })
})

const MAX_STATE_LENGTH = 6000

/** So many letters of Chinese, none like another and in no order, as an address says them. */
const lettersIn = (count: number) => {
  const letters = Array.from({ length: count }, (_, index) => 0x4e00 + ((index * index * 7919) % 20_011))
  return `/${encodeURIComponent(String.fromCodePoint(...letters))}`
}

describe('a state fits into an address', () => {
  test('with 1,000 different letters that are not ASCII', () => {
    const target = lettersIn(1000)
    const { state } = flowsAt().begin({ ...errand, target }, binding)
    assert.ok(state.length <= MAX_STATE_LENGTH, `${state.length} characters`)
    assert.equal(flowsAt().recall(state, 'corp', binding).flow?.target, target)
  })

  test('or it is refused before anybody is sent anywhere, and the field is named', () => {
    const target = lettersIn(2000)
    assert.throws(() => flowsAt().begin({ ...errand, target }, binding), {
      code: 'invalid_request',
      field: 'return_to',
    })
  })

  test('up to its length, and no further', () => {
    // Random text does not pack: 64 different characters in three quarters of their length.
    const text = randomBytes(6000).toString('base64url')
    const lengthOf = (count: number): number => {
      try {
        return flowsAt().begin({ ...errand, target: `/${text.slice(0, count)}` }, binding).state.length
      } catch {
        return Number.POSITIVE_INFINITY
      }
    }
    const lengths = Array.from({ length: 80 }, (_, index) => lengthOf(4000 + index * 50))
    const taken = lengths.filter((length) => length < Number.POSITIVE_INFINITY)
    assert.ok(Math.max(...taken) <= MAX_STATE_LENGTH && Math.max(...taken) > MAX_STATE_LENGTH - 100, `${taken.at(-1)}`)
    assert.ok(taken.length < lengths.length, 'longer ones are refused')
  })
})

describe('a sign-in that comes back', () => {
  test('is recalled as it was begun', () => {
    const { target: _, ...waiting } = pending
    const own: NewAuthorizationFlow = { ...errand, intent: 'link', userId: randomUUIDv7() }
    for (const given of [errand, own, { ...errand, pending: waiting }]) {
      const { flow, state } = flowsAt().begin(given, binding)
      const { flow: recalled, problem } = flowsAt(T0 + 10 * MINUTE - 1).recall(state, 'corp', binding)
      assert.equal(problem, undefined)
      assert.deepEqual(recalled, JSON.parse(JSON.stringify(flow)))
      assert.equal(recalled?.startedAtMs, T0)
    }
  })

  test('is refused after ten minutes, in another browser, for another provider; where to go is known still', () => {
    const { state } = flowsAt().begin(errand, binding)
    const problem = (provider: string, browser: string | undefined, atMs = T0) => {
      const recalled = flowsAt(atMs).recall(state, provider, browser)
      assert.equal(recalled.flow?.target, '/x')
      return recalled.problem
    }
    assert.equal(problem('corp', binding, T0 + 10 * MINUTE), 'expired')
    assert.equal(problem('corp', undefined, T0 + 10 * MINUTE), 'expired')
    assert.equal(problem('corp', 'b'.repeat(43)), 'other_browser')
    assert.equal(problem('corp', undefined), 'other_browser')
    assert.equal(problem('github', binding), 'unreadable')
    assert.equal(problem('github', binding, T0 + 10 * MINUTE), 'unreadable')
  })

  test('is none when its state is missing, or is something else that was sealed here', () => {
    const sealed = flowsAt().closePending(pending, binding)
    for (const state of [undefined, '', 'garbage', sealed]) {
      assert.deepEqual(flowsAt().recall(state, 'corp', binding), { flow: undefined, problem: 'unreadable' })
    }
  })

  test('comes back once', async () => {
    const { flow } = flowsAt().begin(errand, binding)
    await flowsAt().use(flow)
    await assert.rejects(flowsAt().use(flow), { code: 'invalid_request', reason: 'used' })
    await flowsAt().use(flowsAt().begin(errand, binding).flow)
  })

  test('that has come back is remembered for longer than it could come again', async () => {
    const { flow } = flowsAt(Date.now()).begin(errand, binding)
    await flowsAt().use(flow)
    await flowsAt(Date.now() + 11 * MINUTE).deleteOld()
    await assert.rejects(flowsAt().use(flow), { reason: 'used' })
    assert.ok((await flowsAt(Date.now() + 21 * MINUTE).deleteOld()) >= 1)
  })
})

describe('somebody who has yet to prove an account', () => {
  test('is opened as he was closed, for ten minutes, in the same browser', () => {
    const sealed = flowsAt().closePending(pending, binding)
    const opened = flowsAt(T0 + 10 * MINUTE - 1).openPending(sealed, binding)
    assert.deepEqual(opened, JSON.parse(JSON.stringify(pending)))
    assert.equal(
      reasonOf(() => flowsAt(T0 + 10 * MINUTE).openPending(sealed, binding)),
      'expired',
    )
    assert.equal(
      reasonOf(() => flowsAt().openPending(sealed, undefined)),
      'other_browser',
    )
    assert.equal(
      reasonOf(() => flowsAt().openPending(sealed, 'b'.repeat(43))),
      'other_browser',
    )
  })

  test('is of the provider that vouched, and unreadable to another, also when it is too old', () => {
    const sealed = flowsAt().closePending(pending, binding)
    const { provider } = pending.vouched
    assert.equal(flowsAt().openPending(sealed, binding, provider).userId, pending.userId)
    for (const atMs of [T0, T0 + 10 * MINUTE]) {
      for (const other of ['another', '']) {
        assert.equal(
          reasonOf(() => flowsAt(atMs).openPending(sealed, binding, other)),
          'unreadable',
        )
      }
    }
  })

  test('is closed again as often as he tries, and good for no longer', () => {
    const again = flowsAt(T0 + 9 * MINUTE).closePending(pending, binding)
    const openAt = (atMs: number) => reasonOf(() => flowsAt(atMs).openPending(again, binding))
    assert.equal(openAt(T0 + 10 * MINUTE - 1), undefined)
    assert.equal(openAt(T0 + 10 * MINUTE), 'expired')
  })

  test('is not made of a state, nor of nothing', () => {
    const { target: _, ...waiting } = pending
    const { state } = flowsAt().begin({ ...errand, pending: waiting }, binding)
    for (const text of [state, undefined, '', 'garbage']) {
      assert.equal(
        reasonOf(() => flowsAt().openPending(text, binding)),
        'unreadable',
      )
    }
  })
})
