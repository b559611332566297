// Runs on SQLite.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import path from 'node:path'
import { text } from 'node:stream/consumers'
import { describe, test } from 'node:test'
import { promisify } from 'node:util'
import { createBackend } from '../support/client/backend.ts'
import { newAgent, newPerson, signedUp, signUp } from '../support/client/accounts.ts'
import { createUserAgent } from '../support/client/user-agent.ts'
import { EXAMPLES_FOLDER } from '../support/examples/examples.ts'
import { canRun } from '../support/examples/running-example.ts'
import { signedHeaders } from '../support/examples/signed-event.ts'
import { startProgram } from '../support/gateway/gateway.ts'
import { freePort } from '../support/network/free-port.ts'
import { startService } from '../support/service/service.ts'
import { requireSnippet, snippetsOf } from '../support/snippets.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

const svc = await startService()
const cwd = temporaryDirectory()
const SVC = `http://127.0.0.1:${svc.port}`
const ADA = { ...newPerson(), email: 'ada@example.com', password: 'four unrelated words', username: 'ada' }
const { agent: ada } = await signedUp(svc, ADA)

/** Writes a program of a document for the service of this file. */
const write = (name: string, code: string): string => {
  const file = path.join(cwd, name)
  writeFileSync(file, code.replaceAll('http://127.0.0.1:8080', SVC).replaceAll('http://localhost:8080', svc.url))
  return file
}

/** Runs lines of a document in a shell that stops at the first failure. Resolves to what they print. */
const shell = async (code: string, env: Record<string, string> = {}): Promise<string> => {
  const file = write('lines.sh', code.replaceAll('curl ', 'curl --fail-with-body -sS '))
  const { stdout } = await promisify(execFile)('bash', ['-euo', 'pipefail', file], {
    cwd,
    env: { ...process.env, ...env },
  })
  return stdout
}

describe('curl', () => {
  for (const document of canRun('curl') ? ['README.md', 'docs/start.md'] : []) {
    test(`${document}: the lines that log in with curl print the user`, async () => {
      const printed = await shell(requireSnippet(document, 'B=http'))
      assert.equal(JSON.parse(printed.slice(printed.indexOf('{'))).email, ADA.email)
    })
  }

  if (canRun('curl')) {
    test('docs/server-api.md and docs/audit.md: each request succeeds', async () => {
      const one = await signedUp(svc)
      const other = await signedUp(svc)
      // Their session is ended by nothing but its own request.
      const third = await signedUp(svc)
      const user = (await one.agent.get('/auth/api/v1/user')).json<{ id: string }>()
      const otherUser = (await other.agent.get('/auth/api/v1/user')).json<{ id: string }>()
      const { key } = await createBackend(svc, [
        'users:write',
        'credentials:write',
        'sessions:read',
        'sessions:write',
        'audit:read',
      ])
      const { headers } = await third.agent.get('/auth/api/v1/user')
      const env = {
        API_KEY: key,
        USER_ID: user.id,
        OTHER_USER_ID: otherUser.id,
        SESSION_ID: String(headers['x-svc-user-sid']),
        REQUEST_ID: 'request-1',
      }
      const requests = [...snippetsOf('docs/audit.md'), ...snippetsOf('docs/server-api.md')].filter(({ code }) =>
        code.startsWith('curl '),
      )
      assert.ok(requests.length > 0)
      for (const { code } of requests) await shell(code, env)
    })
  }
})

