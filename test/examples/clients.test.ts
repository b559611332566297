// Runs on SQLite, alone.
import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, statSync } from 'node:fs'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { after, describe, type TestContext, test } from 'node:test'
import { Client, StreamableHTTPClientTransport, UnauthorizedError } from '@modelcontextprotocol/client'
import { addAuthenticator } from '../support/browser/authenticator.ts'
import { launchChrome } from '../support/browser/chrome.ts'
import { type BrowserWindow, logInInWindow, openRowOf, openWindow, signUpInWindow } from '../support/browser/window.ts'
import { currentUser, loggedIn, newAgent, newPerson, type Person, signUp } from '../support/client/accounts.ts'
import { createBackend } from '../support/client/backend.ts'
import { allowAfterLogin, madeClient } from '../support/clients/authorization.ts'
import { startDocumentHost } from '../support/clients/document-host.ts'
import { createProgram } from '../support/clients/mcp-program.ts'
import { userInfo } from '../support/clients/tokens.ts'
import { PYTHON_PACKAGES, startCommand } from '../support/examples/examples.ts'
import { canRun, requirePrepared } from '../support/examples/running-example.ts'
import { startGateway, startProgram } from '../support/gateway/gateway.ts'
import { freePort } from '../support/network/free-port.ts'
import { setUpApp } from '../support/second-factor/guarded-account.ts'
import { openOperator } from '../support/service/replicas.ts'
import { startService } from '../support/service/service.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'
import { eventually } from '../support/wait.ts'

const [gateway, app] = [await freePort(), await freePort()]
const url = `http://localhost:${gateway}`
const svc = await startService({
  env: {
    SVC_BASE_URL: url,
    SVC_CLIENTS: 'on',
    SVC_CLIENT_HOSTS: 'localhost',
    SVC_CLIENT_REGISTRATION: 'on',
    SVC_CLIENT_RESOURCES: `${url}/mcp`,
    SVC_CLIENT_SCOPES: 'notes:read=Read your notes,notes:write=Write notes',
  },
})
await startGateway('nginx', { svc: svc.port, app, gateway })
if (canRun('mcp')) {
  const command = startCommand('mcp', app).filter((word) => !word.startsWith('SVC_'))
  const { key: SVC_API_KEY } = await createBackend(svc, ['revocations:read', 'tokens:introspect'])
  const env = { SVC_BASE_URL: url, SVC_URL: svc.url, SVC_API_KEY, PORT: String(app) }
  await startProgram(command, { port: app, cwd: requirePrepared('mcp'), env })
}
const browser = await launchChrome()
after(() => browser.close())

/** Any other error is one of the test. */
const isUnauthorized = (error: unknown): boolean => {
  if (error instanceof UnauthorizedError) return true
  throw error
}

/** A program with the lines that it prints. */
type Program = { child: ChildProcess; next: () => Promise<string> }

