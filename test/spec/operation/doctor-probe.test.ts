// Runs on SQLite.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createRootSecret } from '../../../src/lib/derived-keys.ts'
import { PROBE_HEADER, PROBE_LIFETIME_MS, type ProbeAnswer, type ProbeKind, signProbe } from '../../../src/lib/probe.ts'
import { createUserAgent } from '../../support/client/user-agent.ts'
import { turnedClock } from '../../support/clock/turned-clock.ts'
import { rootSecret } from '../../support/database/database.ts'
import { startService } from '../../support/service/service.ts'

const clock = turnedClock()
const service = await startService({ clock })
const { keys } = createRootSecret({ current: Buffer.from(rootSecret(service), 'base64url') })
const agent = createUserAgent(service)

const sign = (kind: ProbeKind, nowMs: number, origin = service.url) => signProbe(keys, { kind, origin }, nowMs)

const seenOf = (text: string): ProbeAnswer => {
  const { probe }: { probe: ProbeAnswer } = JSON.parse(text)
  return probe
}

describe('§8.5 a good probe', () => {
  test('is answered on any path and by any method, with what svc has received', async () => {
    for (const method of ['GET', 'POST', 'DELETE'])
      for (const path of ['/', '/auth/login?a=b', '/nowhere/%2F..%20x?q=%00', '/auth/api/v1/user', '//']) {
        const { header, nonce } = sign('plain', clock.now())
        const headers = { [PROBE_HEADER]: header, cookie: 'svc_access=a; other=b=c;; x' }
        const answer = await agent.send({ method, path, headers })
        assert.equal(answer.status, 200)
        assert.equal(answer.headers['cache-control'], 'no-store')
        assert.deepEqual(answer.setCookies, [])
        const { time, port = 0, ...seen } = seenOf(answer.text)
        assert.ok(port > 0)
        assert.ok(Math.abs(Date.parse(time) - clock.now()) < 60_000)
        assert.deepEqual(seen, {
          nonce,
          path,
          host: `localhost:${service.port}`,
          scheme: 'http',
          address: '127.0.0.1',
          forwarded: { for: false, host: null, proto: null, trusted: true },
          cookies: ['svc_access', 'other', 'x'],
          base_url: service.url,
          cookie_names: ['svc_access', 'svc_refresh', 'svc_csrf'],
          set_cookies: [],
        })
      }
  })

  test('shows what a trusted proxy says', async () => {
    const headers = {
      [PROBE_HEADER]: sign('plain', clock.now()).header,
      'x-forwarded-for': '192.0.2.7',
      'x-forwarded-proto': 'https',
      'x-forwarded-host': 'example.com',
    }
    const { host, scheme, address, forwarded } = seenOf((await agent.get('/', headers)).text)
    assert.deepEqual([host, scheme, address], ['example.com', 'https', '192.0.2.7'])
    assert.deepEqual(forwarded, { for: true, host: 'example.com', proto: 'https', trusted: true })
  })

  test('sets cookies like those of a login if it asks for them', async () => {
    const headers = { [PROBE_HEADER]: sign('cookies', clock.now()).header }
    const answer = await agent.copy().get('/', headers)
    assert.deepEqual(seenOf(answer.text).set_cookies, answer.headers['set-cookie'])
    assert.equal(answer.setCookies.length, 3)
  })
})

test('§8.5 a probe for another origin, whose server may have passed it on, shows the base URL and nothing else', async () => {
  const { header } = sign('cookies', clock.now(), 'https://elsewhere.example')
  const answer = await agent.copy().get('/', { [PROBE_HEADER]: header, host: 'elsewhere.example' })
  assert.deepEqual(JSON.parse(answer.text), { probe: { base_url: service.url } })
  assert.deepEqual(answer.setCookies, [])
})

/** Without the id of the request. */
const textOf = (text: string) => text.replace(/[0-9a-f]{20}/g, '')

test('§8.5 a probe that is not good is answered as if there were none', async () => {
  const { header } = sign('plain', clock.now())
  const [expires = '', nonce = '', kind = '', origin = '', mac = ''] = header.split('.')
  const elsewhere = Buffer.from('https://elsewhere.example').toString('base64url')
  const otherKeys = createRootSecret({ current: Buffer.alloc(32, 1) }).keys
  const bad = {
    'too old': sign('plain', clock.now() - PROBE_LIFETIME_MS).header,
    'from the future': sign('plain', clock.now() + PROBE_LIFETIME_MS).header,
    'of another root secret': signProbe(otherKeys, { kind: 'plain', origin: service.url }, clock.now()).header,
    'with a later end': [String(Number(expires) + 1), nonce, kind, origin, mac].join('.'),
    'with another nonce': [expires, nonce.split('').toReversed().join(''), kind, origin, mac].join('.'),
    'of another kind': [expires, nonce, 'cookies', origin, mac].join('.'),
    'of another origin': [expires, nonce, kind, elsewhere, mac].join('.'),
    'of the form of earlier versions': [expires, nonce, kind, mac].join('.'),
    'without a mac': [expires, nonce, kind, origin, ''].join('.'),
    twice: `${header}, ${header}`,
    empty: '',
    long: 'a'.repeat(5000),
  }
  for (const [path, expected] of [
    ['/auth/health', 200],
    ['/nowhere', 404],
    ['/auth/api/v1/user', 401],
  ] as const) {
    const usual = await agent.get(path)
    for (const [what, value] of Object.entries(bad)) {
      const answer = await agent.get(path, { [PROBE_HEADER]: value })
      assert.deepEqual([answer.status, textOf(answer.text)], [expected, textOf(usual.text)], what)
      assert.deepEqual(Object.keys(answer.headers), Object.keys(usual.headers), what)
    }
  }
})
