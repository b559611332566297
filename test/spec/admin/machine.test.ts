// Runs on SQLite.
import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { describe, test, type TestContext } from 'node:test'
import { NAVIGATION, openMachineAdmin, OWN_FORM } from '../../support/admin/machine-admin.ts'
import { afterwards } from '../../support/cleanup.ts'
import { signedUp } from '../../support/client/accounts.ts'
import { createUserAgent } from '../../support/client/user-agent.ts'
import { turnedClock } from '../../support/clock/turned-clock.ts'
import { turnedProcessClock } from '../../support/clock/turned-process-clock.ts'
import { connectRaw } from '../../support/network/raw-connection.ts'
import { freePort } from '../../support/network/free-port.ts'
import { type Environment, spawnSvc } from '../../support/service/command.ts'
import { startService } from '../../support/service/service.ts'
import { eventually } from '../../support/wait.ts'

const MINUTE = 60_000

const service = await startService()
await signedUp(service)

describe('svc admin lets one browser in', () => {
  test('by an address with a random segment, which is good once', async (t) => {
    const admin = await openMachineAdmin(service, { t, entered: false })
    const { entryUrl, base, agent } = admin
    assert.match(entryUrl, /^http:\/\/127\.0\.0\.1:\d+\/[\w-]{22}\/enter\?token=[\w-]{43}$/)
    const entered = await agent.get(entryUrl.slice(agent.url.length), NAVIGATION)
    assert.equal(entered.status, 200)
    assert.match(entered.text, new RegExp(`http-equiv="refresh" content="0;url=${base}/"`))
    const cookie = entered.cookie('svc_admin')
    assert.deepEqual({ ...cookie?.attributes }, { path: `${base}/`, httponly: '', samesite: 'Strict' })
    assert.equal((await admin.open('/')).status, 200)
    const other = createUserAgent({ url: agent.url })
    const again = await other.get(entryUrl.slice(agent.url.length), NAVIGATION)
    assert.equal(again.status, 410)
    assert.deepEqual(again.setCookies, [])
    assert.equal((await other.get(`${base}/`, NAVIGATION)).status, 401)
  })

  test('for five minutes', async (t) => {
    const clock = turnedClock()
    const admin = await openMachineAdmin(service, { t, clock, entered: false })
    await clock.turnTo(5 * MINUTE)
    const late = await admin.agent.get(admin.entryUrl.slice(admin.agent.url.length), NAVIGATION)
    assert.equal(late.status, 410)
    assert.match(late.text, /svc admin/)
  })

  test('and nobody with another token', async (t) => {
    const admin = await openMachineAdmin(service, { t, entered: false })
    for (const token of ['', 'x'.repeat(43)]) assert.equal((await admin.open(`/enter?token=${token}`)).status, 410)
    assert.equal((await admin.open('/enter')).status, 410)
    assert.equal((await admin.open(`/enter?token=a&token=b`)).status, 400)
  })
})

