// Runs on SQLite.
import assert from 'node:assert/strict'
import type { IncomingMessage, RequestListener } from 'node:http'
import { describe, type TestContext, test } from 'node:test'
import {
  AdminError,
  type Auth,
  createAuth,
  hasMfa,
  type LambdaEvent,
  SvcUnavailableError,
} from '../../sdk/src/server.ts'
import { createGuard } from '../../sdk/src/guard/guard.ts'
import { currentUser, loggedIn, logOut, newPerson, signedUp } from '../support/client/accounts.ts'
import type { UserAgent } from '../support/client/user-agent.ts'
import { startServer } from '../support/network/http-server.ts'
import { claimsOf } from '../support/service/access-tokens.ts'
import { startService } from '../support/service/service.ts'

const service = await startService()
const auth = createAuth({ url: service.url, issuer: service.url })

const cookieOf = (agent: UserAgent): string => agent.cookies.header('/') ?? ''

const requestWith = (cookie: string, url = 'https://example.com/members'): Request =>
  new Request(url, { headers: { cookie } })

/** A server that answers as svc does for a user, and keeps the requests that it got. */
const startRecorder = async (t: TestContext): Promise<{ auth: Auth; asked: IncomingMessage[] }> => {
  const asked: IncomingMessage[] = []
  const url = await startServer(t, (request, response) => {
    asked.push(request)
    response.end(JSON.stringify({ id: '1', email: 'ada@example.com', roles: [] }))
  })
  return { auth: createAuth({ url }), asked }
}

const refusal = async (promise: Promise<unknown>): Promise<SvcUnavailableError> => {
  const error = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  assert.ok(error instanceof SvcUnavailableError, String(error))
  return error
}

/** As fetch of Cloudflare Workers before 2024-11-11. */
const refuseCache = (init?: RequestInit): void => {
  if (init?.cache !== undefined) throw new Error("The 'cache' field on 'RequestInitializerDict' is not implemented.")
}

