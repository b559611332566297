// Runs on SQLite.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { loggedIn, newPerson } from '../support/client/accounts.ts'
import { createBackend } from '../support/client/backend.ts'
import { accessToken, claimsOf } from '../support/service/access-tokens.ts'
import { startService } from '../support/service/service.ts'

const DOCUMENT = readFileSync(path.join(import.meta.dirname, '../../docs/server-api.md'), 'utf8')

/** A request as the document has it, and the answer that is printed after it. */
type Documented = { script: string; answer: Record<string, unknown> | undefined }

const documented = (): Documented[] => {
  const blocks = [...DOCUMENT.matchAll(/^( *)```(\w+)\n([\s\S]*?)^ *```$/gm)].map(([, , language, text = '']) => ({
    language,
    text,
  }))
  return blocks.flatMap(({ language, text }, index) => {
    if (language !== 'sh' || !text.trimStart().startsWith('curl')) return []
    const next = blocks[index + 1]
    return {
      script: text,
      answer: next?.language === 'json' && !next.text.includes('"error"') ? JSON.parse(next.text) : undefined,
    }
  })
}

const typesOf = (value: Record<string, unknown>) =>
  Object.entries(value).map(([name, member]) => [
    name,
    Array.isArray(member) ? 'array' : member === null ? 'null' : typeof member,
  ])

test('docs/server-api.md: each request does what is said there, with the answer that is printed', async () => {
  const service = await startService({ env: { SVC_BASE_URL: 'https://example.com' } })
  const scopes = ['users:write', 'credentials:write', 'sessions:read', 'sessions:write', 'revocations:read']
  const backend = await createBackend(service, scopes)
  const person = { ...newPerson(), username: 'ada', email: 'ada@example.com' }
  const created = async (given: object) => (await backend.call('POST', '/users', given)).json<{ id: string }>().id
  const user = await created({ ...person, roles: ['editor'], email_verified: true })
  const other = await created({ email: newPerson().email })
  const env = {
    PATH: process.env.PATH,
    API_KEY: backend.key,
    USER_ID: user,
    OTHER_USER_ID: other,
    REQUEST_ID: 'a-request',
    SINCE: '2026-01-01T00:00:00Z',
    SESSION_ID: '',
  }
  const requests = documented()
  assert.ok(requests.length >= 10)
  for (const { script, answer } of requests) {
    env.SESSION_ID = String(claimsOf(accessToken(await loggedIn(service, person))).sid)
    const here = script.replaceAll('http://127.0.0.1:8080', `http://127.0.0.1:${service.port}`)
    const commands = here.replaceAll('curl ', `curl --silent --show-error --write-out '\\n%{http_code}\\n' `)
    const { stdout } = await promisify(execFile)('sh', ['-ec', commands], { env })
    const lines = stdout.trim().split('\n')
    const statuses = lines.filter((line) => /^\d{3}$/.test(line))
    assert.equal(statuses.length, script.split('curl ').length - 1)
    assert.ok(
      statuses.every((status) => ['200', '201', '204'].includes(status)),
      `${script}\n${stdout}`,
    )
    if (!answer) continue
    assert.deepEqual(typesOf(JSON.parse(lines[0] ?? '')), typesOf(answer), script)
  }
})
