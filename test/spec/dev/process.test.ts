// Runs on SQLite.
import assert from 'node:assert/strict'
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { createUserAgent } from '../../support/client/user-agent.ts'
import { newPerson, signedUp } from '../../support/client/accounts.ts'
import { startDevHere } from '../../support/dev/dev.ts'
import { listensOn } from '../../support/network/free-port.ts'
import { type Environment, spawnSvc } from '../../support/service/command.ts'
import { runCommand } from '../../support/service/warm-command.ts'
import { temporaryDirectory } from '../../support/temporary-directory.ts'
import { eventually, within } from '../../support/wait.ts'

type Running = {
  child: ChildProcessWithoutNullStreams
  output: () => string
  errors: () => string
  /** Temporary files lie here. */
  folder: string
  ended: Promise<number | null>
}

/** Starts the command in a folder of its own. */
const start = (t: TestContext, args: string[], env: Environment = {}): Running => {
  const folder = temporaryDirectory(t)
  const child = spawnSvc({ args: ['dev', ...args], cwd: temporaryDirectory(t), env: { TMPDIR: folder, ...env } })
  t.after(() => child.kill('SIGKILL'))
  let [output, errors] = ['', '']
  child.stdout.on('data', (text: string) => (output += text))
  child.stderr.on('data', (text: string) => (errors += text))
  const ended = once(child, 'close').then(([code]: (number | null)[]) => code ?? null)
  return { child, folder, output: () => output, errors: () => errors, ended }
}

const urlIn = async ({ output }: Running): Promise<string> => {
  const find = () => /http:\/\/[\w.]*localhost:\d+/.exec(output())?.[0]
  await eventually('the first screen', () => /\n\n/.test(output()) || output().includes('"ready"'), 20)
  return find() ?? assert.fail(output())
}

const portOf = (url: string): number => Number(new URL(url).port)

test('the first screen has at most twelve lines, and one for each request, message and event follows', async (t) => {
  const env = { SVC_SMTP_URL: 'smtp://mail.example.com', SVC_API_KEY: 'x' }
  const running = start(t, ['--port', '0', '--app', 'http://localhost:1', '--webhook', 'http://localhost:1/x'], env)
  const url = await urlIn(running)
  const screen = running.output().split('\n\n')[0] ?? ''
  assert.ok(screen.split('\n').length <= 11, screen)
  for (const part of [
    url,
    'http://localhost:1',
    'ada@example.com  ada likes numbers',
    'grace@example.com  grace finds bugs  (role admin)',
    `${url}/auth/dev/mail`,
    `${url}/auth/dev/webhooks, passed on to http://localhost:1/x`,
    'Dev Provider',
    `SVC_URL=${url}`,
    'SVC_API_KEY=svc_sk_',
    'SVC_WEBHOOK_SECRET=whsec_',
    'SVC_SMTP_URL, SVC_API_KEY: svc dev has its own',
  ])
    assert.ok(screen.includes(part), `${part} in\n${screen}`)
  assert.ok(!running.output().includes('\u001b'), 'colours are for terminals')
  const person = newPerson()
  await signedUp({ url }, person)
  await createUserAgent({ url }).get('/notes')
  const lines = () => running.output().split('\n')
  const line = (pattern: RegExp) => lines().filter((each) => pattern.test(each)).length
  await eventually('the lines', () => line(/ mail {4}/) > 0 && line(/ event {3}/) > 2 && line(/\/notes/) > 0, 20)
  assert.equal(line(/ event {3}user\.created {2}\S+ {2}the application did not answer \(ECONNREFUSED\)$/), 3)
  assert.equal(line(/^\d\d:\d\d:\d\d {2}POST {4}\/auth\/signup {2}303 {2}\d+ ms$/), 1)
  assert.equal(line(/^\d\d:\d\d:\d\d {2}GET {5}\/notes {2}502 {2}\d+ ms$/), 1)
  assert.equal(line(new RegExp(`mail {4}${person.email} {2}Confirm .*${url}/auth/dev/mail/1$`)), 1)

  // Its end leaves no process, no file and no port. A page that follows what arrives holds its connection open.
  assert.equal(readdirSync(running.folder).length, 1)
  const following = await fetch(`http://127.0.0.1:${portOf(url)}/auth/dev/events`)
  running.child.kill('SIGINT')
  assert.equal(await within(60, 'the end', running.ended), 0)
  await following.text().catch(() => '')
  assert.deepEqual(readdirSync(running.folder), [])
  assert.equal(await listensOn(portOf(url)), false)
  assert.equal(running.errors(), '')
})

test('two at once: the second one says which port is taken, and leaves nothing behind', async (t) => {
  const { port } = await startDevHere({ t })
  const second = start(t, ['--port', String(port)])
  assert.equal(await second.ended, 1)
  const words = `svc: Port ${port} on 127.0.0.1 is taken by another program: --port 0 takes a free one.\n`
  assert.equal(second.errors(), words)
  assert.deepEqual(readdirSync(second.folder), [])
})