describe('getUser', () => {
  test('finds the user by a Request, the request of Node, Headers, or an object with headers', async (t) => {
    const { agent } = await signedUp(service)
    const cookie = cookieOf(agent)
    const { auth_time, sid, email_verified } = claimsOf(agent.cookies.get('svc_access') ?? '')
    const proof = { sid, emailVerified: email_verified, amr: ['pwd'], authTime: auth_time }
    const user = { ...(await currentUser(agent)), ...proof }
    assert.equal(email_verified, false)
    assert.deepEqual(await auth.getUser(requestWith(cookie)), user)
    assert.deepEqual(await auth.getUser(new Headers({ cookie })), user)
    assert.deepEqual(await auth.getUser({ headers: { cookie } }), user)
    assert.deepEqual(await auth.getUser({ headers: { Cookie: [cookie] } }), user)
    assert.deepEqual(await auth.getUser({ headers: new Headers({ cookie }) }), user)
    const url = await startServer(t, async (request, response) => {
      response.end(JSON.stringify(await auth.getUser(request)))
    })
    const answer = await fetch(url, { headers: { cookie } })
    assert.deepEqual(await answer.json(), user)
  })

  test('finds the user by an event of AWS Lambda, and leads back to its address', async () => {
    const { agent } = await signedUp(service)
    const { id } = await currentUser(agent)
    const pairs = cookieOf(agent).split('; ')
    const cookie = pairs.join('; ')
    const query = { b: ['1', '2'], c: ['d&e'] }
    const events: Record<string, LambdaEvent> = {
      'an HTTP API': {
        requestContext: { http: { method: 'GET' } },
        headers: { accept: 'text/html' },
        cookies: pairs,
        rawPath: '/a',
        rawQueryString: 'b=1&b=2&c=d%26e',
      },
      'a REST API': {
        requestContext: {},
        headers: { Cookie: 'svc_access=another', Accept: 'text/html' },
        multiValueHeaders: { Cookie: pairs, Accept: ['text/html'] },
        path: '/a',
        httpMethod: 'GET',
        queryStringParameters: { b: '2', c: 'd&e' },
        multiValueQueryStringParameters: query,
      },
      'a load balancer': {
        requestContext: { elb: {} },
        headers: { cookie, accept: 'text/html' },
        path: '/a',
        httpMethod: 'GET',
        queryStringParameters: { b: '1&b=2', c: 'd%26e' },
      },
    }
    const guard = createGuard({ auth })
    for (const [name, event] of Object.entries(events)) {
      assert.equal((await auth.getUser(event))?.id, id, name)
      assert.equal(auth.loginUrl(event), '/auth/login?return_to=%2Fa%3Fb%3D1%26b%3D2%26c%3Dd%2526e', name)
      const { cookies: _, multiValueHeaders: __, ...visitor } = { ...event, headers: { accept: 'text/html' } }
      assert.equal((await guard.requireUser(visitor)).refusal?.status, 303, name)
      const post = { ...visitor, httpMethod: 'POST', requestContext: { http: { method: 'POST' } } }
      assert.equal((await guard.requireUser(post)).refusal?.status, 401, name)
    }
    assert.equal(await auth.getUser({ requestContext: {}, headers: null }), null)
  })

  test('gives null without a cookie, with a forged one, and from the first request after a logout', async () => {
    const { agent } = await signedUp(service, newPerson())
    const cookie = cookieOf(agent)
    assert.equal(await auth.getUser(new Headers()), null)
    assert.equal(await auth.getUser(requestWith('svc_access=forged')), null)
    assert.ok(await auth.getUser(requestWith(cookie)))
    await logOut(agent)
    assert.equal(await auth.getUser(requestWith(cookie)), null)
  })

  test('says what was proved by the headers of svc, and nothing by those of a request', async (t) => {
    const said: Record<string, string>[] = [
      { amr: 'hwk,mfa', 'auth-time': '1780000000' },
      { amr: '-', 'auth-time': '-' },
      {},
    ]
    const found: unknown[] = []
    for (const headers of said) {
      const url = await startServer(t, (_, response) => {
        for (const [name, value] of Object.entries(headers)) response.setHeader(`x-svc-user-${name}`, value)
        response.end(JSON.stringify({ id: '1', email: 'ada@example.com', roles: [] }))
      })
      const forged = { cookie: 'svc_access=a', 'x-svc-user-amr': 'mfa', 'x-svc-user-auth-time': '9999999999' }
      const { amr, authTime } = (await createAuth({ url }).getUser({ headers: forged })) ?? assert.fail()
      found.push([amr, authTime])
    }
    assert.deepEqual(found, [
      [['hwk', 'mfa'], 1780000000],
      [[], undefined],
      [[], undefined],
    ])
  })

  test('refuses what is no request', async () => {
    for (const wrong of [undefined, null, 'svc_access=a']) {
      // @ts-expect-error as a program without types may call it
      await assert.rejects(auth.getUser(wrong), { name: 'TypeError', message: /getUser takes a request/ })
    }
  })

  test('asks where fetch knows no caches, as that of Cloudflare Workers before 2024-11-11', async (t) => {
    const recorder = await startRecorder(t)
    const { Request: Genuine, fetch: genuine } = globalThis
    t.mock.method(globalThis, 'fetch', (input: string, init?: RequestInit) => {
      refuseCache(init)
      return genuine(input, init)
    })
    t.mock.property(
      globalThis,
      'Request',
      class extends Genuine {
        constructor(input: string, init?: RequestInit) {
          refuseCache(init)
          super(input, init)
        }
      },
    )
    assert.ok(await recorder.auth.getUser({ headers: { cookie: 'svc_access=a' } }))
  })

  test('sends the cookies of svc and nothing else of the request', async (t) => {
    const recorder = await startRecorder(t)
    const own = 'svc_access=a; __Host-svc_csrf=b; __Secure-svc_device="c d"; svc_access=e'
    const cookie = `session=s; ${own}; mysvc_access=x; xsvc_=1; svc; __Host-session=2; SVC_ACCESS=3`
    const headers = { cookie, authorization: 'Bearer secret', 'x-forwarded-for': '10.0.0.1' }
    await recorder.auth.getUser({ headers })
    assert.equal(recorder.asked[0]?.headers.cookie, own)
    assert.equal(recorder.asked[0]?.headers.authorization, undefined)
    assert.equal(recorder.asked[0]?.headers['x-forwarded-for'], undefined)
  })

  test('asks once for each request object, and nothing without a cookie of svc', async (t) => {
    const recorder = await startRecorder(t)
    const request = requestWith('svc_access=a')
    const users = await Promise.all([recorder.auth.getUser(request), recorder.auth.getUser(request)])
    assert.equal(users[0], users[1])
    assert.equal(recorder.asked.length, 1)
    await recorder.auth.getUser(requestWith('svc_access=a'))
    assert.equal(recorder.asked.length, 2)
    // The request of a WebSocket lives as long as the connection.
    t.mock.timers.enable({ apis: ['Date'], now: Date.now() })
    t.mock.timers.tick(1000)
    await Promise.all([recorder.auth.getUser(request), recorder.auth.getUser(request)])
    assert.equal(recorder.asked.length, 3)
    t.mock.timers.reset()
    assert.equal(await recorder.auth.getUser(requestWith('session=svc_access')), null)
    assert.equal(recorder.asked.length, 3)
  })

  test('says that svc is unavailable where it does not answer as svc', async (t) => {
    const answers: Record<string, RequestListener> = {
      'an outage with seconds': (_, response) => response.writeHead(503, { 'retry-after': '7' }).end(),
      'an outage with a date': (_, response) =>
        response.writeHead(503, { 'retry-after': new Date(Date.now() + 7000).toUTCString() }).end(),
      'a redirect': (_, response) => response.writeHead(302, { location: '/elsewhere' }).end(),
      'a page': (_, response) => response.end('<p>The application itself</p>'),
      'other JSON': (_, response) => response.end('{"id":1}'),
      'no answer in time': () => {},
      'a broken answer': (_, response) =>
        response.writeHead(200, { 'content-length': '9' }).write('{') && response.destroy(),
      refused: (_, response) => response.writeHead(403).end(),
    }
    for (const [title, answer] of Object.entries(answers)) {
      const slow = createAuth({ url: await startServer(t, answer), timeoutMs: title.startsWith('no ') ? 50 : 5000 })
      const { retryAfter } = await refusal(slow.getUser(requestWith('svc_access=a')))
      assert.ok(title.startsWith('an outage') ? retryAfter >= 6 && retryAfter <= 7 : retryAfter === 2, title)
    }
    await refusal(createAuth({ url: 'http://127.0.0.1:1' }).getUser(requestWith('svc_access=a')))
  })
})

