// Runs once.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { Webhook } from 'standardwebhooks'
import { freePort } from '../../support/network/free-port.ts'
import { temporaryDirectory } from '../../support/temporary-directory.ts'
import { eventually } from '../../support/wait.ts'

const DOCUMENT = new URL('../../../docs/webhooks.md', import.meta.url)
const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
const PREVIOUS = 'geheimnis: schlüssel'
const BODY = '{"id":"1","type":"user.created","created_at":"2026-11-21T11:31:32.155Z","data":{"user_id":"ädä"}}'

/** The receiver for Node in the document: the one block of JavaScript that listens. */
const documentedReceiver = (): string => {
  const blocks = [...readFileSync(DOCUMENT, 'utf8').matchAll(/```js\n(.*?)```/gs)].map(([, block]) => block ?? '')
  const [receiver, ...more] = blocks.filter((block) => block.includes('listen('))
  assert.ok(receiver && more.length === 0)
  return receiver
}

const directory = temporaryDirectory()
writeFileSync(path.join(directory, 'receiver.mjs'), documentedReceiver())

const sign = (verifier: Webhook, atMs = Date.now()): Record<string, string> => ({
  'webhook-id': '1',
  'webhook-timestamp': String(Math.floor(atMs / 1000)),
  'webhook-signature': verifier.sign('1', new Date(atMs), BODY),
})
const newer = new Webhook(SECRET)
const older = new Webhook(Buffer.from(PREVIOUS), { format: 'raw' })
const now = new Date()
const ofBoth = {
  ...sign(newer, now.getTime()),
  'webhook-signature': [newer, older].map((verifier) => verifier.sign('1', now, BODY)).join(' '),
}
const FAR_MS = 301_000

/** What the receiver answers, with each of two secrets. */
const REQUESTS: Record<
  string,
  [headers: Record<string, string>, body: string, status: { newer: number; older: number }]
> = {
  'an event of the newer secret': [sign(newer), BODY, { newer: 204, older: 401 }],
  'an event of both secrets': [ofBoth, BODY, { newer: 204, older: 204 }],
  'another body': [ofBoth, BODY.replace('created', 'deleted'), { newer: 401, older: 401 }],
  'an event of long ago': [sign(newer, Date.now() - FAR_MS), BODY, { newer: 401, older: 401 }],
  'an event of the future': [sign(newer, Date.now() + FAR_MS + 60_000), BODY, { newer: 401, older: 401 }],
  'no time': [{ ...ofBoth, 'webhook-timestamp': '' }, BODY, { newer: 401, older: 401 }],
  'no signature': [
    { 'webhook-id': '1', 'webhook-timestamp': sign(newer)['webhook-timestamp'] ?? '' },
    BODY,
    { newer: 401, older: 401 },
  ],
}

for (const [which, secret] of Object.entries({ newer: SECRET, older: PREVIOUS })) {
  test(`the documented receiver for Node, with the ${which} secret`, async (t) => {
    const port = await freePort()
    const env = { ...process.env, PORT: String(port), SVC_WEBHOOK_SECRET: secret }
    const receiver = spawn(process.execPath, ['receiver.mjs'], { cwd: directory, env, stdio: 'ignore' })
    t.after(() => receiver.kill())
    const post = async (headers: Record<string, string>, body: string) =>
      (await fetch(`http://127.0.0.1:${port}/`, { method: 'POST', headers, body })).status
    await eventually(
      'the receiver listens',
      () =>
        post({}, '').then(
          () => true,
          () => false,
        ),
      20,
    )
    for (const [what, [headers, body, status]] of Object.entries(REQUESTS))
      assert.equal(await post(headers, body), status[which as keyof typeof status], what)
  })
}
