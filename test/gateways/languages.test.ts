// Runs once.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createUserAgent } from '../support/client/user-agent.ts'
import { startEchoApplication } from '../support/gateway/echo-application.ts'
import { startGateway } from '../support/gateway/gateway.ts'
import { replaced } from '../support/gateway/gateway-configuration.ts'
import { startService } from '../support/service/service.ts'

const svc = await startService()
const app = await startEchoApplication()
const backends = { svc: svc.port, app }

/** A cache that keeps pages although svc says that they are not to be stored. */
const caching = (text: string): string =>
  replaced(
    replaced(text, 'http {', 'http {\n  proxy_cache_path cache keys_zone=all:1m;'),
    'proxy_pass http://svc;',
    'proxy_pass http://svc;\n    proxy_cache all;\n    proxy_cache_valid 200 1m;\n' +
      '    proxy_ignore_headers Cache-Control Set-Cookie;\n    add_header X-Cache $upstream_cache_status always;',
  )

const [plain, cached] = await Promise.all([
  startGateway('nginx', backends),
  startGateway('nginx', { ...backends, change: caching }),
])

const ask = async (port: number, accepted: string, cookie = '') => {
  const agent = createUserAgent({ url: `http://localhost:${port}` })
  const answer = await agent.get('/auth/signup', { 'accept-language': accepted, ...(cookie && { cookie }) })
  assert.equal(answer.status, 200, answer.text)
  const shown = /<html lang="([^"]+)"/.exec(answer.text)?.[1]
  assert.equal(answer.headers['content-language'], shown)
  return { shown, cache: answer.headers['x-cache'] }
}

describe('the language of a page, through nginx', () => {
  test('is that of the browser, and that of the picker before it', async () => {
    assert.equal((await ask(plain, 'pl;q=0.9, xx')).shown, 'pl')
    assert.equal((await ask(plain, 'zh-CN, en')).shown, 'zh-Hans')
    assert.equal((await ask(plain, 'pl', 'svc_language=ar')).shown, 'ar')
  })

  test('is right for each of two people behind a cache that keeps what it should not', async () => {
    assert.deepEqual(await ask(cached, 'de'), { shown: 'de', cache: 'MISS' })
    assert.deepEqual(await ask(cached, 'de'), { shown: 'de', cache: 'HIT' }, 'the cache is at work')
    assert.equal((await ask(cached, 'ja')).shown, 'ja')
    assert.equal((await ask(cached, 'de', 'svc_language=tr')).shown, 'tr')
    assert.equal((await ask(cached, 'de')).shown, 'de')
  })

  test('is picked by a form that leads back to the page, without scripts', async () => {
    const url = `http://localhost:${plain}`
    const agent = createUserAgent({ url })
    const page = await agent.get('/auth/signup?return_to=%2Fx')
    assert.match(page.text, /<form class="language" method="post" action="\/auth\/language">/)
    const headers = { origin: url, referer: `${url}/auth/signup?return_to=%2Fx` }
    const answer = await agent.post('/auth/language', { language: 'nl' }, headers)
    assert.equal(answer.location, '/auth/signup?return_to=%2Fx')
    assert.match((await agent.get(answer.location ?? '')).text, /<html lang="nl"/)
  })
})