const start = (t: TestContext, name: string, args: string[], env: Record<string, string> = {}): Program => {
  const program = name.endsWith('python') ? 'python3' : process.execPath
  const child = spawn(program, args, {
    cwd: requirePrepared(name),
    env: {
      PYTHONPATH: PYTHON_PACKAGES,
      PATH: process.env.PATH,
      HOME: '/nonexistent',
      SVC_BASE_URL: url,
      BROWSER: 'true',
      ...env,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  t.after(() => child.kill('SIGKILL'))
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  return { child, next: async () => String((await lines.next()).value) }
}

const addressIn = (line: string): string => /^Open (http\S+)$/.exec(line)?.[1] ?? assert.fail(line)

/** Opens the address in a browser as a user who signs up on the way, and allows what is asked. */
const allow = async (address: string): Promise<string> => {
  const context = await browser.newContext()
  const page = await context.newPage()
  await page.goto(address)
  await page.locator('a[href^="/auth/signup"]').click()
  const form = page.locator('form[action="/auth/signup"]').last()
  for (const [name, value] of Object.entries(newPerson())) await form.locator(`input[name="${name}"]`).fill(value)
  await form.locator('button:not([type="button"])').last().click()
  const button = page.locator('button[name="allow"][value="1"]')
  await button.waitFor()
  const asked = await page.locator('main').innerText()
  await button.click()
  await page.getByText('You can close this window.').waitFor()
  await context.close()
  return asked
}

const newAccount = async (): Promise<Person> => {
  const person = newPerson()
  await signUp(newAgent({ url }), person)
  return person
}

/** The same by forms, as a user who logs in on the way. */
const allowByForms = async (address: string, person: Person): Promise<void> => {
  const answer = await allowAfterLogin(newAgent({ url }), new URL(address), person)
  await fetch(String(answer.headers.refresh).replace(/^0;url=/, ''))
}

const newClient = async (name: string, redirect: string): Promise<string> =>
  (await madeClient(svc, { name, redirectUri: redirect, options: ['--type', 'native'] })).id

/** Has the example list the notes, and again when the access token has run out. */
const REFRESHING = `
import asyncio, sys, client

async def use(client_id):
    auth = await client.create_auth(client_id)
    await client.use_notes(auth)
    first = auth.context.current_tokens.refresh_token
    auth.context.token_expiry_time = 1
    await client.use_notes(auth)
    print("refreshed" if auth.context.current_tokens.refresh_token != first else "the same", flush=True)

async def main():
    for client_id in sys.argv[1:]:
        await use(client_id)

asyncio.run(main())
`

const REDIRECT = 'http://127.0.0.1:49152/callback'
const documents = await startDocumentHost()

/** How svc knows a program of the MCP SDK, by the name that the user reads. */
const PROGRAMS: Record<string, () => Promise<[name: string, program: ReturnType<typeof createProgram>]>> = {
  'a client made by command': async () => {
    const client = { client_id: await newClient('Made', 'http://127.0.0.1/callback'), issuer: `${url}/auth` }
    return ['Made', createProgram(REDIRECT, { client })]
  },
  'a metadata document': async () => {
    const documentUrl = documents.publish('browser', { client_name: 'Documented' })
    return ['Documented', createProgram(REDIRECT, { documentUrl })]
  },
  registration: async () => ['Agent', createProgram(REDIRECT, {})],
}

/** Makes an account; resolves to what its user does at the login page. */
const LOGINS: Record<string, (visitor: BrowserWindow) => Promise<() => Promise<void>>> = {
  'a password': async (visitor) => {
    const person = await newAccount()
    return () => logInInWindow(visitor, person)
  },
  'a second factor': async (visitor) => {
    const person = await newAccount()
    const { id: userId } = await currentUser(await loggedIn({ url }, person))
    const app = await setUpApp(await openOperator(svc), { userId, email: person.email })
    return async () => {
      await logInInWindow(visitor, person)
      await visitor.submit('/auth/login/code', { code: app.nextCode() })
    }
  },
  'a passkey': async (visitor) => {
    const { page } = visitor
    await addAuthenticator(page)
    await visitor.open('/auth/signup?return_to=%2Fauth%2Faccount')
    await signUpInWindow(visitor, newPerson())
    const button = page.locator('[data-passkey] button')
    await openRowOf(button)
    await Promise.all([page.waitForURL(/done=passkey_added|second-factor/), button.click()])
    await visitor.open('/auth/account')
    await visitor.submit('/auth/logout', {})
    // The browser offers it by itself, and the user has it at hand.
    return () => page.waitForURL('**/auth/oauth2/authorize**')
  },
}

describe('examples of clients', { concurrency: false }, () => {
  test('examples/mcp: a client of the MCP SDK logs in, and calls the tools that the user has allowed', {
    skip: !canRun('mcp'),
  }, async (t) => {
    const id = await newClient('Terminal', 'http://127.0.0.1/callback')
    const { child, next } = start(t, 'mcp', ['client.js', 'Buy bread'], { CLIENT_ID: id })
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

  // Each way to be known, and each way to log in, once.
  const logins = Object.entries(LOGINS)
  for (const [at, [known, prepare]] of Object.entries(PROGRAMS).entries()) {
    const [login, enter] = logins[at] ?? assert.fail()
    test(`examples/mcp: known by ${known}, a program of the MCP SDK is let in with ${login}, refreshes, and is disconnected`, {
      skip: !canRun('mcp'),
    }, async () => {
      const [name, { kept, provider }] = await prepare()
      const visitor = await openWindow(browser, { url }, { isEverywhere: true })
      const { page } = visitor
      const logIn = await enter(visitor)
      const connect = async () => {
        const client = new Client({ name, version: '1.0.0' })
        const transport = new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { authProvider: provider })
        await client.connect(transport)
        return client
      }
      await assert.rejects(connect(), UnauthorizedError)
      await page.goto(kept.address?.href ?? assert.fail('no address'))
      await logIn()
      const allow = page.getByRole('button', { name: 'Allow', exact: true })
      await allow.waitFor()
      assert.match(await page.locator('main').innerText(), new RegExp(`calls itself “${name}”`))
      await allow.click()
      await page.waitForURL((address) => address.href.startsWith(`${REDIRECT}?`))
      const finishing = new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { authProvider: provider })
      await finishing.finishAuth(new URL(page.url()).searchParams)

      const client = await connect()
      const call = async () => (await client.callTool({ name: 'list_notes' })).content
      const none = [{ type: 'text', text: 'There are no notes.' }]
      assert.deepEqual(await call(), none)
      /** As if its time had run out. */
      const spoilToken = (): string => {
        const tokens = kept.tokens ?? assert.fail('no tokens')
        kept.tokens = { ...tokens, access_token: 'spoilt' }
        return tokens.refresh_token ?? ''
      }
      const first = spoilToken()
      assert.deepEqual(await call(), none, 'after a refresh')
      assert.notEqual(kept.tokens?.refresh_token, first)

      const { access_token: last = '' } = kept.tokens ?? {}
      await page.goto(`${url}/auth/account`)
      await page.getByRole('button', { name: `Disconnect ${name}` }).click()
      await page.getByText('No application has access to your account.').waitFor()
      assert.equal((await userInfo({ url }, last)).body.error, 'invalid_token', 'svc refuses it at once')
      delete kept.address
      // The server learns of it within a second, although the token has not run out; svc refuses its renewal.
      await eventually('a refused call', () => call().then(() => false, isUnauthorized))
      assert.ok(kept.address, 'the user would be asked again')
      assert.deepEqual(visitor.complaints, [])
      await visitor.context.close()
    })
  }

  test('examples/command-line: a user logs in once, and out', {
    skip: !canRun('command-line'),
  }, async (t) => {
    const kept = path.join(temporaryDirectory(t), 'token')
    const env = { CLIENT_ID: await newClient('whoami', 'http://127.0.0.1/callback'), KEPT: kept }
    const first = start(t, 'command-line', ['whoami.js'], env)
    const person = await newAccount()
    await allowByForms(addressIn(await first.next()), person)
    const answer = `${person.username} <${person.email}>`
    assert.equal(await first.next(), answer)
    assert.equal(statSync(kept).mode & 0o777, 0o600)
    for (let times = 0; times < 2; times++) {
      const again = start(t, 'command-line', ['whoami.js'], env)
      assert.equal(await again.next(), answer, 'by the token that was kept')
    }
    const leaving = start(t, 'command-line', ['whoami.js', 'logout'], env)
    assert.deepEqual(await once(leaving.child, 'close'), [0, null])
    assert.equal(existsSync(kept), false)
    const stranger = start(t, 'command-line', ['whoami.js'], env)
    addressIn(await stranger.next())
  })

  test('examples/mcp-client-python: a client of the SDK for Python is let in, and refreshes, whichever way it is known', {
    skip: !canRun('mcp') || !canRun('mcp-client-python'),
  }, async (t) => {
    const reader = await newAccount()
    const registered = start(t, 'mcp-client-python', ['client.py', 'Buy milk'])
    await allowByForms(addressIn(await registered.next()), reader)
    assert.deepEqual([await registered.next(), await registered.next()], ['Added.', 'Buy milk'])
    const made = await newClient('Python', 'http://127.0.0.1/callback')
    const document = documents.publish('python')
    const { child, next } = start(t, 'mcp-client-python', ['-c', REFRESHING, made, document])
    for (const id of [made, document]) {
      const address = addressIn(await next())
      assert.equal(new URL(address).searchParams.get('client_id'), id)
      await allowByForms(address, reader)
      assert.deepEqual([await next(), await next(), await next()], ['Buy milk', 'Buy milk', 'refreshed'])
    }
    assert.deepEqual(await once(child, 'close'), [0, null])
  })
})