test('README.md: the application says hello behind the proxy for development, and sends visitors to the login page', async () => {
  const [app, proxy] = [await freePort(), await freePort()]
  const code = requireSnippet('README.md', "import { createServer } from 'node:http'").replace('3000', String(app))
  await startProgram([process.execPath, write('hello.mjs', code)], { port: app, cwd })
  const env = { PORT: String(app), SVC_PORT: String(svc.port), PROXY_PORT: String(proxy) }
  await startProgram([process.execPath, path.join(EXAMPLES_FOLDER, 'proxy.mjs')], { port: proxy, cwd, env })
  const visitor = createUserAgent({ url: `http://localhost:${proxy}` })
  const refused = await visitor.get('/a?b=c&d')
  assert.deepEqual([refused.status, refused.location], [303, '/auth/login?return_to=%2Fa%3Fb%3Dc%26d'])
  const origin = { origin: visitor.url, 'sec-fetch-site': 'same-origin' }
  const login = await visitor.post('/auth/login', { ...ADA, return_to: '/a?b=c&d' }, origin)
  assert.deepEqual([login.status, login.location], [303, '/a?b=c&d'], login.text)
  assert.equal((await visitor.get('/a?b=c&d')).text, 'Hello, ada')
})

test('the proxy for development passes WebSockets, and nothing else that asks for another protocol', async (t) => {
  const upgrades: string[] = []
  const app = createServer().on('upgrade', ({ headers }, socket) => {
    upgrades.push(String(headers.upgrade))
    const key = `${headers['sec-websocket-key']}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`
    const accept = createHash('sha1').update(key).digest('base64')
    socket.write(`HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n`)
    socket.write(`Sec-WebSocket-Accept: ${accept}\r\n\r\n`)
    socket.write(Buffer.from([0x81, 2, 0x68, 0x69]))
    socket.on('data', () => socket.end())
  })
  t.after(() => app.close())
  await once(app.listen(0, '127.0.0.1'), 'listening')
  const proxy = await freePort()
  const env = { PORT: String((app.address() as AddressInfo).port), SVC_PORT: '1', PROXY_PORT: String(proxy) }
  await startProgram([process.execPath, path.join(EXAMPLES_FOLDER, 'proxy.mjs')], { port: proxy, cwd, env })
  const live = new WebSocket(`ws://localhost:${proxy}/live`)
  const [message] = (await once(live, 'message')) as [MessageEvent]
  assert.equal(message.data, 'hi')
  live.close()
  await once(live, 'close')
  const other = connect(proxy, '127.0.0.1')
  other.write('GET / HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n')
  assert.match(await text(other), /^HTTP\/1\.1 400 /)
  assert.deepEqual(upgrades, ['websocket'])
})

test('docs/frameworks.md: the Caddyfile for development puts both behind one origin', async () => {
  const [app, proxy] = [await freePort(), await freePort()]
  const hello = requireSnippet('README.md', "import { createServer } from 'node:http'").replace('3000', String(app))
  await startProgram([process.execPath, write('hello-caddy.mjs', hello)], { port: app, cwd })
  const text = requireSnippet('docs/frameworks.md', 'http://localhost:8000\n')
    .replace('localhost:8000', `localhost:${proxy}`)
    .replace('127.0.0.1:8080', `127.0.0.1:${svc.port}`)
    .replace('127.0.0.1:3000', `127.0.0.1:${app}`)
  writeFileSync(path.join(cwd, 'Caddyfile'), `{\n  admin off\n}\n${text}`)
  await startProgram(['caddy', 'run'], { port: proxy, cwd })
  const visitor = newAgent({ url: `http://localhost:${proxy}` })
  assert.equal((await visitor.get('/x')).location, '/auth/login?return_to=%2Fx')
  assert.equal((await signUp(visitor, newPerson())).status, 303)
  assert.match((await visitor.get('/x')).text, /^Hello, /)
})

/** What a program prints for the cookies of a user and for those of nobody. */
const ask = async (command: string[]): Promise<string[]> => {
  const [program = '', ...args] = command
  const cookie = `svc_access=${ada.cookies.get('svc_access')}`
  const env = { ...process.env, AUTH_URL: SVC, COOKIE: cookie }
  return (await promisify(execFile)(program, args, { cwd, env })).stdout.trim().split('\n')
}

