// Runs once.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Configuration } from 'openid-client'
import { AppError } from '../../src/lib/errors.ts'
import { createDiscovery } from '../../src/oauth/providers/discovery.ts'
import { createProviderFetch, requireAddressOf, toProblem } from '../../src/oauth/providers/provider-fetch.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE

const setUp = () => {
  let nowMs = 0
  let isAway = false
  let discoveries = 0
  const { configuration, forget } = createDiscovery({
    clock: { elapsedMs: () => nowMs },
    discover: async () => {
      discoveries += 1
      if (isAway) throw new Error('away')
      return new Configuration({ issuer: `https://id.example/${discoveries}` }, 'svc')
    },
  })
  return {
    forget,
    issuer: async () => (await configuration()).serverMetadata().issuer.slice(-1),
    discoveries: () => discoveries,
    turnTo: (ms: number) => void (nowMs = ms),
    away: (is: boolean) => void (isAway = is),
  }
}

describe('the discovery document of a provider', () => {
  test('is fetched when it is first needed, once for many at once, and again after an hour', async () => {
    const { issuer, discoveries, turnTo } = setUp()
    assert.equal(discoveries(), 0)
    assert.deepEqual(await Promise.all([issuer(), issuer(), issuer()]), ['1', '1', '1'])
    turnTo(HOUR - 1)
    assert.equal(await issuer(), '1')
    turnTo(HOUR)
    assert.deepEqual(await Promise.all([issuer(), issuer()]), ['2', '2'])
  })

  test('is fetched again by the next sign-in after a failure', async () => {
    const { issuer, discoveries, away } = setUp()
    away(true)
    await assert.rejects(issuer())
    await assert.rejects(issuer())
    away(false)
    assert.equal(await issuer(), '3')
    assert.equal(discoveries(), 3)
  })

  test('still counts while it cannot be fetched again, which is tried once a minute', async () => {
    const { issuer, discoveries, turnTo, away } = setUp()
    await issuer()
    turnTo(2 * HOUR)
    away(true)
    assert.deepEqual([await issuer(), discoveries()], ['1', 2])
    turnTo(2 * HOUR + MINUTE - 1)
    assert.deepEqual([await issuer(), discoveries()], ['1', 2])
    turnTo(2 * HOUR + MINUTE)
    assert.deepEqual([await issuer(), discoveries()], ['1', 3])
    away(false)
    assert.deepEqual([await issuer(), discoveries()], ['1', 3])
    turnTo(2 * HOUR + 2 * MINUTE)
    assert.deepEqual([await issuer(), discoveries()], ['4', 4])
    turnTo(3 * HOUR + 2 * MINUTE - 1)
    assert.deepEqual([await issuer(), discoveries()], ['4', 4])
  })

  test('is fetched again after it was found to be outdated, and not before', async () => {
    const { issuer, discoveries, forget } = setUp()
    await issuer()
    forget()
    assert.equal(discoveries(), 1)
    assert.deepEqual(await Promise.all([issuer(), issuer()]), ['2', '2'])
    assert.equal(discoveries(), 2)
  })

  test('that is outdated still counts while the provider does not answer, and is fetched again after a minute', async () => {
    const { issuer, discoveries, forget, away, turnTo } = setUp()
    await issuer()
    forget()
    away(true)
    assert.deepEqual(await Promise.all([issuer(), issuer()]), ['1', '1'])
    assert.equal(discoveries(), 2)
    away(false)
    turnTo(MINUTE - 1)
    assert.deepEqual([await issuer(), discoveries()], ['1', 2])
    turnTo(MINUTE)
    assert.deepEqual([await issuer(), discoveries()], ['3', 3])
  })

  test('that was never fetched cannot be outdated', async () => {
    const { issuer, discoveries, forget } = setUp()
    forget()
    assert.deepEqual([await issuer(), discoveries()], ['1', 1])
  })
})

const options = { method: 'GET', headers: {}, body: undefined, redirect: 'manual' } as const