test('getAccessToken is the token of the request, under either name, and none where there are two', async () => {
  const { agent } = await signedUp(service)
  const token = agent.cookies.get('svc_access') ?? ''
  assert.equal(auth.getAccessToken(requestWith(cookieOf(agent))), token)
  assert.equal((await auth.verifyAccessToken(auth.getAccessToken(requestWith(cookieOf(agent))) ?? '')).iss, service.url)
  const found = [
    '__Host-svc_access=a; svc_access=b',
    'svc_access=a; svc_access=b',
    'xsvc_access=a',
    'svc_access=',
    '',
  ].map((cookie) => auth.getAccessToken({ headers: { cookie } }))
  assert.deepEqual(found, ['a', undefined, undefined, undefined, undefined])
})

const keyWith = async (scope: string): Promise<string> =>
  (await service.cli(['api-keys', 'create', scope.replace(':', '-'), '--scope', scope])).stdout.trim()

describe('checkSession', () => {
  test('tells a connection that lasts whether the session of its user lives, past the end of its access token', async () => {
    const { url } = service
    const { checkSession, getUser } = createAuth({ url, apiKey: await keyWith('sessions:read') })
    const { agent, person } = await signedUp(service)
    const upgrade = { headers: { cookie: cookieOf(agent) } }
    const { sid = '' } = (await getUser(upgrade)) ?? {}
    assert.equal(await checkSession(sid), true)
    agent.cookies.delete('svc_access')
    assert.equal((await agent.refresh()).status, 200)
    assert.equal(await checkSession(sid), true)
    await loggedIn(service, person)
    await logOut(agent)
    assert.equal(await checkSession(sid), false)
    for (const nobody of ['019e6f3c-7f0a-7c11-a1b2-3c4d5e6f7a8b', 'x', '', '../users', '.', '..'])
      assert.equal(await checkSession(nobody), false, nobody)
    // @ts-expect-error as a program without types may call it
    await assert.rejects(checkSession(undefined), { name: 'TypeError', message: /^checkSession takes the sid/ })
  })

  test('never takes an outage, or a key that svc refuses, for the end of a session', async () => {
    const apiKey = await keyWith('users:read')
    const sid = '019e6f3c-7f0a-7c11-a1b2-3c4d5e6f7a8b'
    await refusal(createAuth({ url: 'http://127.0.0.1:1', apiKey }).checkSession(sid))
    const forbidden = createAuth({ url: service.url, apiKey }).checkSession(sid)
    await assert.rejects(forbidden, (error) => error instanceof AdminError && error.code === 'forbidden')
    await assert.rejects(createAuth({ url: service.url }).checkSession(sid), /option "apiKey" or set SVC_API_KEY/)
  })
})