test('Ctrl+C during the start leaves nothing behind', async (t) => {
  const running = start(t, ['--port', '0'])
  while (readdirSync(running.folder).length === 0) await setTimeout(2)
  running.child.kill('SIGINT')
  await running.ended
  assert.deepEqual(readdirSync(running.folder), [])
})

test('with --json, a program reads its address and keys, and what happens, and it ends with the program', async (t) => {
  const folder = temporaryDirectory(t)
  const launcher = path.join(import.meta.dirname, '../../../bin/svc.js')
  const script = `const child = require('node:child_process').spawn(process.execPath,
[${JSON.stringify(launcher)}, 'dev', '--json', '--port', '0'], { stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, SVC_LOG_LEVEL: 'info' } })
child.stdout.pipe(process.stdout)
child.stderr.pipe(process.stderr)`
  const parent = spawn(process.execPath, ['-e', script], {
    env: { PATH: process.env.PATH, TMPDIR: folder },
    cwd: folder,
  })
  t.after(() => parent.kill('SIGKILL'))
  let [output, log] = ['', '']
  parent.stdout.on('data', (text) => (output += String(text)))
  parent.stderr.on('data', (text) => (log += String(text)))
  type Line = Record<string, unknown> & { type: string; url: string; webhook?: { type: string } }
  const lines = (): Line[] =>
    output
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line))
  await eventually('the first line', () => lines().length > 0, 20)
  const [ready = assert.fail()] = lines()
  assert.deepEqual(Object.keys(ready), ['type', 'url', 'users', 'api_key', 'webhook_secret', 'not_used'])
  const grace = { email: 'grace@example.com', password: 'grace finds bugs', roles: ['admin'] }
  assert.deepEqual([ready.type, (ready.users as object[])[1]], ['ready', grace])
  const { person } = await signedUp(ready)
  const has = (found: (line: Line) => unknown) => () => lines().some(found)
  await eventually(
    'the message',
    has(({ type, to, links }) => type === 'mail' && to === person.email && links),
    20,
  )
  await eventually(
    'the event',
    has(({ webhook }) => webhook?.type === 'user.created'),
    20,
  )
  assert.ok(lines().some((line) => line.type === 'request' && line.path === '/auth/signup' && line.status === 303))
  assert.match(log, /"route":"\/auth\/signup"/, 'its log is that of the service')
  parent.kill('SIGKILL')
  await eventually('its end', async () => !(await listensOn(portOf(ready.url))) && readdirSync(folder).length === 0)
})

describe('a command behind --', () => {
  test('finds the address and the keys in its environment, and svc dev ends with it', async (t) => {
    const script = `
fetch(process.env.SVC_URL + '/auth/api/v2/users', { headers: { authorization: 'Bearer ' + process.env.SVC_API_KEY } })
  .then((answer) => answer.json())
  .then(({ users }) => { console.log(users.length, process.env.PORT, process.env.SVC_WEBHOOK_SECRET.slice(0, 6)); process.exit(7) })`
    const running = start(t, ['--port', '0', '--quiet', '--app', '4567', '--', process.execPath, '-e', script])
    assert.equal(await running.ended, 7)
    assert.equal(running.output(), '2 4567 whsec_\n')
    assert.deepEqual(readdirSync(running.folder), [])
  })

  test('ends with svc dev, and one that does not exist is named', async (t) => {
    const script = 'console.log(process.pid); setInterval(() => {}, 1000)'
    const running = start(t, ['--port', '0', '--quiet', '--', process.execPath, '-e', script])
    await eventually('its process', () => running.output() !== '', 20)
    const pid = Number(running.output())
    running.child.kill('SIGINT')
    assert.equal(await running.ended, 0)
    assert.throws(() => process.kill(pid, 0), { code: 'ESRCH' })
    const missing = start(t, ['--port', '0', '--quiet', '--', 'no-such-program'])
    assert.equal(await missing.ended, 127)
    assert.equal(missing.errors(), 'svc: no-such-program cannot be started (ENOENT)\n')
  })
})

test('what it does not take is said without a stack, with the exit code of a mistake', async (t) => {
  const cwd = temporaryDirectory(t)
  const run = (args: string[]) => runCommand({ args: ['dev', ...args], cwd, env: { TMPDIR: cwd } })
  writeFileSync(path.join(cwd, '.env'), 'NODE_ENV=production\nSVC_BASE_URL=https://example.com\n')
  const refused = await run([])
  assert.equal(refused.code, 78)
  assert.match(
    refused.stderr,
    /^svc: NODE_ENV is "production".*\nsvc: SVC_BASE_URL is set: svc dev serves localhost alone\. .*\n$/,
  )
  for (const [option, value] of [
    ['--app', 'localhost:3000'],
    ['--app', 'http://localhost:3000/path'],
    ['--port', '70000'],
    ['--name', 'my.shop'],
    ['--listen', 'example.com'],
    ['--webhook', 'localhost'],
  ] as const) {
    const { code, stderr } = await run([option, value])
    assert.deepEqual([code, stderr.includes(option), / at \S+:\d/.test(stderr)], [2, true, false], stderr)
  }
  assert.deepEqual(readdirSync(cwd), ['.env'])
})
