// Runs once, alone.
import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import { describe, type TestContext, test } from 'node:test'
import { setImmediate, setTimeout as sleep } from 'node:timers/promises'
import { type AuthOptions, createAuth } from '../../sdk/src/server.ts'
import { startServer } from '../support/network/http-server.ts'
import { claimsOfCookie, newKey, ORIGIN, sign } from '../support/sdk/published-keys.ts'
import { endOf, entryOf, startScriptedFeed } from '../support/sdk/scripted-feed.ts'

const key = await newKey('key')
const STALE_MS = 5000
const SILENCE_MS = 4000
const [ENDED, UNKNOWN] = ['AccessTokenError', 'SvcUnavailableError']

type Stale = NonNullable<AuthOptions['revocations']>['stale']

const start = async (t: TestContext, stale: Stale = 'refuse') => {
  const printed = t.mock.method(console, 'error', () => {})
  const feed = await startScriptedFeed(t, [key])
  const auth = createAuth({ url: feed.url, issuer: ORIGIN, revocations: { apiKey: 'svc_sk_feed', stale } })
  const verify = async (changes: Record<string, unknown> = {}) => auth.verifyAccessToken(await sign(key, changes))
  /** What becomes of a token: its user, or the name of an error. */
  const verdict = (changes: Record<string, unknown> = {}): Promise<string> =>
    verify(changes).then(
      ({ sub }) => sub,
      ({ name }: Error) => name,
    )
  // The readers of other tests say that their servers are gone.
  const isOwn = (text: string): boolean => text.includes(`the revocation feed of ${feed.url} cannot be read: `)
  const texts = () => printed.mock.calls.map(({ arguments: [text] }) => String(text))
  return { feed, auth, verify, verdict, printed: () => texts().filter(isOwn) }
}

/** `eventually` looks at the clock, which tests turn here. */
const until = async (what: string, holds: () => unknown, pause: () => Promise<unknown> = () => sleep(5)) => {
  const deadlineMs = performance.now() + 60_000
  while (!(await holds())) {
    assert.ok(performance.now() < deadlineMs, what)
    await pause()
  }
}

/** The same without a timer, where the test holds them. */
const untilWithoutTimers = (what: string, holds: () => unknown) => until(what, holds, setImmediate)

type Place = Awaited<ReturnType<typeof start>>

/** Starts, and has the stream open and the clock in hand. */
const startStreaming = async (t: TestContext, stale: Stale = 'refuse'): Promise<Place> => {
  t.mock.timers.enable({ apis: ['Date'], now: Date.now() })
  const place = await start(t, stale)
  assert.equal(await place.verdict(), 'user')
  await until('the stream is open', () => place.feed.streams() > 0)
  return place
}

const answerUser =
  (changes: Record<string, unknown> = {}, headers: Record<string, string> = {}) =>
  (_: unknown, response: ServerResponse) =>
    response
      .writeHead(200, { 'x-svc-user-sid': 'session', 'x-svc-user-email-verified': 'false', ...headers })
      .end(JSON.stringify({ id: 'user', email: 'ada@example.com', roles: ['new'], ...changes }))

const question = ({ feed }: Place): number => feed.asked.filter((part) => part === 'user').length