const secondsAgo = (seconds: number): number => Math.floor(Date.now() / 1000) - seconds

describe('hasMfa', () => {
  test('takes a user and claims, and looks for nothing but mfa', () => {
    assert.equal(hasMfa({ amr: ['pwd', 'otp', 'mfa'], authTime: undefined }), true)
    assert.equal(hasMfa({ amr: ['swk', 'mfa'], auth_time: 1 }), true)
    for (const amr of [[], ['pwd'], ['fed', 'otp'], ['xmfa'], undefined]) assert.equal(hasMfa({ amr }), false)
    // @ts-expect-error as a program without types may call it
    assert.equal(hasMfa({ amr: 'pwd,nomfa' }), false)
  })

  test('may ask for a proof that is not older than the page for it accepts', () => {
    const amr = ['fed', 'mfa']
    assert.equal(hasMfa({ amr, authTime: secondsAgo(600) }, { maxAge: 600 }), true)
    assert.equal(hasMfa({ amr, auth_time: secondsAgo(600) }, { maxAge: 600 }), true)
    assert.equal(hasMfa({ amr, authTime: secondsAgo(700) }, { maxAge: 600 }), false)
    assert.equal(hasMfa({ amr, authTime: undefined }, { maxAge: 600 }), false)
    assert.equal(hasMfa({ amr }, { maxAge: 600 }), false)
    for (const maxAge of [599, 0, -1, Number.NaN]) assert.throws(() => hasMfa({ amr }, { maxAge }), TypeError)
  })
})

const confirm = (path: string): string => `/auth/account/confirm?return_to=${encodeURIComponent(path)}&acr=mfa`

describe('stepUpUrl', () => {
  test('leads back to the request, to a path, or to / where svc would refuse it', () => {
    assert.equal(auth.stepUpUrl(requestWith('', 'https://example.com/pay?a=1&b=%26')), confirm('/pay?a=1&b=%26'))
    assert.equal(auth.stepUpUrl({ headers: {}, url: '/b', originalUrl: '/a/b' }), confirm('/a/b'))
    assert.equal(auth.stepUpUrl('/payments?a=1#b'), confirm('/payments?a=1#b'))
    for (const path of ['//evil.example', 'https://evil.example/', '/\\evil.example', '']) {
      assert.equal(auth.stepUpUrl(path), confirm('/'), path)
    }
  })
})
