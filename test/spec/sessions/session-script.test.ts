// Runs on SQLite.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { runInNewContext } from 'node:vm'
import { gzipSync } from 'node:zlib'
import { signedUp } from '../../support/client/accounts.ts'
import { createUserAgent } from '../../support/client/user-agent.ts'
import { startService } from '../../support/service/service.ts'

const service = await startService()
const script = await createUserAgent(service).get('/auth/session.js')

const ask = (known: string) => createUserAgent(service).get('/auth/session.js', { 'if-none-match': known })

describe('§4.14 GET /auth/session.js', () => {
  test('is JavaScript that may be kept for five minutes by anybody, of at most 2 KB gzipped', () => {
    assert.equal(script.status, 200)
    assert.equal(script.headers['content-type'], 'text/javascript; charset=utf-8')
    assert.equal(script.headers['cache-control'], 'public, max-age=300')
    assert.equal(script.headers.vary, undefined)
    assert.ok(gzipSync(script.text).length <= 2000, `${gzipSync(script.text).length} bytes`)
  })

  test('is the same for everybody, and sets no cookie', async () => {
    const { agent } = await signedUp(service)
    const answers = [await agent.get('/auth/session.js'), await agent.get('/auth/session.js?a=1', { accept: '*/*' })]
    answers.push(await agent.copy().get('/auth/session.js', { cookie: 'svc_access=a; svc_access=b' }))
    for (const { text, setCookies } of answers) assert.deepEqual([text, setCookies], [script.text, []])
  })

  test('needs no other file, and neither evaluates nor inserts anything', () => {
    for (const part of ['import', 'require', 'eval', 'Function(', 'innerHTML', 'createElement', 'localStorage', 'Date'])
      assert.ok(!script.text.includes(part), part)
    assert.doesNotThrow(() => runInNewContext(`() => {${script.text}}`))
  })

  test('is 304 without a body for a client that has it', async () => {
    const etag = String(script.headers.etag)
    assert.match(etag, /^"[\w-]{22}"$/)
    for (const known of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
      const answer = await ask(known)
      assert.deepEqual([answer.status, answer.text, answer.headers.etag], [304, '', etag], known)
      assert.equal(answer.headers['cache-control'], 'public, max-age=300')
      assert.equal(answer.headers['content-length'], undefined)
    }
    for (const known of ['"other"', etag.slice(1), '']) assert.equal((await ask(known)).status, 200, known)
  })

  test('HEAD has its headers, and every other method is 405', async () => {
    const visitor = createUserAgent(service)
    const head = await visitor.send({ method: 'HEAD', path: '/auth/session.js' })
    assert.deepEqual([head.status, head.text, head.headers.etag], [200, '', script.headers.etag])
    assert.equal((await visitor.send({ method: 'POST', path: '/auth/session.js' })).status, 405)
  })

  test('names the cookies and the audience of this installation', async (t) => {
    assert.ok(script.text.includes('"svc_fresh"') && script.text.includes('"audience":"app"'))
    const env = { SVC_BASE_URL: 'https://app.example.com', SVC_COOKIE_PREFIX: 'on', SVC_AUDIENCES: 'shop,app' }
    const other = await createUserAgent(await startService({ t, env })).get('/auth/session.js')
    for (const part of ['"__Host-svc_session"', '"__Host-svc_fresh"', '"__Host-svc_csrf"', '"audience":"shop"'])
      assert.ok(other.text.includes(part), part)
    assert.notEqual(other.headers.etag, script.headers.etag)
  })
})
