// Runs on SQLite.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { describe, test } from 'node:test'
import { promisify } from 'node:util'
import { createBackend } from '../support/client/backend.ts'
import { newPerson, signedUp } from '../support/client/accounts.ts'
import { createUserAgent } from '../support/client/user-agent.ts'
import { canRun } from '../support/examples/running-example.ts'
import { signedHeaders } from '../support/examples/signed-event.ts'
import { startProgram } from '../support/gateway/gateway.ts'
import { freePort, listensOn } from '../support/network/free-port.ts'
import { spawnSvc } from '../support/service/command.ts'
import { startService } from '../support/service/service.ts'
import { requireSnippet, snippetsOf } from '../support/snippets.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'
import { eventually } from '../support/wait.ts'

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
  if (canRun('curl')) {
    test('docs/start.md: the lines that log in with curl print the user', async () => {
      const printed = await shell(requireSnippet('docs/start.md', 'B=http'))
      assert.equal(JSON.parse(printed.slice(printed.indexOf('{'))).email, ADA.email)
    })

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
        'revocations:read',
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

test('README.md: svc dev starts the application, which says hello and sends visitors to the login page', async (t) => {
  const [app, port] = [await freePort(), await freePort()]
  const code = requireSnippet('README.md', "import { createServer } from 'node:http'").replace('3000', String(app))
  const command = [process.execPath, write('hello.mjs', code)]
  const options = ['--port', String(port), '--app', `http://localhost:${app}`]
  const dev = spawnSvc({ args: ['dev', '--quiet', ...options, '--', ...command], cwd, env: {} })
  // It ends its command, too.
  t.after(() => dev.kill('SIGTERM') && once(dev, 'exit'))
  const visitor = createUserAgent({ url: `http://localhost:${port}` })
  await eventually(
    'the application',
    async () => (await listensOn(port)) && (await visitor.get('/')).status === 303,
    20,
  )
  const refused = await visitor.get('/a?b=c&d')
  assert.deepEqual([refused.status, refused.location], [303, '/auth/login?return_to=%2Fa%3Fb%3Dc%26d'])
  const origin = { origin: visitor.url, 'sec-fetch-site': 'same-origin' }
  const given = { email: ADA.email, password: 'ada likes numbers', return_to: '/a?b=c&d' }
  const login = await visitor.post('/auth/login', given, origin)
  assert.deepEqual([login.status, login.location], [303, '/a?b=c&d'], login.text)
  assert.equal((await visitor.get('/a?b=c&d')).text, 'Hello, ada')
  if (!canRun('curl')) return
  const printed = await shell(requireSnippet('README.md', 'B=http').replace('http://localhost:8000', visitor.url))
  assert.match(printed, /"email":"mary@example\.com","username":"mary","roles":\[\],"disabled":false/)
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
