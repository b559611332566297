// Runs on SQLite.
import assert from 'node:assert/strict'
import { Agent, request as sendRequest } from 'node:http'
import { describe, test } from 'node:test'
import { currentUser, logOut, signedUp } from '../support/client/accounts.ts'
import { createUserAgent, type UserAgent } from '../support/client/user-agent.ts'
import type { SvcUnavailableError } from '../../sdk/src/server.ts'
import { FRAMEWORKS, LINES } from '../support/sdk/frameworks.ts'
import { startService } from '../support/service/service.ts'

const service = await startService()
const SVC = { url: service.url }

const cookieOf = (agent: UserAgent): string => `${agent.cookies.header('/')}; theme=dark`
/** Signed in throughout; the tests share them, because each costs a password hash. */
const agents = await Promise.all(Array.from({ length: 3 }, async () => (await signedUp(service)).agent))
const ids = await Promise.all(agents.map(async (agent) => (await currentUser(agent)).id))
const [cookie = ''] = agents.map(cookieOf)
const [id] = ids

const NAVIGATE = { 'sec-fetch-mode': 'navigate', accept: 'text/html' }
const FETCH = { 'sec-fetch-mode': 'cors', accept: '*/*' }

/** How often each connection of an agent was opened, over some requests one after the other. */
const connectionsFor = async (url: string, count: number): Promise<number> => {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const ports = new Set<number | undefined>()
  for (let i = 0; i < count; i++) {
    await new Promise((resolve, reject) => {
      sendRequest(url, { agent, headers: { cookie } }, (response) => {
        ports.add(response.socket.localPort)
        response.resume().once('end', resolve)
      })
        .once('error', reject)
        .end()
    })
  }
  agent.destroy()
  return ports.size
}

for (const [name, start] of Object.entries(FRAMEWORKS)) {
  describe(name, () => {
    test('gives the signed-in user, and no other one, to each of many requests at once', async (t) => {
      const application = createUserAgent({ url: await start(t, SVC) })
      const asked = Array.from({ length: 30 }, (_, i) => i % 4)
      const got = await Promise.all(
        asked.map(async (who) => {
          const agent = agents[who]
          const answer = await application.get('/members/me', agent ? { cookie: cookieOf(agent) } : {})
          return answer.status === 200 ? answer.json<{ id: string }>().id : answer.status
        }),
      )
      assert.deepEqual(
        got,
        asked.map((who) => ids[who] ?? 401),
      )
    })

    test('leads a page to the login page with its path and query, and answers 401 otherwise', async (t) => {
      const application = createUserAgent({ url: await start(t, SVC) })
      const page = await application.get('/members/me?a=1&b=%26%0d%0a', NAVIGATE)
      assert.equal(page.status, 303)
      assert.equal(page.location, '/auth/login?return_to=%2Fmembers%2Fme%3Fa%3D1%26b%3D%2526%250d%250a')
      for (const [method, path] of [
        ['GET', '/members/me'],
        ['POST', '/members/echo'],
      ] as const) {
        const refused = await application.send({ method, path, headers: { ...FETCH, cookie: 'svc_access=forged' } })
        assert.equal(refused.status, 401)
        assert.ok('error' in refused.json<object>())
      }
      const form = await application.send({ method: 'POST', path: '/members/echo', headers: NAVIGATE, body: 'text' })
      assert.equal(form.status, 401)
    })

    test('refuses the next request of a user who has logged out or was disabled', async (t) => {
      const application = createUserAgent({ url: await start(t, SVC) })
      const [leaving, disabled] = [await signedUp(service), await signedUp(service)]
      const cookies = [cookieOf(leaving.agent), cookieOf(disabled.agent)]
      const statuses = () =>
        Promise.all(cookies.map(async (cookie) => (await application.get('/members/me', { cookie })).status))
      assert.deepEqual(await statuses(), [200, 200])
      await logOut(leaving.agent)
      assert.equal((await service.cli(['users', 'disable', disabled.person.email])).code, 0)
      assert.deepEqual(await statuses(), [401, 401])
    })

    test('answers 503 in an outage, and never as if the user were signed out', async (t) => {
      const told: SvcUnavailableError[] = []
      const options = {
        url: 'http://127.0.0.1:1',
        onUnavailable: (error: SvcUnavailableError) => void told.push(error),
      }
      const application = createUserAgent({ url: await start(t, options) })
      for (const [path, headers] of [
        ['/members/me', NAVIGATE],
        ['/members/me', FETCH],
        ['/public', NAVIGATE],
      ] as const) {
        const answer = await application.get(path, { ...headers, cookie })
        assert.equal(answer.status, 503)
        assert.equal(answer.headers['retry-after'], '2')
      }
      assert.equal(told.length, name === 'plain Node' ? 0 : 3)
    })

    test('lets everybody through where a user is not required', async (t) => {
      const application = createUserAgent({ url: await start(t, SVC) })
      const idFor = async (cookie: string) => (await application.get('/public', { cookie })).json()
      assert.deepEqual(await idFor(cookie), { id })
      assert.deepEqual(await idFor('svc_access=forged'), { id: null })
      assert.deepEqual(await idFor(''), { id: null })
    })

    test('leaves bodies, streams and connections as they are', async (t) => {
      const url = await start(t, SVC)
      const application = createUserAgent({ url })
      const body = 'abc'.repeat(100_000)
      const type = { 'content-type': 'application/octet-stream' }
      const echo = await application.send({ method: 'POST', path: '/members/echo', headers: { ...type, cookie }, body })
      assert.ok(echo.text === body)
      const { text } = await application.get('/members/lines', { cookie })
      assert.equal(text.trimEnd().split('\n').length, LINES)
      assert.equal(await connectionsFor(`${url}/members/me`, 4), 1)
    })
  })
}
