// Runs on SQLite.
import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, statSync } from 'node:fs'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { after, describe, type TestContext, test } from 'node:test'
import { launchChrome } from '../support/browser/chrome.ts'
import { newPerson } from '../support/client/accounts.ts'
import { madeClient } from '../support/clients/authorization.ts'
import { startCommand } from '../support/examples/examples.ts'
import { canRun, requirePrepared } from '../support/examples/running-example.ts'
import { startGateway, startProgram } from '../support/gateway/gateway.ts'
import { freePort } from '../support/network/free-port.ts'
import { startService } from '../support/service/service.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

const [gateway, app] = [await freePort(), await freePort()]
const url = `http://localhost:${gateway}`
const svc = await startService({
  env: {
    SVC_BASE_URL: url,
    SVC_CLIENTS: 'on',
    SVC_CLIENT_RESOURCES: `${url}/mcp`,
    SVC_CLIENT_SCOPES: 'notes:read=Read your notes,notes:write=Write notes',
  },
})
await startGateway('nginx', { svc: svc.port, app, gateway })
const browser = await launchChrome()
after(() => browser.close())
const person = newPerson()

/** A program with the lines that it prints. */
type Program = { child: ChildProcess; next: () => Promise<string> }

const start = (t: TestContext, name: string, file: string, args: string[], env: Record<string, string>): Program => {
  const child = spawn(process.execPath, [file, ...args], {
    cwd: requirePrepared(name),
    env: { PATH: process.env.PATH, HOME: '/nonexistent', SVC_BASE_URL: url, BROWSER: 'true', ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  t.after(() => child.kill('SIGKILL'))
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  return { child, next: async () => String((await lines.next()).value) }
}

const addressIn = (line: string): string => /^Open (http\S+)$/.exec(line)?.[1] ?? assert.fail(line)

/** Opens the address as a user who signs up or logs in on the way, and allows what is asked. */
const allow = async (address: string): Promise<string> => {
  const context = await browser.newContext()
  const page = await context.newPage()
  await page.goto(address)
  if (!signedUp) await page.locator('a[href^="/auth/signup"]').click()
  const action = signedUp ? '/auth/login' : '/auth/signup'
  const form = page.locator(`form[action="${action}"]`).last()
  const fields = signedUp ? { email: person.email, password: person.password } : { ...person }
  for (const [name, value] of Object.entries(fields)) await form.locator(`input[name="${name}"]`).fill(value)
  await form.locator('button:not([type="button"])').last().click()
  signedUp = true
  const button = page.locator('button[name="allow"][value="1"]')
  await button.waitFor()
  const asked = await page.locator('main').innerText()
  await button.click()
  await page.getByText('You can close this window.').waitFor()
  await context.close()
  return asked
}
let signedUp = false

const newClient = async (name: string, redirect: string): Promise<string> =>
  (await madeClient(svc, { name, redirectUri: redirect, options: ['--type', 'native'] })).id

describe('examples of clients', { concurrency: false }, () => {
  test('examples/mcp: a client of the MCP SDK logs in, and calls the tools that the user has allowed', {
    skip: !canRun('mcp'),
  }, async (t) => {
    const cwd = requirePrepared('mcp')
    const env = { SVC_BASE_URL: url, SVC_URL: svc.url, PORT: String(app) }
    await startProgram(
      startCommand('mcp', app).filter((word) => !word.startsWith('SVC_')),
      { port: app, cwd, env, t },
    )
    const id = await newClient('Terminal', 'http://127.0.0.1/callback')
    const { child, next } = start(t, 'mcp', 'client.js', ['Buy bread'], { CLIENT_ID: id })
    const address = addressIn(await next())
    assert.equal(new URL(address).searchParams.get('resource'), `${url}/mcp`)
    assert.match(await allow(address), /Write notes/)
    assert.deepEqual([await next(), await next()], ['Added.', 'Buy bread'])
    assert.deepEqual(await once(child, 'close'), [0, null])
    const refused = await fetch(`${url}/mcp`, { method: 'POST', headers: { authorization: 'Bearer x' } })
    assert.equal(refused.status, 401)
    assert.match(
      refused.headers.get('www-authenticate') ?? '',
      /oauth-protected-resource\/mcp", scope="notes:read notes:write"/,
    )
  })

  test('examples/command-line: a user logs in once through the browser, and out', {
    skip: !canRun('command-line'),
  }, async (t) => {
    const kept = path.join(temporaryDirectory(t), 'token')
    const env = { CLIENT_ID: await newClient('whoami', 'http://127.0.0.1/callback'), KEPT: kept }
    const first = start(t, 'command-line', 'whoami.js', [], env)
    await allow(addressIn(await first.next()))
    const answer = `${person.username} <${person.email}>`
    assert.equal(await first.next(), answer)
    assert.equal(statSync(kept).mode & 0o777, 0o600)
    for (let times = 0; times < 2; times++) {
      const again = start(t, 'command-line', 'whoami.js', [], env)
      assert.equal(await again.next(), answer, 'by the token that was kept')
    }
    const leaving = start(t, 'command-line', 'whoami.js', ['logout'], env)
    assert.deepEqual(await once(leaving.child, 'close'), [0, null])
    assert.equal(existsSync(kept), false)
    const stranger = start(t, 'command-line', 'whoami.js', [], env)
    addressIn(await stranger.next())
  })
})
