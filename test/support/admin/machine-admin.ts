import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import path from 'node:path'
import type { TestContext } from 'node:test'
import { createMachineAdmin, type MachineAdmin as MachinePages } from '../../../src/admin/admin.ts'
import type { AdministratorRole } from '../../../src/administrators/administrator.ts'
import { bootstrap } from '../../../src/bootstrap.ts'
import { readConfig } from '../../../src/config/config.ts'
import { showSettings } from '../../../src/config/shown-settings.ts'
import { createCore } from '../../../src/core.ts'
import { createLog } from '../../../src/lib/log.ts'
import { afterwards } from '../cleanup.ts'
import { type Answer, createUserAgent, type Form, type UserAgent, urlEncoded } from '../client/user-agent.ts'
import type { TurnedClock } from '../clock/turned-clock.ts'
import type { Service } from '../service/service.ts'

/** A browser at the pages of the administration. Paths are without the prefix of the door. */
export type AdminBrowser = {
  agent: UserAgent
  /** The address of a page. */
  at(page: string): string
  open(page: string, headers?: Record<string, string>): Promise<Answer>
  /** Opens the page of a form, and sends it with what it asks for, even where the page offers no form. */
  submit(page: string, form?: Form): Promise<Answer>
  /** Follows the redirect after a form, and gives the page that says what was done. */
  follow(answer: Answer): Promise<Answer>
}

/** What a browser says of its requests. */
export const NAVIGATION = { 'sec-fetch-site': 'none', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' }
export const OWN_FORM = { 'sec-fetch-site': 'same-origin', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' }

export const csrfTokenOf = ({ text }: Answer): string => /name="csrf_token" value="([\w-]+)"/.exec(text)?.[1] ?? ''

/** Makes a browser of an agent that comes to pages below a prefix. */
export const adminBrowser = (agent: UserAgent, base = '', origin = agent.url): AdminBrowser => {
  const open: AdminBrowser['open'] = (page, headers = NAVIGATION) => agent.get(base + page, headers)
  /** All forms of a session have the same. */
  let csrf = ''
  return {
    agent,
    at: (page) => agent.url + base + page,
    open,
    async submit(page, form = {}) {
      csrf = csrfTokenOf(await open(page)) || csrf
      const headers = { ...OWN_FORM, 'content-type': 'application/x-www-form-urlencoded', origin }
      return agent.send({ method: 'POST', path: base + page, headers, body: urlEncoded({ csrf_token: csrf, ...form }) })
    },
    async follow(answer) {
      assert.equal(answer.status, 303, answer.text)
      const to = answer.location ?? ''
      assert.ok(to.startsWith(base), to)
      return open(to.slice(base.length), OWN_FORM)
    },
  }
}

export type MachineAdmin = AdminBrowser & {
  entryUrl: string
  base: string
  isLeftAlone(): boolean
}

type Options = { role?: AdministratorRole; clock?: TurnedClock; t?: TestContext; entered?: boolean }

/** Opens the pages of `svc admin` beside a service, inside this process, with the settings of the service. */
export const openMachineAdmin = async (
  service: Service,
  { role = 'change', clock, t, entered = true }: Options = {},
): Promise<MachineAdmin> => {
  const read = (file: string) => readFileSync(path.resolve(service.directory, file), 'utf8')
  const config = readConfig(service.env, read)
  const { database } = config
  const opened =
    database.kind === 'sqlite'
      ? { ...config, database: { ...database, file: path.resolve(service.directory, database.file) } }
      : config
  const log = createLog('warn', { write: (line) => assert.fail(line) })
  const { db, ...bootstrapped } = await bootstrap({ config: opened, log })
  const core = createCore({ config: opened, log, actor: 'cli', clock, db, ...bootstrapped })
  const admin: MachinePages = createMachineAdmin({
    core,
    config: opened,
    log,
    inspection: {
      listSettings: () => Promise.resolve(showSettings(opened, { environment: service.env, fromEnvFile: new Set() })),
      examine: () => Promise.resolve([{ code: 'clock_differs', message: 'The clock differs.', cure: 'Set it.' }]),
    },
    findPort: () => (admin.server.address() as AddressInfo).port,
    role,
    logCommandEvent: () => {},
  })
  await once(admin.server.listen(0, '127.0.0.1'), 'listening')
  afterwards(t, async () => {
    admin.server.closeAllConnections()
    admin.server.close()
    await core.audit.flush()
    await db.close()
  })
  const { door } = admin
  const browser = adminBrowser(createUserAgent({ url: door.origin }), door.base)
  if (entered) {
    const answer = await browser.agent.get(door.entryUrl.slice(door.origin.length), NAVIGATION)
    assert.equal(answer.status, 200, answer.text)
  }
  return { ...browser, base: door.base, entryUrl: door.entryUrl, isLeftAlone: door.isLeftAlone }
}
