// Runs on SQLite.
import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import { describe, type TestContext, test } from 'node:test'
import { WebSocket } from 'ws'
import { currentUser, logOut, signedUp } from '../support/client/accounts.ts'
import { createBackend } from '../support/client/backend.ts'
import { createUserAgent } from '../support/client/user-agent.ts'
import { openDatabase } from '../support/database/database.ts'
import { newKey, ORIGIN, publishKeys, sign } from '../support/sdk/published-keys.ts'
import { startService } from '../support/service/service.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

const ROOT = path.join(import.meta.dirname, '../..')
const NAVIGATE = { 'sec-fetch-mode': 'navigate' }

const service = await startService()
const { agent, person } = await signedUp(service)
const cookie = agent.cookies.header('/') ?? ''

/** Of a user who has proved a second factor. */
const { agent: strong } = await signedUp(service)
const strongCookie = strong.cookies.header('/') ?? ''
const database = await openDatabase(service)
const { id: strongId } = await currentUser(strong)
await database.rows('UPDATE sessions SET amr = ? WHERE user_id = ? RETURNING id', 'swk mfa', strongId)

/** The first program of a document that imports this of the SDK; it asks the service of this test. */
const programOf = (document: string, imported = "'@svc/sdk/"): string => {
  const programs = readFileSync(path.join(ROOT, document), 'utf8').matchAll(/```js\n([^]*?)```/g)
  const code = [...programs].map(([, program = '']) => program).find((program) => program.includes(imported))
  assert.ok(code, document)
  return code.replace('http://127.0.0.1:8080', service.url)
}

const snippetOf = (entry: string): string => programOf(`sdk/docs/${entry}.md`)

type Program = { t: TestContext; code: string; env?: Record<string, string>; args?: string[] }

