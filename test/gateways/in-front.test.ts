// Runs once.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import { request } from 'node:https'
import path from 'node:path'
import { test } from 'node:test'
import { startEchoApplication } from '../support/gateway/echo-application.ts'
import { startGateway } from '../support/gateway/gateway.ts'
import { PUBLIC_ORIGIN, readDocument, replaced } from '../support/gateway/gateway-configuration.ts'
import { NAVIGATION, visitorOf } from '../support/gateway/visitor.ts'
import { createAuthority } from '../support/network/certificates.ts'
import { freePort } from '../support/network/free-port.ts'
import { startService } from '../support/service/service.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

const app = await startEchoApplication()

/** What docs/integrate.md changes behind another proxy. */
const BEHIND: Record<'nginx' | 'Caddy' | 'HAProxy' | 'Apache', [from: string, to: string]> = {
  nginx: ['X-Forwarded-For $remote_addr;', 'X-Forwarded-For $proxy_add_x_forwarded_for;'],
  Caddy: ['transport http {', 'trusted_proxies private_ranges\ntransport http {'],
  HAProxy: ['http-request del-header x-forwarded-for', ''],
  Apache: ['RequestHeader unset X-Forwarded-For', ''],
}

test('behind two proxies that are trusted, the client is the user, and not what the user says', async (t) => {
  const document = readDocument('integrate.md')
  const env = { SVC_BASE_URL: PUBLIC_ORIGIN, SVC_TRUST_PROXY: 'loopback,10.0.0.0/8' }
  const svc = await startService({ t, env })
  for (const name of ['nginx', 'Caddy', 'HAProxy', 'Apache'] as const) {
    const [from, to] = BEHIND[name]
    for (const text of [from, ...to.split('\n')]) assert.ok(document.includes(`\`${text}`) || text === '', text)
    const change = (text: string) => replaced(text, from, to)
    const port = await startGateway(name, { svc: svc.port, app, t, change })
    const since = svc.logLines().length
    // The first proxy, at 10.0.0.5, has added the address of the user to what the user sent.
    await visitorOf(port).open('/auth/nothing', { 'x-forwarded-for': '198.51.100.1, 203.0.113.7, 10.0.0.5' })
    assert.equal(
      svc
        .logLines()
        .slice(since)
        .find(({ status }) => status === 404)?.client,
      '203.0.113.7',
      name,
    )
  }
})

test('nginx ends TLS at a port of its own: cookies are Secure, forms are accepted, and redirects keep the port', async (t) => {
  const folder = temporaryDirectory(t)
  const authority = createAuthority('Test')
  const { certificate, key } = authority.issue('localhost', 'localhost')
  writeFileSync(path.join(folder, 'site.pem'), certificate)
  writeFileSync(path.join(folder, 'site.key'), key)
  const port = await freePort()
  const origin = `https://localhost:${port}`
  const svc = await startService({ t, env: { SVC_BASE_URL: origin } })
  const change = (text: string) => {
    const uncommented = text
      .replaceAll(/# (?=listen 443|ssl_)/g, '')
      .replace('listen 443 ssl', `listen 127.0.0.1:${port} ssl`)
    return replaced(
      replaced(uncommented, '/etc/ssl/example.com.pem', `${folder}/site.pem`),
      '/etc/ssl/example.com.key',
      `${folder}/site.key`,
    )
  }
  await startGateway('nginx', { svc: svc.port, app, t, folder, change })

  const send = async (method: string, target: string, headers: Record<string, string>, body = '') => {
    const options = {
      host: '127.0.0.1',
      port,
      method,
      path: target,
      servername: 'localhost',
      ca: authority.root,
      headers,
    }
    const sent = request(options).end(body)
    const [answer] = (await once(sent, 'response')) as [IncomingMessage]
    answer.resume()
    return answer
  }
  const browser = { host: `localhost:${port}`, ...NAVIGATION }

  const login = await send('GET', '/auth/login', browser)
  const [cookie = ''] = login.headers['set-cookie'] ?? []
  assert.match(cookie, /^svc_csrf=.*; Secure/)
  const token = /svc_csrf=([^;]*)/.exec(cookie)?.[1] ?? ''
  const form = `csrf_token=${token}&email=ada%40example.com&password=not+the+password`
  const type = { 'content-type': 'application/x-www-form-urlencoded', 'content-length': String(form.length) }
  const tried = await send('POST', '/auth/login', { ...browser, ...type, origin, cookie: `svc_csrf=${token}` }, form)
  assert.equal(tried.statusCode, 401, 'the form is accepted, and the password is wrong')
  const members = await send('GET', '/members/a?b&c', browser)
  assert.equal(members.headers.location, `${origin}/auth/login?return_to=%2Fmembers%2Fa%3Fb%26c`)
})