describe('all of it is below the segment', () => {
  test('nothing else of the port is there, and no cookie goes there', async (t) => {
    const admin = await openMachineAdmin(service, { t })
    for (const page of ['/', '/users', '/health', '/auth/login', admin.base, `/${'x'.repeat(22)}/`, `/${admin.base}/`])
      assert.equal((await admin.agent.get(page, NAVIGATION)).status, 404, page)
    assert.equal(admin.agent.cookies.header('/'), undefined)
  })

  test('another host is misdirected, whatever leads to this address', async (t) => {
    const admin = await openMachineAdmin(service, { t })
    const { port } = new URL(admin.agent.url)
    const hosts = [
      'localhost',
      'rebound.example',
      `localhost:${port}`,
      '127.0.0.1',
      `127.0.0.1.:${port}`,
      `[::1]:${port}`,
    ]
    for (const host of hosts) {
      const answer = await admin.open('/', { ...NAVIGATION, host })
      assert.equal(answer.status, 421, host)
      assert.doesNotMatch(answer.text, /<html|Users/)
    }
    const own = `Host: 127.0.0.1:${port}`
    for (const [path, ...lines] of [
      [`${admin.base}/`],
      [`${admin.base}/`, 'Host:'],
      [`${admin.base}/`, own, 'Host: rebound.example'],
      [`${admin.base}/`, own, own],
      [`http://rebound.example${admin.base}/`, own],
      [`${admin.agent.url}${admin.base}/`, own],
    ]) {
      const connection = await connectRaw({ port: Number(port) }, t)
      connection.write([`GET ${path} HTTP/1.1`, ...lines, 'Connection: close', '', ''].join('\r\n'))
      assert.match(await connection.answer(), /^HTTP\/1\.1 4(?:21|00) /, `${path} ${lines.join(' ')}`)
    }
  })

  test('a page of another origin reads and sends nothing', async (t) => {
    const admin = await openMachineAdmin(service, { t })
    const foreign = [
      { 'sec-fetch-site': 'same-site', 'sec-fetch-mode': 'cors', 'sec-fetch-dest': 'empty' },
      { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors', 'sec-fetch-dest': 'script' },
      { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'iframe' },
      { ...OWN_FORM, origin: 'http://127.0.0.1:1' },
      { ...OWN_FORM, origin: 'null' },
    ]
    for (const headers of foreign) assert.equal((await admin.open('/', headers)).status, 403, JSON.stringify(headers))
    const post = { method: 'POST', path: `${admin.base}/invite`, body: 'email=a@b.example' }
    const type = { 'content-type': 'application/x-www-form-urlencoded' }
    for (const site of ['same-site', 'cross-site', 'none', undefined]) {
      const headers = {
        ...type,
        ...(site && { 'sec-fetch-site': site, 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' }),
      }
      assert.equal((await admin.agent.send({ ...post, headers })).status, 403, site)
    }
    const own = await admin.agent.send({ ...post, headers: { ...type, ...OWN_FORM } })
    assert.equal(own.status, 403)
    assert.match(own.text, /too old/)
  })

  test('answers say what browsers may do with them', async (t) => {
    const admin = await openMachineAdmin(service, { t })
    const { headers } = await admin.open('/')
    assert.match(
      String(headers['content-security-policy']),
      /default-src 'none'.*form-action 'self'; frame-ancestors 'none'/,
    )
    assert.equal(headers['cross-origin-opener-policy'], 'same-origin')
    assert.equal(headers['cross-origin-resource-policy'], 'same-origin')
    assert.equal(headers['cache-control'], 'no-store')
    assert.equal(headers['x-content-type-options'], 'nosniff')
    assert.equal(headers['access-control-allow-origin'], undefined)
    const missing = await admin.open('/nothing')
    assert.equal(missing.status, 404)
    assert.equal(missing.headers['content-security-policy'], headers['content-security-policy'])
    const wrong = await admin.agent.send({ method: 'PUT', path: `${admin.base}/`, headers: OWN_FORM })
    assert.deepEqual([wrong.status, wrong.headers.allow], [405, 'GET, HEAD'])
  })
})

test('pages that nobody uses are left alone after 30 minutes; requests without the cookie are no use', async (t) => {
  const clock = turnedClock()
  const admin = await openMachineAdmin(service, { t, clock })
  await clock.turnTo(29 * MINUTE)
  assert.equal((await admin.open('/')).status, 200)
  await clock.turnTo(58 * MINUTE)
  assert.equal(admin.isLeftAlone(), false)
  await createUserAgent({ url: admin.agent.url }).get(`${admin.base}/`, NAVIGATION)
  await clock.turnTo(59 * MINUTE)
  assert.equal(admin.isLeftAlone(), true)
})

test('with --read-only it shows everything, and no form', async (t) => {
  const admin = await openMachineAdmin(service, { t, role: 'look' })
  const users = await admin.open('/')
  assert.doesNotMatch(users.text, /Invite/)
  const [, user = ''] = /href="[^"]*(\/users\/[\w-]+)"/.exec(users.text) ?? []
  const page = await admin.open(user)
  assert.equal(page.status, 200)
  assert.doesNotMatch(page.text, /Disable the account|Delete the account|Change</)
  for (const form of [`${user}/disable`, `${user}/delete`, '/invite', '/events/export']) {
    assert.equal((await admin.open(form)).status, 403, form)
    assert.equal((await admin.submit(form)).status, 403, form)
  }
})

/** A folder with a program that writes down what it is given. */
const fakeOpener = (directory: string): { bin: string; opened: () => string } => {
  const bin = path.join(directory, 'bin')
  mkdirSync(bin)
  const out = path.join(directory, 'opened')
  writeFileSync(path.join(bin, 'xdg-open'), `#!/bin/sh\nprintf %s "$1" >"${out}"\n`, { mode: 0o755 })
  return { bin, opened: () => (existsSync(out) ? readFileSync(out, 'utf8') : '') }
}

const startCommand = async (t: TestContext, args: string[], env: Environment = {}) => {
  const child = spawnSvc({ args: ['admin', ...args], cwd: service.directory, env: { ...service.env, ...env } })
  const output = { stdout: '', stderr: '' }
  child.stdout.on('data', (text: string) => (output.stdout += text))
  child.stderr.on('data', (text: string) => (output.stderr += text))
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve))
  afterwards(t, () => {
    child.kill('SIGKILL')
    return ended
  })
  await eventually('it has printed its address, or has ended', () => output.stdout !== '' || child.exitCode !== null)
  return { child, ended, output, url: new URL(output.stdout.trim() || 'http://127.0.0.1') }
}

