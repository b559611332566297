// Runs on SQLite, alone.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'
import { text } from 'node:stream/consumers'
import { describe, type TestContext, test } from 'node:test'
import { requireToken, tokenOf } from '../../sdk/src/resource.ts'
import { type AuthOptions, createAuth } from '../../sdk/src/server.ts'
import { logIn, logOut, signedUp } from '../support/client/accounts.ts'
import { createBackend } from '../support/client/backend.ts'
import { CLIENT_SETTINGS, madeClient } from '../support/clients/authorization.ts'
import { newlyGranted, send } from '../support/clients/tokens.ts'
import { startTcpProxy } from '../support/network/tcp-proxy.ts'
import { accessToken } from '../support/service/access-tokens.ts'
import { deleteUser, disableUser, runCommandOf, setPassword, setRoles } from '../support/service/operator-commands.ts'
import { startService } from '../support/service/service.ts'
import { eventually, within } from '../support/wait.ts'

const STALE_MS = 5000
const [ENDED, UNKNOWN] = ['AccessTokenError', 'SvcUnavailableError']

const SERVER = path.join(import.meta.dirname, '../../sdk/src/server.ts')

const service = await startService({ env: CLIENT_SETTINGS })
const { key: apiKey, call } = await createBackend(service, ['revocations:read', 'tokens:introspect', 'sessions:write'])

type Options = NonNullable<AuthOptions['revocations']> & { url?: string; timeoutMs?: number }

/** Verifies tokens in a mode in which svc is asked about nothing, unless a test wants another. */
const verifierWith = ({ url = service.url, timeoutMs, ...revocations }: Options = {}) => {
  const all = { apiKey, stale: 'refuse' as const, ...revocations }
  const auth = createAuth({ url, issuer: service.url, timeoutMs, revocations: all })
  /** What becomes of a token: `good`, or the name of an error. */
  const verdict = (token: string): Promise<string> =>
    auth.verifyAccessToken(token).then(
      () => 'good',
      ({ name }: Error) => name,
    )
  return { auth, verdict }
}

const { auth, verdict } = verifierWith()

const refuses = (token: string, verify = verdict): Promise<void> =>
  eventually('the token is refused', async () => (await verify(token)) === ENDED, 10)

const newToken = async () => {
  const { agent, person } = await signedUp(service)
  return { agent, person, token: accessToken(agent) }
}

const { token: untouched } = await newToken()