describe('the feed of revocations', () => {
  test('is read once for all that verify, and names that objects inherit are sessions like any other', async (t) => {
    const place = await start(t)
    const names = ['__proto__', 'constructor', 'toString', 'hasOwnProperty', '']
    const before = await Promise.all(names.map((sid) => place.verdict({ sid, sub: sid })))
    assert.deepEqual(before, names)
    await until('the stream is open', () => place.feed.streams() > 0)
    const again = createAuth({ url: place.feed.url, issuer: ORIGIN, revocations: { apiKey: 'svc_sk_feed' } })
    await again.verifyAccessToken(await sign(key))
    assert.deepEqual(
      place.feed.asked.filter((part) => part !== 'keys'),
      ['page null', 'stream 0'],
    )
    place.feed.push(endOf('__proto__', 'constructor'))
    await until('they have ended', async () => (await place.verdict({ sid: '__proto__' })) === ENDED)
    const after = await Promise.all(names.map((sid) => place.verdict({ sid })))
    assert.deepEqual(after, [ENDED, ENDED, 'user', 'user', 'user'])
  })

  test('is stale five seconds after the last comment, by either clock, and not because nothing happens', async (t) => {
    const { feed, verdict } = await startStreaming(t)
    let laterMs = 0
    const steady = performance.now.bind(performance)
    t.mock.method(performance, 'now', () => steady() + laterMs)
    const comment = async (): Promise<void> => {
      feed.send(': \n\n')
      await until('it is fresh', async () => (await verdict()) === 'user')
    }
    await comment()
    t.mock.timers.tick(STALE_MS)
    assert.equal(await verdict(), UNKNOWN)
    await comment()
    laterMs = STALE_MS
    assert.equal(await verdict(), UNKNOWN)
    await comment()
    t.mock.timers.setTime(Date.now() - 3_600_000)
    laterMs += STALE_MS
    assert.equal(await verdict({ iat: 1, exp: 2e9 }), UNKNOWN, 'a clock that is turned back makes nothing younger')
    feed.push(endOf('other'))
    await until('an entry alone is no sign that all was sent', async () => (await verdict({ sid: 'other' })) === ENDED)
    assert.equal(await verdict(), UNKNOWN)
  })

  test('trusts nothing that may be as old as a sleep of the machine, which stops timers', async (t) => {
    const { feed, verdict } = await startStreaming(t)
    // It ends while the machine sleeps; what had arrived before the sleep is read after it.
    t.mock.timers.tick(3_600_000)
    feed.answer('stream', (_, response) => response.writeHead(503).end())
    feed.send(': \n\n')
    await until('it asks again', () => feed.asked.at(-1) === 'stream 0' && feed.streams() === 0)
    assert.equal(await verdict({ exp: 9e9 }), UNKNOWN)
    feed.push(endOf('session'))
    feed.answer('stream', undefined)
    await until('it knows what has ended', async () => (await verdict({ exp: 9e9 })) === ENDED)
  })

  test('refuses in no mode to refuse what has ended, and accepts by the token alone only where it is told to', async (t) => {
    for (const stale of ['ask', 'refuse', 'accept'] as const) {
      await t.test(stale, async (t) => {
        const place = await startStreaming(t, stale)
        place.feed.push(endOf('over'))
        await until('it has ended', async () => (await place.verdict({ sid: 'over' })) === ENDED)
        t.mock.timers.tick(STALE_MS)
        place.feed.answer('user', answerUser())
        const { feed, verdict, verify } = place
        assert.equal(await verdict({ sid: 'over' }), ENDED)
        assert.equal(question(place), 0)
        assert.equal(await verdict(), stale === 'refuse' ? UNKNOWN : 'user')
        if (stale !== 'ask') return assert.equal(question(place), 0)
        const { roles, email_verified } = await verify()
        assert.deepEqual([roles, email_verified, question(place)], [['new'], false, 2])
        const wrong = {
          'of another user': answerUser({ id: 'other' }),
          'of another session': answerUser({}, { 'x-svc-user-sid': 'other' }),
          'of no user': answerUser({ id: 1 }),
        }
        for (const [what, answer] of Object.entries(wrong)) {
          feed.answer('user', answer)
          assert.equal(await verdict(), UNKNOWN, `the answer is ${what}`)
        }
        feed.answer('user', (_, response) => response.writeHead(503).end())
        assert.equal(await verdict(), UNKNOWN)
        feed.answer('user', undefined)
        return assert.equal(await verdict(), ENDED)
      })
    }
  })

  test('has tokens asked about once each after a change, in every mode, and again after the next', async (t) => {
    for (const stale of ['ask', 'refuse', 'accept'] as const) {
      await t.test(stale, async (t) => {
        const place = await startStreaming(t, stale)
        const { feed, verify, verdict } = place
        const { iat } = claimsOfCookie()
        feed.answer('user', answerUser())
        feed.push(entryOf({ type: 'token-claims-change', not_before: iat }))
        await until('the change is known', async () => (await verify({ jti: 'a', iat })).roles[0] === 'new')
        const all = await Promise.all([verify({ jti: 'a', iat }), verify({ jti: 'b', iat }), verify({ jti: 'b', iat })])
        assert.deepEqual(
          all.map(({ roles, email_verified }) => [roles, email_verified]),
          Array.from({ length: 3 }, () => [['new'], false]),
        )
        assert.deepEqual((await verify({ jti: 'c', iat: iat + 1 })).roles, [], 'a token from after the change')
        assert.deepEqual((await verify({ jti: 'd', iat, sub: 'other' })).roles, [], 'a token of another user')
        assert.equal(question(place), 2)
        feed.answer('user', (_, response) => response.writeHead(503).end())
        assert.equal(await verdict({ jti: 'e', iat }), UNKNOWN)
        feed.answer('user', answerUser({ roles: ['newer'] }))
        feed.push(entryOf({ type: 'sessions-revoked', user_id: undefined, not_before: iat }))
        await until('the next is known', async () => (await verify({ jti: 'a', iat })).roles[0] === 'newer')
        feed.answer('user', undefined)
        assert.deepEqual([await verdict({ jti: 'a', iat }), await verdict({ jti: 'b', iat })], ['user', ENDED])
        const asked = question(place)
        assert.equal(await verdict({ jti: 'b', iat }), ENDED)
        assert.equal(question(place), asked, 'a refusal is remembered, too')
      })
    }
  })

  for (const how of ['an event', 'the status 400']) {
    test(`is read from its beginning where ${how} says that it is not complete, and is stale until that is done`, async (t) => {
      const place = await startStreaming(t, 'accept')
      const strict = createAuth({
        url: place.feed.url,
        issuer: ORIGIN,
        revocations: { apiKey: 'svc_sk_feed', stale: 'refuse' },
      })
      const { feed, verdict } = place
      const told: unknown[] = []
      place.auth.onSessionEnded(({ sid }) => told.push(sid))
      feed.push(endOf('over', 'restored'))
      await until('they have ended', async () => (await verdict({ sid: 'restored' })) === ENDED)
      let send: (() => void) | undefined
      feed.answer('page', (_, response) => {
        const body = { events: [{ seq: 1, ...endOf('over') }], next_cursor: '1', more: false, complete: true }
        send = () => response.end(JSON.stringify(body))
      })
      if (how === 'an event') feed.send('event: incomplete\ndata: {"complete":false}\n\n')
      else {
        feed.answer('stream', (_, response) => response.writeHead(400).end('{}'))
        feed.endStreams()
      }
      await until('it asks from the beginning', () => send)
      feed.answer('stream', undefined)
      assert.equal(feed.asked.at(-1), 'page null')
      assert.deepEqual([await verdict({ sid: 'over' }), await verdict({ sid: 'restored' })], [ENDED, ENDED])
      await assert.rejects(strict.verifyAccessToken(await sign(key)), { name: UNKNOWN })
      send?.()
      await until('the session of the backup lives', async () => (await verdict({ sid: 'restored' })) === 'user')
      assert.equal(await verdict({ sid: 'over' }), ENDED)
      assert.equal((await strict.verifyAccessToken(await sign(key))).sub, 'user')
      assert.deepEqual(told, ['over', 'restored', undefined, 'over'])
    })
  }

  test('comes by polls where no stream arrives', async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout', 'Date'], now: Date.now() })
    const { feed, verdict } = await start(t)
    feed.answer('stream', (_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders()
    })
    assert.equal(await verdict(), 'user')
    await untilWithoutTimers('it asks for a stream', () => feed.asked.includes('stream 0'))
    t.mock.timers.tick(SILENCE_MS)
    const polls = () => feed.asked.filter((part) => part === 'page 0').length
    await untilWithoutTimers('it polls, at once and then with patience', () => polls() === 2)
    feed.push(endOf('session'))
    await untilWithoutTimers('the end is known', async () => (await verdict()) === ENDED)
    await untilWithoutTimers('it polls on', () => feed.asked.at(-1) === 'page 1')
    assert.equal(feed.asked.filter((part) => part === 'stream 0').length, 1)
  })

  for (const [what, type] of [
    ['no stream', 'application/json'],
    ['a stream that ends at once', 'text/event-stream'],
  ] as const) {
    test(`comes by polls where the answer is ${what}`, async (t) => {
      const { feed, verdict } = await start(t)
      feed.answer('stream', (_, response) => response.writeHead(200, { 'content-type': type }).end('{}'))
      assert.equal(await verdict(), 'user')
      await until('it polls', () => feed.asked.filter((part) => part === 'page 0').length === 2)
      feed.push(endOf('session'))
      await until('the end is known', async () => (await verdict()) === ENDED)
    })
  }

  test('comes by fetch in a runtime without the sockets of Node', async (t) => {
    t.mock.method(process, 'getBuiltinModule', () => undefined)
    const { feed, verdict } = await start(t)
    assert.equal(await verdict(), 'user')
    await until('the stream is open', () => feed.streams() > 0)
    feed.push(endOf('session'))
    await until('the end is known', async () => (await verdict()) === ENDED)
    feed.endStreams()
    await until('it goes on', () => feed.asked.at(-1) === 'stream 1')
  })

  test('goes on where it was after a stream that ends, breaks, or sends what cannot be read', async (t) => {
    const { feed, verdict } = await start(t)
    assert.equal(await verdict(), 'user')
    const breaks = [
      () => feed.endStreams(),
      () => feed.send('data: {\n\n'),
      () =>
        feed.send(`data: ${JSON.stringify(entryOf({ type: 'session-revoked', session_ids: [], reason: 'x' }))}\n\n`),
      () => feed.send(`data: ${JSON.stringify({ ...endOf('x'), expires_at: 'soon' })}\n\n`),
      () => feed.send(`data: ${JSON.stringify(entryOf({ type: 'token-claims-change', not_before: '1' }))}\n\n`),
      () => feed.send(Buffer.alloc(2 ** 24 + 1, 'x')),
      () => feed.send(`data: ${'x'.repeat(2 ** 20)}\n`.repeat(17)),
    ]
    for (const [at, act] of breaks.entries()) {
      await until('the stream is open', () => feed.streams() > 0)
      act()
      await until('the stream is closed', () => feed.streams() === 0)
      feed.push(endOf(`session-${at}`))
      await until('the end is known', async () => (await verdict({ sid: `session-${at}` })) === ENDED)
      assert.equal(feed.asked.filter((part) => part.startsWith('page')).length, 1)
    }
  })

  test('takes entries in pieces, with any ends of lines, and leaves out types that it does not know', async (t) => {
    const place = await start(t)
    assert.equal(await place.verdict(), 'user')
    await until('the stream is open', () => place.feed.streams() > 0)
    const newer = `data: ${JSON.stringify(entryOf({ type: 'credential-change' }))}\r\n\r\n`
    const known = JSON.stringify(endOf('s\u00e9ssion')).replace('{', '{\ndata: ')
    for (const byte of Buffer.from(`\ufeff${newer}: comment\r\nid:7\r\nevent:x\r\ndata:${known}\r\n\r\n`)) {
      place.feed.send(Buffer.from([byte]))
      await setImmediate()
    }
    await until('the end is known', async () => (await place.verdict({ sid: 's\u00e9ssion' })) === ENDED)
    place.feed.endStreams()
    await until('it goes on behind the entry', () => place.feed.asked.at(-1) === 'stream 7')
  })

  const answers: Record<string, [answer: (response: ServerResponse) => unknown, printed: RegExp]> = {
    'a page of another program': [(response) => response.end('<!doctype html>'), /JSON/],
    nothing: [(response) => response.end(), /JSON/],
    'another object': [(response) => response.end('null'), /no object/],
    'another answer': [(response) => response.end('{"events":{},"more":false}'), /is this the address of svc/],
    'no cursor': [(response) => response.end('{"events":[],"more":false,"complete":true}'), /next_cursor/],
    'a damaged entry': [
      (response) => response.end('{"events":[{}],"next_cursor":"1","more":false,"complete":true}'),
      /no type/,
    ],
    'an error': [(response) => response.writeHead(503).end(), /503/],
    'no such route': [(response) => response.writeHead(404).end(), /is this its address/],
    'a key that was revoked': [(response) => response.writeHead(401).end(), /revoked/],
    'a key without the scope': [(response) => response.writeHead(403).end(), /revocations:read/],
    'a text without an end': [
      (response) => {
        const more = (): void => void (response.destroyed || response.write(Buffer.alloc(2 ** 20, ' '), more))
        more()
      },
      /does not end/,
    ],
    'a broken connection': [(response) => response.destroy(), /hang up|ECONNRESET/],
  }
  for (const [what, [answer, printed]] of Object.entries(answers)) {
    test(`is stale while its answer is ${what}, which is printed once`, async (t) => {
      const place = await start(t)
      place.feed.answer('page', (_, response) => answer(response))
      assert.equal(await place.verdict(), UNKNOWN)
      await until('it tries again', () => place.feed.asked.filter((part) => part === 'page null').length > 1)
      assert.equal(place.printed().length, 1)
      assert.match(place.printed()[0] ?? '', printed)
      place.feed.answer('page', undefined)
      await until('it is fresh', async () => (await place.verdict()) === 'user')
    })
  }

  test('follows no redirect, which would lead the key to another place', async (t) => {
    const place = await start(t)
    const elsewhere: unknown[] = []
    const location = await startServer(t, ({ headers }, response) => {
      elsewhere.push(headers)
      response.end('{"events":[],"next_cursor":"1","more":false,"complete":true}')
    })
    place.feed.answer('page', (_, response) => response.writeHead(302, { location }).end())
    assert.equal(await place.verdict(), UNKNOWN)
    assert.deepEqual(elsewhere, [])
  })
})