/** Starts a program in a folder of its own, where the packages of this repository are installed. */
const start = ({ t, code, env = {}, args = [] }: Program): ChildProcess => {
  const folder = temporaryDirectory(t)
  symlinkSync(path.join(ROOT, 'node_modules'), path.join(folder, 'node_modules'))
  const file = path.join(folder, 'program.mjs')
  writeFileSync(file, code)
  const program = spawn(process.execPath, ['--conditions=@svc/source', ...args, file], {
    env: { PATH: process.env.PATH, NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE, SVC_URL: service.url, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  t.after(() => program.kill('SIGKILL'))
  return program
}

const run = async (program: Program): Promise<string> => {
  const child = start(program)
  const [output, [code]] = await Promise.all([text(child.stdout ?? assert.fail()), once(child, 'close')])
  assert.equal(code, 0, output)
  return output
}

/** How each framework begins to listen; the last line of a program. */
const LISTEN: Record<string, string> = {
  express: 'const server = app.listen(0, () => console.log(server.address().port))',
  fastify: 'await app.listen({ port: 0 }); console.log(app.server.address().port)',
  hono: `import { serve } from '@hono/node-server'\nserve({ fetch: app.fetch, port: 0 }, ({ port }) => console.log(port))`,
}

describe('the documents of the SDK', () => {
  for (const [entry, listen] of Object.entries(LISTEN)) {
    test(`${entry}.md has an application that greets its users`, async (t) => {
      const { stdout } = start({ t, code: snippetOf(entry) + listen })
      const [port]: string[] = await once(createInterface({ input: stdout ?? assert.fail() }), 'line')
      const application = createUserAgent({ url: `http://localhost:${port}` })
      assert.equal((await application.get('/members', { cookie })).text, `Hello ${person.username}`)
      const visitor = await application.get('/members?a=1', NAVIGATE)
      assert.deepEqual([visitor.status, visitor.location], [303, '/auth/login?return_to=%2Fmembers%3Fa%3D1'])
      assert.equal((await application.get('/', { cookie })).text, 'Welcome back')
      assert.notEqual((await application.get('/')).text, 'Welcome back')
    })
  }

  test('README.md of the repository has an application that runs', async (t) => {
    const listen = 'const server = app.listen(0, () => console.log(server.address().port))'
    const { stdout } = start({ t, code: programOf('README.md').replace('app.listen(3000)', listen) })
    const [port]: string[] = await once(createInterface({ input: stdout ?? assert.fail() }), 'line')
    const application = createUserAgent({ url: `http://localhost:${port}` })
    assert.equal((await application.get('/members', { cookie })).text, `Hello ${person.username}`)
    assert.equal((await application.get('/members', NAVIGATE)).location, '/auth/login?return_to=%2Fmembers')
    assert.equal((await application.get('/')).status, 200)
  })

  test('read-the-user.md has a handler that runs', async (t) => {
    const after = `
      const ask = (cookie) => handle(new Request('http://localhost/members?a=1', { headers: { cookie } }))
      const [user, visitor] = [await ask(${JSON.stringify(cookie)}), await ask('')]
      console.log(JSON.stringify([await user.text(), visitor.status, visitor.headers.get('location')]))`
    const output = await run({ t, code: programOf('docs/read-the-user.md') + after })
    assert.deepEqual(JSON.parse(output), [`Hello ${person.username}`, 303, '/auth/login?return_to=%2Fmembers%3Fa%3D1'])
  })

  test('server.md has what finds the user', async (t) => {
    const before = `const request = { headers: { cookie: ${JSON.stringify(cookie)} }, url: '/members?page=2' }\n`
    const after = 'console.log(JSON.stringify([user, auth.loginUrl(request), SvcUnavailableError.name]))'
    const output = await run({ t, code: before + snippetOf('server') + after })
    const login = '/auth/login?return_to=%2Fmembers%3Fpage%3D2'
    const [user, ...others] = JSON.parse(output)
    const { amr, authTime, sid, emailVerified, ...account } = user
    assert.deepEqual([account, amr, typeof authTime], [await currentUser(agent), ['pwd'], 'number'])
    assert.deepEqual([typeof sid, emailVerified], ['string', false])
    assert.deepEqual(others, [login, 'SvcUnavailableError'])
    assert.ok(readFileSync(path.join(ROOT, 'sdk/docs/server.md'), 'utf8').includes(`\`${login}\``))
  })

  test('server.md has a page that asks for a second factor', async (t) => {
    const after = `
      const ask = async (cookie) => {
        const answer = await showPayments(new Request('http://localhost/payments?a=1', { headers: { cookie } }))
        return [answer.status, answer.headers.get('location') ?? await answer.text()]
      }
      console.log(JSON.stringify([await ask(''), await ask(${JSON.stringify(cookie)}), await ask(${JSON.stringify(strongCookie)})]))`
    const output = await run({ t, code: programOf('sdk/docs/server.md', 'hasMfa') + after })
    assert.deepEqual(JSON.parse(output), [
      [303, '/auth/login?return_to=%2Fpayments%3Fa%3D1'],
      [303, '/auth/account/confirm?return_to=%2Fpayments%3Fa%3D1&acr=mfa'],
      [200, 'Payments'],
    ])
  })

  test('server.md has a watch that ends a connection with its session', async (t) => {
    const leaving = await signedUp(service)
    const { stdout } = await service.cli(['api-keys', 'create', 'watch', '--scope', 'sessions:read'])
    const code = programOf('sdk/docs/server.md', 'watchSession').replace('10_000', '10')
    const after = `
      const headers = { cookie: ${JSON.stringify(leaving.agent.cookies.header('/'))} }
      const user = await auth.getUser({ headers })
      watchSession(user, () => console.log('ended'))
      console.log('watching')`
    const child = start({ t, code: code + after, env: { SVC_API_KEY: stdout.trim() } })
    const lines = createInterface({ input: child.stdout ?? assert.fail() })[Symbol.asyncIterator]()
    assert.equal((await lines.next()).value, 'watching')
    await logOut(leaving.agent)
    assert.equal((await lines.next()).value, 'ended')
    assert.deepEqual(await once(child, 'close'), [0, null])
  })

  test('server.md has a verification that refuses what has ended', async (t) => {
    const leaving = await signedUp(service)
    const env = { SVC_BASE_URL: service.url, SVC_API_KEY: (await createBackend(service, ['revocations:read'])).key }
    const after = `
      const request = { headers: { cookie: ${JSON.stringify(leaving.agent.cookies.header('/'))} } }
      console.log((await readClaims(request)).sub)
      while (await readClaims(request).catch(({ name }) => console.log(name)))
        await new Promise((resolve) => setTimeout(resolve, 10))`
    const { id } = await currentUser(leaving.agent)
    const child = start({ t, code: programOf('sdk/docs/server.md', 'readClaims') + after, env })
    const lines = createInterface({ input: child.stdout ?? assert.fail() })[Symbol.asyncIterator]()
    assert.equal((await lines.next()).value, id)
    await logOut(leaving.agent)
    assert.equal((await lines.next()).value, 'AccessTokenError')
    assert.deepEqual(await once(child, 'close'), [0, null])
  })

  test('server.md has a server of WebSockets that end with their sessions', async (t) => {
    const leaving = await signedUp(service)
    const { key } = await createBackend(service, ['revocations:read'])
    const code = programOf('sdk/docs/server.md', 'handleUpgrade')
    const listen = 'server.listen(0, () => console.log(server.address().port))'
    const { stdout } = start({ t, code: code + listen, env: { SVC_API_KEY: key } })
    const [port]: string[] = await once(createInterface({ input: stdout ?? assert.fail() }), 'line')
    const open = (headers: Record<string, string>) => new WebSocket(`ws://127.0.0.1:${port}`, { headers })
    const origin = `http://127.0.0.1:${port}`
    const cookies = { cookie: leaving.agent.cookies.header('/') ?? '' }
    for (const [headers, status] of [
      [{ origin }, 401],
      [{ ...cookies, origin: `${origin}0` }, 403],
      [cookies, 403],
    ] as const) {
      const [error] = await once(
        open(headers).once('open', () => assert.fail()),
        'error',
      )
      assert.equal((error as Error).message, `Unexpected server response: ${status}`)
    }
    const socket = open({ ...cookies, origin })
    await once(socket, 'open')
    await logOut(leaving.agent)
    assert.equal((await once(socket, 'close'))[0], 4401)
  })

  test('admin.md has what makes and lists users', async (t) => {
    const { stdout } = await service.cli(['api-keys', 'create', 'backend', '--scope', 'users:write'])
    const output = await run({ t, code: snippetOf('admin'), env: { SVC_API_KEY: stdout.trim() } })
    assert.equal(output, 'ada@example.com\nemail is taken\n')
  })

  test('resource.md has two servers that take tokens of clients', async (t) => {
    const key = await newKey('key')
    const claims = { iss: `${ORIGIN}/auth`, aud: `${ORIGIN}/mcp`, client_id: 'agent', scope: 'notes:read' }
    const authorization = `Bearer ${await sign(key, claims)}`
    const env = { SVC_URL: (await publishKeys(t, [key])).url, SVC_BASE_URL: ORIGIN }
    const { stdout } = start({ t, code: snippetOf('resource') + LISTEN.express, env })
    const [port]: string[] = await once(createInterface({ input: stdout ?? assert.fail() }), 'line')
    const server = createUserAgent({ url: `http://localhost:${port}` })
    assert.deepEqual((await server.get('/mcp', { authorization })).json(), { user: 'user', client: 'agent' })
    const refused = await server.get('/mcp')
    const [, metadata] = /resource_metadata="([^"]+)"/.exec(String(refused.headers['www-authenticate'])) ?? []
    const document = await server.get(new URL(metadata ?? '').pathname)
    assert.deepEqual([refused.status, document.json<{ resource: string }>().resource], [401, claims.aud])

    const after = `
      const ask = async (headers) => {
        const answer = await fetch(new Request('${ORIGIN}/mcp', { headers }))
        return [answer.status, await answer.json()]
      }
      console.log(JSON.stringify([await ask({ authorization: '${authorization}' }), (await ask({}))[0]]))`
    const code = programOf('sdk/docs/resource.md', 'import { authorizationServer')
    assert.deepEqual(JSON.parse(await run({ t, code: code + after, env })), [[200, { user: 'user' }], 401])
  })

  test('testing.md has a test that passes', async (t) => {
    const env = { SVC_BIN: path.join(ROOT, 'bin/svc.js') }
    const output = await run({ t, code: snippetOf('testing'), env, args: ['--test-reporter=tap'] })
    assert.match(output, /^ok 1 - knows who is signed in, until the session ends$/m)
  })
})