describe('verifyAccessToken with the revocation feed', () => {
  const ways: Record<string, (user: Awaited<ReturnType<typeof newToken>>) => Promise<unknown>> = {
    'has logged out': ({ agent }) => logOut(agent),
    'has signed in again in the same browser': ({ agent, person }) => logIn(agent, person),
    'has got a new password': ({ person }) => setPassword(service, person.email, 'four unrelated words'),
    'was disabled': ({ person }) => disableUser(service, person.email),
    'was deleted': ({ person }) => deleteUser(service, person.email),
    'was signed out by the operator': ({ person }) => runCommandOf(service, ['sessions', 'revoke', person.email]),
    'was signed out by the backend': async ({ token }) => {
      const { sid } = await auth.verifyAccessToken(token)
      assert.equal((await call('DELETE', `/sessions/${sid}`)).status, 204)
    },
  }
  for (const [what, act] of Object.entries(ways)) {
    test(`refuses the token of a user who ${what}, and no other`, async () => {
      const user = await newToken()
      assert.equal(await verdict(user.token), 'good')
      await act(user)
      await refuses(user.token)
      assert.equal(await verdict(untouched), 'good')
    })
  }

  test('takes the token of a renewed session, and the one before', async () => {
    const { agent, token } = await newToken()
    assert.equal((await agent.post('/auth/api/v1/sessions/refresh?audience=app')).status, 200)
    const { token: marker, agent: leaving } = await newToken()
    await logOut(leaving)
    // What came before the logout is known by then.
    await refuses(marker)
    assert.notEqual(accessToken(agent), token)
    assert.deepEqual([await verdict(token), await verdict(accessToken(agent))], ['good', 'good'])
  })

  test('gives the roles that the user has now, without a new token', async () => {
    const { person, token } = await newToken()
    assert.deepEqual((await auth.verifyAccessToken(token)).roles, [])
    for (const roles of [['editor'], ['admin'], []]) {
      await setRoles(service, person.email, roles)
      const known = async () => (await auth.verifyAccessToken(token)).roles.join() === roles.join()
      await eventually('the roles are known', known, 10)
    }
  })

  test('refuses all tokens when all sessions are ended, but not those of sign-ins afterwards', async () => {
    const { token, person, agent } = await newToken()
    assert.equal(await verdict(token), 'good')
    await runCommandOf(service, ['sessions', 'revoke', '--all', '--yes'])
    await logIn(agent, person)
    await refuses(token)
    assert.equal(await verdict(accessToken(agent)), 'good')
  })

  test('misses nothing of what happens while svc is restarted', async () => {
    const { person, token } = await newToken()
    assert.equal(await verdict(token), 'good')
    await service.stop()
    await disableUser(service, person.email)
    await service.restart()
    await refuses(token)
  })

  test('misses nothing when its process is killed at any step and started again', async (t) => {
    const proxy = await startTcpProxy({ port: service.port, t })
    const staying = await newToken()
    const program = `
      import { createAuth } from ${JSON.stringify(SERVER)}
      const auth = createAuth({ revocations: { stale: 'refuse' } })
      const verdict = (token) => auth.verifyAccessToken(token).then(() => 'good', ({ name }) => name)
      for (const token of process.argv.slice(1)) console.log(await verdict(token))
      setInterval(() => {}, 1000)`
    const start = (...tokens: string[]) => {
      const env = { SVC_URL: `http://127.0.0.1:${proxy.port}`, SVC_BASE_URL: service.url, SVC_API_KEY: apiKey }
      const args = ['--conditions=@svc/source', '--input-type=module', '--eval', program, ...tokens]
      const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'inherit'] })
      t.after(() => child.kill('SIGKILL'))
      return child
    }
    const ended: string[] = []
    // It is killed when it asks for the first page, when it asks for the stream, and when the stream has begun.
    for (const step of ['wait=0', 'text/event-stream', undefined]) {
      const { token, agent } = await newToken()
      const child = start(staying.token)
      proxy.onSent((piece) => void (step !== undefined && piece.includes(step) && child.kill('SIGKILL')))
      if (step === undefined) {
        await once(child.stdout, 'data')
        child.kill('SIGKILL')
      }
      await within(60, 'the process is killed', once(child, 'close'))
      await logOut(agent)
      ended.push(token)
    }
    proxy.onSent(undefined)
    const child = start(...ended, staying.token)
    const lines: string[] = []
    child.stdout.on('data', (piece: Buffer) => lines.push(...piece.toString().trim().split('\n')))
    await eventually('it knows', () => lines.length === 4)
    assert.deepEqual(lines, [ENDED, ENDED, ENDED, 'good'])
  })

  test('keeps no process alive', async (t) => {
    const { token } = await newToken()
    const program = `
      import { createAuth } from ${JSON.stringify(SERVER)}
      const auth = createAuth({ revocations: { stale: 'refuse' } })
      auth.onSessionEnded(() => {})
      const { sub } = await auth.verifyAccessToken(${JSON.stringify(token)})
      await new Promise((resolve) => setTimeout(resolve, 100))
      console.log(sub)`
    const env = { SVC_URL: service.url, SVC_BASE_URL: service.url, SVC_API_KEY: apiKey }
    const args = ['--conditions=@svc/source', '--input-type=module', '--eval', program]
    const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'inherit'] })
    t.after(() => child.kill('SIGKILL'))
    const end = Promise.all([text(child.stdout), once(child, 'close')])
    const [output, [code]] = await within(60, 'the process ends', end)
    assert.deepEqual([output.trim(), code], [(await auth.verifyAccessToken(token)).sub, 0])
  })
})

/** A verifier whose feed is behind a proxy, and has been read once. */
const startBehindProxy = async (t: TestContext, options: Options) => {
  t.mock.method(console, 'error', () => {})
  const proxy = await startTcpProxy({ port: service.port, t })
  const verifier = verifierWith({ ...options, url: `http://127.0.0.1:${proxy.port}` })
  const { token, agent } = await newToken()
  assert.equal(await verifier.verdict(token), 'good')
  const warm = await newToken()
  await logOut(warm.agent)
  await refuses(warm.token, verifier.verdict)
  return { ...verifier, proxy, token, agent, ended: warm.token }
}

