// Runs once, alone.
import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { readdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { after, describe, type TestContext, test } from 'node:test'
import { createAdmin } from '../../sdk/src/admin.ts'
import { createAuth } from '../../sdk/src/server.ts'
import { startSvc } from '../../sdk/src/testing.ts'
import { createUserAgent } from '../support/client/user-agent.ts'
import { listensOn } from '../support/network/free-port.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'
import { eventually } from '../support/wait.ts'

const BIN = path.join(import.meta.dirname, '../../bin/svc.js')
const ENTRY = path.join(import.meta.dirname, '../../sdk/src/testing.ts')
process.env.SVC_BIN = BIN
/** A loaded machine is slow. */
const PATIENT = { timeoutMs: 60_000 }

const svc = await startSvc({ env: { SVC_NAMES: 'optional' } })
after(() => svc.stop())

const portOf = (url: string): number => Number(new URL(url).port)

/** A program that starts svc, prints its address and does what it is told; its temporary files lie in `folder`. */
const startProgram = (t: TestContext, afterStart: string) => {
  const folder = temporaryDirectory(t)
  const code = `import { startSvc } from ${JSON.stringify(ENTRY)}\nconst svc = await startSvc()\nconsole.log(svc.url)\n${afterStart}`
  const program = spawn(process.execPath, ['--input-type=module', '-e', code], {
    env: { PATH: process.env.PATH, SVC_BIN: BIN, TMPDIR: folder },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  t.after(() => program.kill('SIGKILL'))
  return { program, folder }
}

const readLine = async ({ stdout }: ChildProcess): Promise<string> => {
  assert.ok(stdout)
  const [line]: string[] = await once(createInterface({ input: stdout }), 'line')
  return line ?? ''
}

const isGone = async (url: string, folder: string): Promise<boolean> =>
  !(await listensOn(portOf(url))) && readdirSync(folder).length === 0

describe('startSvc', () => {
  test('creates users who can sign in, and whom the application reads', async () => {
    const user = await svc.createUser({
      email: 'mary@example.com',
      username: 'mary',
      name: 'Mary S',
      roles: ['admin', 'editor'],
    })
    const other = await svc.createUser()
    const { cookie, cookies } = await svc.signIn(user)
    const found = await createAuth({ url: svc.url }).getUser({ headers: { cookie } })
    assert.equal(found?.id, user.id)
    assert.deepEqual([found.email, found.username, found.roles], ['mary@example.com', 'mary', ['admin', 'editor']])
    assert.deepEqual([user.name, found.name, other.name], ['Mary S', 'Mary S', null])
    assert.notEqual(other.id, user.id)
    const access = cookies.find(({ name }) => name === 'svc_access')
    assert.ok(access && access.expires > Date.now() / 1000)
    const { value, expires } = access
    const form = { name: 'svc_access', domain: 'localhost', path: '/', httpOnly: true, secure: false, sameSite: 'Lax' }
    assert.deepEqual(access, { ...form, value, expires })
    assert.ok(!cookie.includes('svc_refresh'), 'a browser keeps it from the application')
    assert.ok(cookies.some(({ name, path }) => name === 'svc_refresh' && path === '/auth'))
  })

  test('creates users who are not verified or disabled, keys with scopes, and the server API', async () => {
    const unverified = await svc.createUser({ emailVerified: false, name: 'Grace', roles: ['editor'] })
    const disabled = await svc.createUser({ disabled: true })
    const both = await svc.createUser({ emailVerified: false, disabled: true })
    const auth = createAuth({ url: svc.url })
    const { cookie } = await svc.signIn(unverified)
    const found = await auth.getUser({ headers: { cookie } })
    assert.deepEqual([found?.emailVerified, found?.roles, found?.username], [false, ['editor'], unverified.username])
    assert.deepEqual([found?.name, unverified.name], ['Grace', 'Grace'])
    const verified = await svc.signIn(await svc.createUser())
    assert.equal((await auth.getUser({ headers: { cookie: verified.cookie } }))?.emailVerified, true)
    for (const user of [disabled, both])
      await assert.rejects(svc.signIn(user), /sign-in answered 409: The account of \S+ is disabled/)
    assert.deepEqual(
      [unverified, disabled, both].map((user) => user.disabled),
      [false, true, true],
    )
    const { users, audit } = svc.admin
    assert.deepEqual([(await users.get(both.id)).email_verified, (await users.get(both.id)).disabled], [false, true])
    assert.ok((await audit.list()).events.length > 0)
    const reader = createAdmin({ url: svc.url, apiKey: await svc.createApiKey('users:read') })
    assert.equal((await reader.users.get(disabled.id)).disabled, true)
    await assert.rejects(reader.users.delete(disabled.id), { name: 'AdminError', code: 'forbidden' })
  })

  test('runs svc on the Node that SVC_NODE names, and says so where it is too old', async (t) => {
    const folder = temporaryDirectory(t)
    const node = path.join(folder, 'node')
    writeFileSync(node, '#!/bin/sh\necho "svc needs Node 24.16 or later, and this is v22.23.3." >&2\nexit 78\n', {
      mode: 0o755,
    })
    t.after(() => delete process.env.SVC_NODE)
    process.env.SVC_NODE = node
    await assert.rejects(startSvc(), /svc needs Node 24\.16 or later, and this is v22\.23\.3\.\n.*SVC_NODE: the path/)
    process.env.SVC_NODE = process.execPath
    await using other = await startSvc()
    assert.ok(other.url)
  })

  test('signs in any email, moves the clock past a session, and empties everything', async () => {
    await using other = await startSvc({ env: { SVC_SECOND_FACTOR: 'required' } })
    const { cookie } = await other.signIn({ email: 'new@example.com' })
    const auth = createAuth({ url: other.url })
    const emailNow = async () => (await auth.getUser({ headers: { cookie } }))?.email
    assert.equal(await emailNow(), 'new@example.com')
    await assert.rejects(other.signIn({ email: 'new' }), /sign-in answered 422: The field "email" must be an email/)
    await other.moveClock('15m')
    assert.equal(await emailNow(), undefined)
    await other.webhooks.waitFor(({ type }) => type === 'user.created', PATIENT)
    await other.reset()
    assert.deepEqual(
      [other.messages, other.webhooks].map(({ length }) => length),
      [0, 0],
    )
    const { users } = await other.admin.users.list()
    assert.deepEqual(users.map(({ email }) => email).toSorted(), ['ada@example.com', 'grace@example.com'])
  })

  test('keeps the events and the messages of svc', async () => {
    const user = await svc.createUser()
    const created = await svc.webhooks.waitFor(({ data }) => data.user_id === user.id, PATIENT)
    assert.equal(created.type, 'user.created')
    assert.deepEqual(JSON.parse(created.body).data, created.data)
    const agent = createUserAgent(svc)
    await agent.post('/auth/password/forgot', { email: user.email })
    const message = await svc.messages.waitFor(({ to }) => to === user.email, PATIENT)
    assert.match(message.subject, /password/i)
    assert.match(message.from, /svc@example\.com/)
    const { link = '', code } = message
    assert.equal(code, undefined)
    assert.ok(link.startsWith(`${svc.url}/auth/password/reset?token=`))
    assert.ok(message.html.includes('</'))
    assert.equal((await agent.get(link.slice(svc.url.length))).status, 200)
    await assert.rejects(
      svc.messages.waitFor(() => false, { timeoutMs: 20 }),
      /no such message within 20 ms/,
    )
  })

  test('gives the code and the link of a login by mail', async () => {
    await using byMail = await startSvc({ env: { SVC_EMAIL_SIGN_IN: 'on' } })
    const user = await byMail.createUser()
    const agent = createUserAgent(byMail)
    await agent.post('/auth/login/email', { email: user.email })
    const { code = '', link = '' } = await byMail.messages.waitFor(({ to }) => to.includes(user.email), PATIENT)
    assert.ok(link.startsWith(`${byMail.url}/auth/login/email/link?token=`), link)
    assert.equal((await agent.get(link.slice(byMail.url.length))).status, 200)
    assert.equal((await agent.post('/auth/login/email/code', { code })).status, 303)
    assert.equal((await agent.get('/auth/api/v1/user')).status, 200)
  })

  test('takes settings, an application and its receiver, and runs beside another one', async (t) => {
    const events: string[] = []
    const app = createServer(async (request, response) => {
      if (request.method === 'POST') events.push(JSON.parse(await text(request)).type)
      response.end('the application')
    }).listen(0, '127.0.0.1')
    t.after(() => app.close().closeAllConnections())
    await once(app, 'listening')
    const origin = `http://127.0.0.1:${(app.address() as AddressInfo).port}`
    await using other = await startSvc({ app: origin, webhook: `${origin}/webhooks`, env: { SVC_APP_NAME: 'Notes' } })
    assert.equal(await (await fetch(other.url)).text(), 'the application')
    assert.match(await (await fetch(`${other.url}/auth/login`)).text(), /Notes/)
    await eventually('the events', async () => events.includes('user.created'))
    assert.notEqual(other.url, svc.url)
    await eventually('its log', () => /"route":"\/auth\/login"/.test(other.logs()))
    assert.doesNotMatch(other.logs(), /is not a setting/)
  })

  test('says what svc says about wrong settings, and where it was looked for', async () => {
    await assert.rejects(
      startSvc({ env: { SVC_SESSION_TTL: 'soon' } }),
      /did not start \(exit 78\):[^]*SVC_SESSION_TTL/,
    )
    await assert.rejects(startSvc({ env: { SVC_SMTP_URL: 'smtp://localhost' } }), /startSvc does not take SVC_SMTP_URL/)
    await assert.rejects(startSvc({ env: { SVC_BASE_URL: 'https://example.com' } }), /SVC_BASE_URL is set: svc dev/)
    process.env.SVC_BIN = '/nowhere/svc.js'
    await assert.rejects(startSvc(), /SVC_BIN names no file: \/nowhere\/svc\.js/)
    process.env.SVC_BIN = BIN
  })
})

describe('svc leaves nothing behind', () => {
  test('when it is stopped', async (t) => {
    const { program, folder } = startProgram(t, 'await svc.stop(); process.stdin.resume()')
    const url = await readLine(program)
    await eventually('svc has ended', () => isGone(url, folder))
  })

  test('when the test process is killed', async (t) => {
    const { program, folder } = startProgram(t, 'process.stdin.resume()')
    const url = await readLine(program)
    assert.equal(await listensOn(portOf(url)), true)
    assert.equal(readdirSync(folder).length, 1)
    program.kill('SIGKILL')
    await eventually('svc has ended', () => isGone(url, folder))
  })

  test('when the test process ends without a word, which it does not keep from ending', async (t) => {
    const { program, folder } = startProgram(t, 'const user = await svc.createUser(); await svc.signIn(user)')
    const ended = once(program, 'exit')
    const url = await readLine(program)
    assert.deepEqual(await ended, [0, null])
    await eventually('svc has ended', () => isGone(url, folder))
  })
})