const IN_OTHER_LANGUAGES: Record<string, { can: string; command: () => string[] }> = {
  JavaScript: {
    can: 'node',
    command: () => {
      const code = requireSnippet('docs/read-the-user.md', 'const AUTH = process.env')
      const use = `for (const cookie of [process.env.COOKIE, '']) console.log((await readUser(cookie))?.email ?? 'nobody')
console.log(loginAddress('/a?b=c&d'))`
      return [process.execPath, write('read-user.mjs', `${code}${use}`)]
    },
  },
  Python: {
    can: 'verify-locally/python',
    command: () => {
      const code = requireSnippet('docs/read-the-user.md', 'import json')
      const use = `
for cookie in (os.environ["COOKIE"], ""):
    print((read_user(cookie) or {"email": "nobody"})["email"])
print(login_address("/a?b=c&d"))
`
      return ['python3', write('read_user.py', `${code}${use}`)]
    },
  },
}

for (const [language, { can, command }] of Object.entries(IN_OTHER_LANGUAGES)) {
  if (can !== 'node' && !canRun(can)) continue
  test(`docs/read-the-user.md: the lines in ${language} read the user`, async () => {
    assert.deepEqual(await ask(command()), [ADA.email, 'nobody', '/auth/login?return_to=%2Fa%3Fb%3Dc%26d'])
  })
}

const goCommand = (): string[] => {
  const code = requireSnippet('docs/read-the-user.md', 'package auth').replace('package auth', 'package main')
  const imports = '"net/url"\n\t"os"'
  const use = `
func main() {
	for _, cookie := range []string{os.Getenv("COOKIE"), ""} {
		request, _ := http.NewRequest("GET", "http://example.com/", nil)
		request.Header.Set("Cookie", cookie)
		if user, err := ReadUser(os.Getenv("AUTH_URL"), request); err != nil || user == nil {
			fmt.Println("nobody")
		} else {
			fmt.Println(user.Email)
		}
	}
	fmt.Println(LoginAddress("/a?b=c&d"))
}
`
  return ['go', 'run', write('read_user.go', `${code.replace('"net/url"', imports)}${use}`)]
}

if (canRun('verify-locally/go')) {
  test('docs/read-the-user.md: the lines in Go read the user', async () => {
    assert.deepEqual(await ask(goCommand()), [ADA.email, 'nobody', '/auth/login?return_to=%2Fa%3Fb%3Dc%26d'])
  })
}

/** `go run` would leave the program behind when it is killed. */
const built = async (file: string): Promise<string[]> => {
  await promisify(execFile)('go', ['build', '-o', `${file}.program`, file], { cwd })
  return [`${file}.program`]
}

const RECEIVERS = [
  {
    name: 'Python',
    can: 'verify-locally/python',
    begins: 'import base64',
    start: async (code: string) => ['python3', write('receiver.py', code)],
  },
  {
    name: 'Go',
    can: 'verify-locally/go',
    begins: 'package main',
    start: (code: string) => built(write('receiver.go', code)),
  },
]

for (const { name, begins, start } of RECEIVERS.filter(({ can }) => canRun(can))) {
  test(`docs/webhooks.md: the receiver in ${name} takes an event of svc, and refuses a forged one`, async () => {
    const secret = `whsec_${randomBytes(24).toString('base64')}`
    const port = await freePort()
    const command = await start(requireSnippet('docs/webhooks.md', begins))
    const env = { PORT: String(port), SVC_WEBHOOK_SECRET: secret }
    await startProgram(command, { port, cwd, env })
    const body = '{"id":"1","type":"webhook.test","created_at":"2026-11-21T11:31:32.155Z","data":{"user_id":"1"}}'
    const send = async (headers: Record<string, string>) =>
      (await fetch(`http://127.0.0.1:${port}/`, { method: 'POST', headers, body })).status
    assert.equal(await send(signedHeaders(secret, body)), 204)
    assert.equal(await send(signedHeaders(`whsec_${'A'.repeat(32)}`, body)), 401)
    assert.equal(await send(signedHeaders(secret, body, { ageSeconds: 600 })), 401)
    assert.equal(await send({}), 401)
  })
}