describe('verifyAccessToken while the feed is cut off', () => {
  for (const stale of ['ask', 'refuse', 'accept'] as const) {
    test(`with stale: ${stale}`, async (t) => {
      const { verdict: judge, proxy, token, agent, ended } = await startBehindProxy(t, { stale, timeoutMs: 200 })
      const staying = await newToken()
      // The feed is silent from now on, and nothing says so.
      proxy.onSent((piece) => (piece.includes('/auth/api/v2/revocations') ? 'mute' : undefined))
      proxy.reset()
      proxy.mend()
      await logOut(agent)
      t.mock.timers.enable({ apis: ['Date'], now: Date.now() + STALE_MS })
      const verdicts = { ask: [ENDED, 'good'], refuse: [UNKNOWN, UNKNOWN], accept: ['good', 'good'] }
      assert.deepEqual([await judge(token), await judge(staying.token)], verdicts[stale])
      assert.equal(await judge(ended), ENDED, 'what is known to have ended is refused in every mode')
      proxy.swallow()
      assert.equal(await judge(token), stale === 'accept' ? 'good' : UNKNOWN)
      t.mock.timers.reset()
      proxy.onSent(undefined)
      proxy.mend()
      await refuses(token, judge)
      assert.equal(await judge(staying.token), 'good')
    })
  }

  test('with a key that is revoked, which is printed', async (t) => {
    const printed = t.mock.method(console, 'error', () => {})
    const { key, id } = await createBackend(service, ['revocations:read'])
    const { verdict: judge } = verifierWith({ apiKey: key })
    const { token } = await newToken()
    assert.equal(await judge(token), 'good')
    await runCommandOf(service, ['api-keys', 'revoke', id])
    const lines = () => printed.mock.calls.map(({ arguments: [line] }) => String(line))
    await eventually('the log says so', () => lines().some((line) => line.endsWith('its key is wrong, or was revoked')))
    t.mock.timers.enable({ apis: ['Date'], now: Date.now() + STALE_MS })
    assert.equal(await judge(token), UNKNOWN)
  })

  test('with a key that lacks the scope, which is printed', async (t) => {
    const printed = t.mock.method(console, 'error', () => {})
    const { key } = await createBackend(service, ['sessions:read'])
    const { token } = await newToken()
    assert.equal(await verifierWith({ apiKey: key }).verdict(token), UNKNOWN)
    assert.match(String(printed.mock.calls[0]?.arguments[0]), /needs the scope revocations:read$/)
    assert.equal(await verifierWith({ apiKey: key, stale: 'accept' }).verdict(token), 'good')
    assert.equal(printed.mock.callCount(), 1)
  })
})

const RESOURCE = 'https://notes.example.com/mcp'
const client = await madeClient(service, { options: ['--scope', 'roles,notes:read'] })

const admitWith = (revocations: Options) => {
  const options = { resource: RESOURCE, issuer: `${service.url}/auth`, url: revocations.url ?? service.url }
  const admit = requireToken({ ...options, revocations: { apiKey, stale: 'refuse', ...revocations } })
  return async (token: string): Promise<[status: number, roles?: string[] | undefined]> => {
    const request = new Request(RESOURCE, { headers: { authorization: `Bearer ${token}` } })
    const refused = await admit(request)
    return refused ? [refused.status] : [200, tokenOf(request).roles]
  }
}

describe('requireToken with the revocation feed', () => {
  const asClient = { client_id: client.id, client_secret: client.secret }

  const grant = async () => {
    const { person, tokens } = await newlyGranted(service, client, 'notes:read roles', { resource: RESOURCE })
    return { person, token: tokens.access, end: () => send(service, 'revoke', { token: tokens.refresh, ...asClient }) }
  }

  test('refuses the token of a grant that has ended, and gives the roles that the user has now', async () => {
    const { person, token, end } = await grant()
    const admit = admitWith({})
    assert.deepEqual(await admit(token), [200, []])
    await setRoles(service, person.email, ['editor'])
    await eventually('the roles are known', async () => (await admit(token))[1]?.join() === 'editor', 10)
    await end()
    await eventually('it is refused', async () => (await admit(token))[0] === 401, 10)
  })

  test('asks svc where there is no feed, with a key that may', async (t) => {
    const printed = t.mock.method(console, 'error', () => {})
    const { token, end } = await grant()
    const { key: asking } = await createBackend(service, ['tokens:introspect'])
    const admit = admitWith({ apiKey: asking, stale: 'ask' })
    assert.deepEqual(await admit(token), [200, []])
    await end()
    assert.deepEqual(await admit(token), [401])
    const { key: neither } = await createBackend(service, ['users:read'])
    assert.deepEqual(await admitWith({ apiKey: neither, stale: 'ask' })(token), [503])
    const lines = printed.mock.calls.map(({ arguments: [line] }) => String(line))
    assert.ok(
      lines.some((line) => line.endsWith('the key needs the scope tokens:introspect')),
      lines.join('\n'),
    )
  })
})
