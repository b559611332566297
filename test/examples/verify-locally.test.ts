// Runs on SQLite.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'
import { after, test } from 'node:test'
import { signedUp } from '../support/client/accounts.ts'
import { GO_PROGRAM, PYTHON_PACKAGES, VERIFIERS } from '../support/examples/examples.ts'
import { canRun, requirePrepared } from '../support/examples/running-example.ts'
import { forgedTokens } from '../support/examples/token-cases.ts'
import { accessToken, claimsOf, forge, keyTap, publishedKeys, tappedKey } from '../support/service/access-tokens.ts'
import { startServiceProcess } from '../support/service/service-process.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

const directory = temporaryDirectory()
const svc = await startServiceProcess({ env: keyTap(directory) })
const { agent } = await signedUp(svc)
const good = accessToken(agent)
const published = await publishedKeys(svc)
const [publicKey] = published.keys
assert.ok(publicKey)
const forged = await forgedTokens(good, await tappedKey(directory), publicKey)

const COMMANDS: Record<string, string[]> = {
  'verify-locally/python': ['python3', 'verify.py'],
  'verify-locally/go': [GO_PROGRAM],
}

let requests = 0
const keys = JSON.stringify(published)
/** Stands for svc where its keys are fetched, to count how often. */
const publisher = createServer((_, response) => {
  requests++
  response.setHeader('content-type', 'application/json').end(keys)
}).listen(0, '127.0.0.1')
await once(publisher, 'listening')
after(() => publisher.close())

/** What a recipe says about tokens, one line for each. */
const verify = async (
  name: string,
  tokens: string[],
  svcUrl: string,
  more: Record<string, string> = {},
): Promise<string[]> => {
  const [program = '', ...args] = COMMANDS[name] ?? []
  const env = { ...process.env, SVC_BASE_URL: svc.url, SVC_URL: svcUrl, PYTHONPATH: PYTHON_PACKAGES, ...more }
  const child = spawn(program, args, { cwd: requirePrepared(name), env, stdio: ['pipe', 'pipe', 'inherit'] })
  child.stdin.end(`${tokens.join('\n')}\n`)
  return (await text(child.stdout)).trim().split('\n')
}

const addressOf = (server: typeof publisher): string => {
  const address = server.address()
  return typeof address === 'object' && address !== null ? `http://127.0.0.1:${address.port}` : ''
}

for (const { name } of VERIFIERS.filter(({ name }) => canRun(name))) {
  test(`examples/${name} takes a token of svc, and refuses forged ones`, async () => {
    const [first = '', ...others] = await verify(name, [good, ...Object.values(forged)], svc.url)
    assert.equal(first, `good ${claimsOf(good).sub}`)
    const verdicts = Object.keys(forged).map((what, index) => `${what}: ${others[index]?.split(' ')[0]}`)
    assert.deepEqual(
      verdicts,
      Object.keys(forged).map((what) => `${what}: refused`),
    )
  })

  test(`examples/${name} takes tokens of clients for one resource where it is told to, and no others`, async () => {
    const RESOURCE = 'https://example.com/mcp'
    const ofClient = { iss: `${svc.url}/auth`, aud: RESOURCE, client_id: 'agent', scope: 'notes:read' }
    const key = await tappedKey(directory)
    const change = (claims: Record<string, unknown>) => forge(good, key, { claims: { ...ofClient, ...claims } })
    const client = await change({})
    const wrong = {
      'of a cookie': good,
      'of the issuer of cookies': await change({ iss: svc.url }),
      'for another resource': await change({ aud: `${RESOURCE}x` }),
      'without a client': await change({ client_id: undefined }),
      'an ID token': await forge(good, key, { claims: ofClient, header: { typ: 'JWT' } }),
    }
    const [first, ...others] = await verify(name, [client, ...Object.values(wrong)], svc.url, { RESOURCE })
    assert.equal(first, `good ${claimsOf(good).sub}`)
    assert.deepEqual(
      others.map((verdict) => verdict.split(' ')[0]),
      Object.keys(wrong).map(() => 'refused'),
    )
    assert.match((await verify(name, [client], svc.url)).join(), /^refused/)
  })

  test(`examples/${name} fetches the keys once for many tokens, and at most once more for unknown keys`, async () => {
    requests = 0
    const unknown = forged['of a key that nobody knows'] ?? ''
    const tokens = Array.from({ length: 10 }, () => [good, unknown]).flat()
    const verdicts = await verify(name, tokens, addressOf(publisher))
    assert.deepEqual(
      verdicts.map((verdict) => verdict.split(' ')[0]),
      Array.from({ length: 10 }, () => ['good', 'refused']).flat(),
    )
    assert.ok(requests <= 2, `${requests} requests`)
  })
}