describe('requests to a provider', () => {
  const HERE = ['https://localhost', 'http://127.0.0.1:8080', 'http://[::1]:8080', 'https://id.localhost/realm']
  const ELSEWHERE = ['https://id.corp.example', 'https://localhost.corp.example', 'https://128.0.0.1', 'https://[::2]']

  for (const issuer of [...HERE, ...ELSEWHERE]) {
    test(`secrets leave this machine over TLS only: ${issuer}`, async () => {
      const plain = ['http://id.corp.example/token', 'http://localhost.corp.example/', 'data:,x', 'javascript:alert(1)']
      for (const url of [...plain, 'http://128.0.0.1/', 'http://10.0.0.1/', 'http://169.254.169.254/', '']) {
        await assert.rejects(createProviderFetch(issuer)(url, options), /missing, or without TLS/, url)
      }
    })
  }

  // The last is the same as the first in letters that a URL parser maps to ASCII.
  const names = ['localhost', 'LOCALHOST', 'localhost.', 'id.localhost', '%6cocalhost', 'ⓛocalhost']
  const inIpv4 = [
    '127.0.0.1',
    '127.0.0.2',
    '127.255.255.254',
    '127.1',
    '2130706433',
    '0x7f.1',
    '017700000001',
    '0.0.0.0',
  ]
  const inIpv6 = ['[::1]', '[0:0:0:0:0:0:0:1]', '[::]', '[::ffff:127.0.0.1]', '[::ffff:7f12:1]', '[::ffff:0.0.0.0]']
  for (const host of [...names, ...inIpv4, '0', ...inIpv6]) {
    test(`a provider elsewhere names no address on this machine: ${host}`, async () => {
      for (const issuer of ELSEWHERE) {
        for (const url of [`http://${host}:1/token`, `https://${host}:1/token`, ` https:${host}:1`]) {
          await assert.rejects(createProviderFetch(issuer)(url, options), /and the provider is not/, `${issuer} ${url}`)
        }
      }
    })
  }

  test('an address that only looks like one on this machine is requested over TLS', () => {
    for (const host of [
      'localhost.corp.example',
      'notlocalhost',
      '128.0.0.1',
      '[::ffff:126.0.0.1]',
      '[::ffff:7.241.0.1]',
    ]) {
      requireAddressOf('https://id.corp.example', `https://${host}/token`)
    }
  })

  test('a provider on this machine may name others on it, over plain http if no name server is involved', () => {
    for (const url of ['http://localhost:1/', 'http://127.0.0.1:1/', 'http://[::1]:1/', 'https://id.localhost/']) {
      for (const issuer of HERE) requireAddressOf(issuer, url)
    }
    for (const url of ['http://id.localhost:1/', 'http://0.0.0.0:1/', 'http://127.0.0.2:1/']) {
      assert.throws(() => requireAddressOf('http://localhost:1', url), /without TLS/, url)
    }
  })
})

const thrown = (details: object) => Object.assign(new Error('x'), details)

describe('errors of the library as problems for users', () => {
  const cases: [unknown, string][] = [
    [thrown({ code: 'OAUTH_AUTHORIZATION_RESPONSE_ERROR', error: 'access_denied' }), 'cancelled'],
    [thrown({ code: 'OAUTH_AUTHORIZATION_RESPONSE_ERROR', error: 'user_cancelled_authorize' }), 'cancelled'],
    [thrown({ code: 'OAUTH_AUTHORIZATION_RESPONSE_ERROR', error: 'server_error' }), 'unreachable'],
    [thrown({ code: 'OAUTH_AUTHORIZATION_RESPONSE_ERROR', error: 'temporarily_unavailable' }), 'unreachable'],
    [thrown({ code: 'OAUTH_AUTHORIZATION_RESPONSE_ERROR', error: 'invalid_scope' }), 'refused'],
    [thrown({ code: 'OAUTH_AUTHORIZATION_RESPONSE_ERROR' }), 'refused'],
    [thrown({ code: 'OAUTH_RESPONSE_BODY_ERROR', status: 400 }), 'refused'],
    [thrown({ code: 'OAUTH_RESPONSE_BODY_ERROR', status: 401 }), 'refused'],
    [thrown({ code: 'OAUTH_RESPONSE_BODY_ERROR', status: 429 }), 'unreachable'],
    [thrown({ code: 'OAUTH_RESPONSE_BODY_ERROR', status: 503 }), 'unreachable'],
    [thrown({ code: 'OAUTH_TIMEOUT' }), 'unreachable'],
    [thrown({ code: 'OAUTH_RESPONSE_IS_NOT_JSON' }), 'unreachable'],
    [thrown({ code: 'OAUTH_JWT_CLAIM_COMPARISON_FAILED' }), 'unverifiable'],
    [thrown({ code: 'OAUTH_INVALID_RESPONSE' }), 'unverifiable'],
    [thrown({ code: 'ECONNREFUSED' }), 'unreachable'],
    [new TypeError('fetch failed'), 'unreachable'],
    ['text', 'unreachable'],
    [undefined, 'unreachable'],
  ]
  for (const [error, reason] of cases) {
    const { code, error: word } = (error ?? {}) as { code?: string; error?: string }
    test(`${code ?? String(error)} ${word ?? ''} → ${reason}`, () => {
      const problem = toProblem(error)
      assert.ok(problem instanceof AppError)
      assert.equal(problem.reason, reason)
      assert.equal(problem.retryAfterSeconds !== undefined, reason === 'unreachable')
    })
  }

  test('a UUID of svc stays unchanged', () => {
    const own = new AppError('forbidden', 'x')
    assert.equal(toProblem(own), own)
  })
})