describe('the command', () => {
  test('opens a file of its owner that leads there, and names no address to other users of the machine', async (t) => {
    const { bin, opened } = fakeOpener(service.directory)
    const { url, child, ended } = await startCommand(t, ['--open'], { PATH: `${bin}:${process.env.PATH}` })
    await eventually('the browser is called', () => opened() !== '')
    const file = opened()
    assert.doesNotMatch(file, /127\.0\.0\.1/)
    assert.equal(statSync(file).mode & 0o777, 0o600)
    assert.equal(statSync(path.dirname(file)).mode & 0o777, 0o700)
    assert.ok(readFileSync(file, 'utf8').includes(url.href))
    const agent = createUserAgent({ url: url.origin })
    assert.equal((await agent.get(url.pathname + url.search, NAVIGATION)).status, 200)
    await eventually('the file is gone', () => !existsSync(file))
    child.kill('SIGINT')
    assert.equal(await ended, 0)
  })

  test('listens at a port of its own, also when it is to be reached from outside of a container', async (t) => {
    const port = await freePort()
    const { url, child, ended } = await startCommand(t, ['--port', String(port), '--listen', '0.0.0.0', '--read-only'])
    assert.equal(url.origin, `http://127.0.0.1:${port}`)
    const agent = createUserAgent({ url: url.origin })
    await agent.get(url.pathname + url.search, NAVIGATION)
    const home = url.pathname.replace('enter', '')
    assert.match((await agent.get(home, NAVIGATION)).text, /only looks/)
    const taken = await startCommand(t, ['--port', String(port)])
    assert.equal(await taken.ended, 1)
    assert.match(taken.output.stderr, new RegExp(`port ${port} on 127\\.0\\.0\\.1 is taken: give another with --port`))
    child.kill('SIGTERM')
    assert.equal(await ended, 0)
  })

  test('ends by itself when it is left alone', async (t) => {
    const clock = turnedProcessClock(t)
    const { ended, output } = await startCommand(t, [], clock.env)
    await clock.turnTo(31 * MINUTE)
    assert.equal(await ended, 0)
    assert.match(output.stderr, /nobody has used the pages for 30 minutes/)
  })

  test('works without a service, and refuses what is no port', async (t) => {
    await service.stop()
    const { url, child, ended } = await startCommand(t, [])
    assert.equal((await createUserAgent({ url: url.origin }).get(url.pathname + url.search, NAVIGATION)).status, 200)
    child.kill('SIGINT')
    await ended
    assert.equal((await service.cli(['admin', '--port', '0'])).code, 2)
  })
})
