// Runs on SQLite.
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { describe, test } from 'node:test'
import { createUserAgent } from '../../support/client/user-agent.ts'
import type { Environment } from '../../support/service/command.ts'
import { startService } from '../../support/service/service.ts'
import { runCommand } from '../../support/service/warm-command.ts'
import { temporaryDirectory } from '../../support/temporary-directory.ts'

const PASSWORD = 'hunter2'
const directory = temporaryDirectory()
const run = (args: string[], env: Environment) => runCommand({ args, cwd: directory, env: { SVC_PORT: '0', ...env } })

const smtp = `smtp://ada:${PASSWORD}@mail.example.com`
const from = 'svc@example.com'
const baseUrl = 'https://app.example.com'
const good = { SVC_SMTP_URL: smtp, SVC_MAIL_FROM: from, SVC_BASE_URL: baseUrl }

const refused: [string, Environment, RegExp][] = [
  [
    'a URL of another kind',
    { ...good, SVC_SMTP_URL: 'http://mail.example.com' },
    /SVC_SMTP_URL is not accepted: smtp:/,
  ],
  ['a password that is not percent-encoded', { ...good, SVC_SMTP_URL: `smtp://a:${PASSWORD}@@m` }, /SVC_SMTP_URL.*%40/],
  ['a sender without an address', { ...good, SVC_MAIL_FROM: 'Example' }, /SVC_MAIL_FROM="Example" is not accepted/],
  ['a sender with a line end', { ...good, SVC_MAIL_FROM: `A\r\nBcc: x@y.example <${from}>` }, /SVC_MAIL_FROM/],
  ['no sender', { ...good, SVC_MAIL_FROM: '' }, /SVC_MAIL_FROM is missing/],
  ['no base URL, and an SMTP host elsewhere', { ...good, SVC_BASE_URL: '' }, /SVC_BASE_URL must be set/],
  [
    'a loopback base URL, and an SMTP host elsewhere',
    { ...good, SVC_BASE_URL: 'http://127.0.0.1:8080' },
    /SVC_BASE_URL/,
  ],
  ['a time limit that no timer holds', { ...good, SVC_MAIL_TIMEOUT: '600h' }, /SVC_MAIL_TIMEOUT="600h"/],
  ['verification without mail', { SVC_EMAIL_VERIFICATION: 'required' }, /SVC_EMAIL_VERIFICATION=required needs mail/],
  ['sign-in by mail without mail', { SVC_EMAIL_SIGN_IN: 'on' }, /SVC_EMAIL_SIGN_IN=on needs mail: set SVC_SMTP_URL/],
  ['sign-in by mail, neither on nor off', { ...good, SVC_EMAIL_SIGN_IN: 'yes' }, /SVC_EMAIL_SIGN_IN="yes".*on.*off/],
  [
    'a rule for accounts with passkeys that does not exist',
    { ...good, SVC_EMAIL_SIGN_IN_WITH_PASSKEY: 'never' },
    /SVC_EMAIL_SIGN_IN_WITH_PASSKEY="never".*known.*always/,
  ],
  ['optional verification without mail', { SVC_EMAIL_VERIFICATION: 'optional' }, /SVC_EMAIL_VERIFICATION=optional/],
]

describe('a configuration error (exit 78)', () => {
  for (const [what, env, line] of refused) {
    test(what, async () => {
      const { code, stdout, stderr } = await run(['serve'], env)
      assert.equal(code, 78, stderr)
      assert.match(stderr, line)
      assert.ok(!(stdout + stderr).includes(PASSWORD), stderr)
    })
  }

  test('all of them at once, one line each', async () => {
    const env = { SVC_SMTP_URL: smtp, SVC_MAIL_TIMEOUT: '0s', SVC_MAIL_NOTICES: 'maybe', SVC_RESET_TTL: '1d' }
    const { code, stderr } = await run(['serve'], env)
    assert.equal(code, 78)
    for (const name of ['SVC_MAIL_TIMEOUT', 'SVC_MAIL_NOTICES', 'SVC_RESET_TTL', 'SVC_MAIL_FROM', 'SVC_BASE_URL']) {
      assert.equal(stderr.split('\n').filter((line) => line.includes(name) && !line.startsWith(' ')).length, 1, stderr)
    }
  })
})

test('svc config shows the server without user and password', async () => {
  const { code, stdout, stderr } = await run(['config', '--json'], { ...good, SVC_EMAIL_VERIFICATION: 'required' })
  assert.equal(code, 0, stderr)
  assert.ok(!(stdout + stderr).includes(PASSWORD))
  assert.ok(stdout.includes('smtp://…@mail.example.com:587'), stdout)
})

test('a server elsewhere without TLS starts with a warning', async () => {
  const elsewhere = await run(['config'], { ...good, SVC_SMTP_URL: 'smtp://mail.example.com?tls=off' })
  assert.match(elsewhere.stderr, /warning: SVC_SMTP_URL with \?tls=off/)
  for (const url of [smtp, 'smtp://127.0.0.1?tls=off', 'smtp://localhost']) {
    assert.doesNotMatch((await run(['config'], { ...good, SVC_SMTP_URL: url })).stderr, /warning/)
  }
})

test('the URL may be in a file, and needs no base URL when it leads to this machine', async (t) => {
  const file = path.join(directory, 'smtp url')
  writeFileSync(file, `smtp://ada:${PASSWORD}@127.0.0.1:2525\n`)
  const service = await startService({
    t,
    env: { SVC_SMTP_URL_FILE: file, SVC_MAIL_FROM: `"Example, Inc." <${from}>` },
  })
  const agent = createUserAgent(service)
  assert.equal((await agent.get('/auth/ready')).status, 200)
  assert.ok(!service.logs().includes(PASSWORD))
})
