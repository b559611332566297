// Runs on SQLite.
import assert from 'node:assert/strict'
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { createServer } from 'node:net'
import { describe, test } from 'node:test'
import { NAVIGATION, OWN_FORM } from '../../support/admin/machine-admin.ts'
import { ADMIN_URL, adminSettings, newAdminBrowser, newAdministrator } from '../../support/admin/origin-admin.ts'
import { signedUp } from '../../support/client/accounts.ts'
import { afterwards } from '../../support/cleanup.ts'
import { createUserAgent } from '../../support/client/user-agent.ts'
import { freePort } from '../../support/network/free-port.ts'
import { watchModules } from '../../support/service/loaded-modules.ts'
import { startServiceProcess } from '../../support/service/service-process.ts'
import { startService } from '../../support/service/service.ts'
import { eventually } from '../../support/wait.ts'

const service = await startService({ env: await adminSettings() })

describe('the origin of the administration', () => {
  test('answers its own host alone, but for a look at its health', async () => {
    const hosts = ['localhost', 'example.com', 'admin.example.com.', 'ADMIN.example.com:8081', '127.0.0.1']
    for (const host of hosts) {
      const browser = newAdminBrowser(service, { host })
      const answer = await browser.open('/')
      assert.equal(answer.status, 421, host)
      assert.doesNotMatch(answer.text, /<html/)
      assert.equal((await browser.open('/health')).text, '{"status":"ok"}')
    }
  })

  test('is nowhere at the port of users, whatever the host', async () => {
    for (const host of ['admin.example.com', new URL(service.url).host]) {
      const agent = createUserAgent({ url: service.url, headers: { host } })
      for (const page of ['/', '/events', '/join', '/passkeys', '/system'])
        assert.equal((await agent.get(page, NAVIGATION)).status, 404, `${host} ${page}`)
    }
  })

  test('refuses what a sibling host or another site sends, cookies or not', async () => {
    const { browser } = await newAdministrator(service, 'change')
    const page = await browser.open('/invite')
    const csrf = /name="csrf_token" value="([\w-]+)"/.exec(page.text)?.[1] ?? ''
    const type = { 'content-type': 'application/x-www-form-urlencoded' }
    for (const site of ['same-site', 'cross-site', 'none', undefined]) {
      const headers = { ...type, ...(site && { ...OWN_FORM, 'sec-fetch-site': site }) }
      const body = `csrf_token=${csrf}&email=eve@example.com`
      assert.equal((await browser.agent.send({ method: 'POST', path: '/invite', headers, body })).status, 403, site)
    }
    const origin = { ...type, ...OWN_FORM, origin: 'https://app.example.com' }
    const body = `csrf_token=${csrf}`
    assert.equal((await browser.agent.send({ method: 'POST', path: '/invite', headers: origin, body })).status, 403)
  })

  test('knows no cookie of the application, and no key', async () => {
    const { agent } = await signedUp(service)
    const cookie = agent.cookies.header('/auth/') ?? ''
    assert.match(cookie, /svc_refresh=/)
    const browser = newAdminBrowser(service)
    const headers = { ...NAVIGATION, cookie: `${cookie}; __Host-svc_admin=${agent.cookies.get('svc_refresh') ?? ''}` }
    assert.equal((await browser.open('/', headers)).status, 401)
    assert.equal(
      (await browser.open('/', { ...NAVIGATION, authorization: `Bearer svc_sk_${'x'.repeat(43)}` })).status,
      401,
    )
  })
})

/** The ports that a process listens on (proc_pid_fd(5), proc_pid_net(5)). */
const portsOf = (pid: number): number[] => {
  const fds = readdirSync(`/proc/${pid}/fd`)
  const inodes = new Set(fds.map((fd) => /^socket:\[(\d+)\]$/.exec(readLink(`/proc/${pid}/fd/${fd}`))?.[1]))
  const rows = ['tcp', 'tcp6'].flatMap((kind) => readFileSync(`/proc/${pid}/net/${kind}`, 'utf8').split('\n'))
  return rows.flatMap((row) => {
    const [, local = '', , state, , , , , , inode] = row.trim().split(/\s+/)
    return state === LISTENS && inodes.has(inode) ? [Number.parseInt(local.split(':')[1] ?? '', 16)] : []
  })
}

const LISTENS = '0A'

const readLink = (file: string): string => {
  try {
    return readlinkSync(file)
  } catch {
    return ''
  }
}

const refused = async (env: Record<string, string | undefined>): Promise<string> => {
  const { code, stderr } = await service.cli(['config'], { env })
  assert.equal(code, 78, stderr)
  return stderr
}

describe('the settings', () => {
  test('need one another, a port of their own, and a host that is far from that of users', async () => {
    const port = service.env.SVC_ADMIN_PORT
    assert.match(await refused({ SVC_ADMIN_PORT: undefined }), /SVC_ADMIN_PORT is missing/)
    assert.match(await refused({ SVC_ADMIN_URL: undefined }), /SVC_ADMIN_URL is missing/)
    assert.match(await refused({ SVC_ADMIN_PORT: service.env.SVC_PORT }), /SVC_ADMIN_PORT and SVC_PORT are the same/)
    assert.match(await refused({ SVC_METRICS_PORT: port }), /SVC_ADMIN_PORT and SVC_METRICS_PORT are the same/)
    for (const url of ['http://admin.example.com', 'https://192.0.2.1', 'https://[::1]', `${ADMIN_URL}/x`, 'admin'])
      assert.match(await refused({ SVC_ADMIN_URL: url }), /SVC_ADMIN_URL/, url)
    for (const base of [ADMIN_URL, `${ADMIN_URL}:8443`, 'https://app.admin.example.com'])
      assert.match(await refused({ SVC_BASE_URL: base }), /must not be that of SVC_BASE_URL/, base)
    const below = await service.cli(['config'], { env: { SVC_BASE_URL: 'https://example.com' } })
    assert.equal(below.code, 0, below.stderr)
  })

  test('off: no other port is listened on, and nothing of it is loaded', async (t) => {
    const { env, loaded } = watchModules(t)
    const off = await startServiceProcess({ t, env })
    await signedUp(off)
    await eventually('the other modules', () => loaded().includes('web/links/undo-email.ts'))
    assert.deepEqual(
      loaded().filter((name) => name.startsWith('admin')),
      [],
    )
    if (process.platform === 'linux') assert.deepEqual(portsOf(off.pid()), [off.port])
  })

  test('a port that is taken is named at the start', async (t) => {
    const port = await freePort()
    const other = createServer().listen(port, '127.0.0.1')
    afterwards(t, () => other.close())
    const env = { SVC_ADMIN_URL: ADMIN_URL, SVC_ADMIN_PORT: String(port) }
    await assert.rejects(startService({ env, t }), /is taken: set SVC_ADMIN_PORT to another/)
  })
})
