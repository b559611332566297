// Runs on SQLite.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import { after, type TestContext, test } from 'node:test'
import { logOut, signedUp } from '../support/client/accounts.ts'
import { createBackend } from '../support/client/backend.ts'
import { GO_PROGRAM, PYTHON_PACKAGES, VERIFIERS } from '../support/examples/examples.ts'
import { canRun, requirePrepared } from '../support/examples/running-example.ts'
import { forgedTokens } from '../support/examples/token-cases.ts'
import { startTcpProxy } from '../support/network/tcp-proxy.ts'
import { accessToken, claimsOf, forge, keyTap, publishedKeys, tappedKey } from '../support/service/access-tokens.ts'
import { setRoles } from '../support/service/operator-commands.ts'
import { startServiceProcess } from '../support/service/service-process.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'
import { eventually } from '../support/wait.ts'

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

/** A recipe that reads the revocation feed, behind a network that can fail. It says what becomes of a token. */
const startWithFeed = async (t: TestContext, name: string, scopes: string[]) => {
  const proxy = await startTcpProxy({ port: svc.port, t })
  let questions = 0
  proxy.onSent((piece) => void (questions += piece.includes('/auth/api/v1/user') ? 1 : 0))
  const [program = '', ...args] = COMMANDS[name] ?? []
  const { key: SVC_API_KEY } = await createBackend(svc, scopes)
  const urls = { SVC_BASE_URL: svc.url, SVC_URL: `http://127.0.0.1:${proxy.port}` }
  const env = { ...process.env, ...urls, SVC_API_KEY, PYTHONPATH: PYTHON_PACKAGES }
  const child = spawn(program, args, { cwd: requirePrepared(name), env, stdio: ['pipe', 'pipe', 'ignore'] })
  t.after(() => child.kill('SIGKILL'))
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  return {
    proxy,
    questions: () => questions,
    /** The verdict, and the roles behind the user of a good one. */
    async verdict(token: string): Promise<string[]> {
      child.stdin.write(`${token}\n`)
      const [verdict = '', ...rest] = ((await lines.next()).value ?? '').split(' ')
      return verdict === 'good' ? [verdict, ...rest.slice(1)] : [verdict]
    },
  }
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

  test(`examples/${name} refuses with the feed what has ended, asks about nothing else, and knows new roles`, async (t) => {
    const { verdict, questions } = await startWithFeed(t, name, ['revocations:read'])
    const [leaving, staying] = [await signedUp(svc), await signedUp(svc)]
    const tokens = [accessToken(leaving.agent), accessToken(staying.agent)] as const
    await eventually('the feed is read', async () => {
      const asked = questions()
      assert.deepEqual(await verdict(tokens[0]), ['good'])
      return questions() === asked
    })
    const asked = questions()
    await logOut(leaving.agent)
    await eventually('the token is refused', async () => (await verdict(tokens[0]))[0] === 'refused')
    assert.deepEqual([await verdict(tokens[1]), questions()], [['good'], asked])
    await setRoles(svc, staying.person.email, ['editor'])
    await eventually('the roles are known', async () => (await verdict(tokens[1]))[1] === 'editor')
  })

  test(`examples/${name} asks svc where it knows nothing, and says so in an outage`, async (t) => {
    const { verdict, proxy } = await startWithFeed(t, name, ['users:read'])
    const leaving = await signedUp(svc)
    const token = accessToken(leaving.agent)
    assert.deepEqual(await verdict(token), ['good'])
    proxy.reset()
    assert.deepEqual(await verdict(token), ['unavailable'])
    proxy.mend()
    await logOut(leaving.agent)
    assert.deepEqual(await verdict(token), ['refused'])
  })
}
