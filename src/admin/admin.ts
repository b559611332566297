import type { Server } from 'node:http'
import { appNameOf, type Config } from '../config/config.ts'
import type { Inspection } from '../config/shown-settings.ts'
import type { Core } from '../core.ts'
import type { AccountEventName, AccountFacts } from '../lib/account-event.ts'
import type { Log } from '../lib/log.ts'
import { createNetworkCheck } from '../lib/network.ts'
import { readVersion } from '../lib/version.ts'
import { createAdminErrorPage } from './error-page.ts'
import { createAdminServer } from './http/admin-server.ts'
import { createMachineDoor, type MachineDoor } from './machine-door.ts'
import type { AdministratorRole } from '../administrators/administrator.ts'
import { openingPageOf } from './entry.ts'
import { machineRoutes } from './routes.ts'
import type { AdminServices } from './services.ts'
import { createAdminSite } from './site/site.ts'

export interface AdminDeps {
  core: Core
  config: Config
  log: Log
  inspection: Inspection
}

export const servicesOf = (
  { core, config, inspection }: AdminDeps,
  { door, logEvent }: Pick<AdminServices, 'door' | 'logEvent'>,
): AdminServices => ({
  ...core,
  site: createAdminSite({
    appName: appNameOf(config, core.baseUrl),
    accentColor: config.accentColor,
    hasClients: config.clients,
  }),
  door,
  logEvent,
  hasClients: config.clients,
  verifiesEmails: config.emailVerification !== 'off',
  version: readVersion(),
  inspection,
})

interface MachineDeps extends AdminDeps {
  /** Is known once the server listens. */
  findPort: () => number
  role: AdministratorRole
  /** Writes the line of an account event, as all commands do. */
  logCommandEvent: (event: AccountEventName, facts: AccountFacts) => void
}

/** The pages on the operator's machine (`svc admin`). */
export interface MachineAdmin {
  server: Server
  door: MachineDoor
  /** Makes a page that leads in at once, for a file. */
  openingPage: () => string
}

export const createMachineAdmin = ({ findPort, role, logCommandEvent, ...deps }: MachineDeps): MachineAdmin => {
  const door = createMachineDoor({ findPort, role, clock: deps.core.clock })
  const services = servicesOf(deps, {
    door: 'machine',
    logEvent: (_context, event, facts) => logCommandEvent(event, facts),
  })
  const server = createAdminServer({
    door,
    routes: machineRoutes(services, door),
    errorPage: createAdminErrorPage(services.site),
    log: deps.log,
    hstsMs: undefined,
    maxConnections: MAX_CONNECTIONS,
    isTrustedProxy: createNetworkCheck([]),
    isStopping: () => false,
  })
  return { server, door, openingPage: () => openingPageOf(door) }
}

/** One browser needs no more. */
const MAX_CONNECTIONS = 100
