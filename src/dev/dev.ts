import { randomBytes } from 'node:crypto'
import type { Config } from '../config/config.ts'
import type { Environment } from '../config/setting.ts'
import type { Core } from '../core.ts'
import type { Log } from '../lib/log.ts'
import { once } from '../lib/on-demand.ts'
import { createDispatch, type Dispatch } from './dispatch.ts'
import { type OwnSettings, ownWarningsOf, refuseProduction, toDevEnvironment } from './environment.ts'
import { createEvents, type DevEvent, type DevEvents } from './events.ts'
import { openFolder } from './folder.ts'
import { openFront } from './front.ts'
import { DEV_USERS, type DevUser, ISSUER } from './given.ts'
import { startMailbox } from './mailbox.ts'
import { createMovableClock } from './movable-clock.ts'
import { createOwnRequests } from './own-requests.ts'
import { createDevProvider } from './provider.ts'
import { createRouter } from './router.ts'
import { createDevRoutes, type DevRoutesDeps } from './routes.ts'
import { type RunningService, startRunningService } from './running-service.ts'
import { hasOwnPassword, newApiKey, seed } from './seed.ts'
import { createWebhookReceiver } from './webhook-receiver.ts'

/** These are the options of the command. */
export interface DevOptions {
  /** The origin of the application; undefined: there is none. */
  app: string | undefined
  /** 0 takes a free one. */
  port: number
  /** The folder that keeps the data; undefined: a temporary one. */
  data: string | undefined
  /** `shop` puts everything under `shop.localhost`, which has cookies of its own. */
  name: string | undefined
  /** A further address to listen on, for programs in containers. */
  listen: string | undefined
  /** Events are passed on there. */
  webhook: string | undefined
}

interface DevDeps {
  options: DevOptions
  environment: Environment
  /** Throws `ConfigError`. */
  readConfig: (environment: Environment) => Config
  createLog: (config: Config) => Log
}

/** The whole service beside an application, for developers and tests. */
export interface Dev {
  url: string
  apiKey: string
  webhookSecret: string
  /** The password is undefined if it is not that of the start any more. */
  users: (Omit<DevUser, 'password'> & { password: string | undefined })[]
  /** These settings of the environment have no effect here. */
  notUsed: string[]
  warnings: string[]
  config: Config
  log: Log
  follow(listener: (event: DevEvent) => void): void
  stop(): Promise<void>
}

/** Starts everything; what fails leaves nothing behind. Throws `ConfigError` and `AppError`, for people. */
export const startDev = async (deps: DevDeps): Promise<Dev> => {
  refuseProduction(deps.environment)
  const ends: End[] = []
  const stop = async (): Promise<void> => {
    for (const end of ends.splice(0).toReversed()) await end()
  }
  try {
    return { ...(await start(deps, (...more) => ends.push(...more))), stop }
  } catch (error) {
    await stop()
    throw error
  }
}

type End = () => unknown

const start = async (deps: DevDeps, atEnd: (...ends: End[]) => void): Promise<Omit<Dev, 'stop'>> => {
  const { options, environment: given } = deps
  const events = createEvents()
  const doors = await openDoors(options, events, atEnd)
  const { environment, notUsed } = toDevEnvironment(given, doors.settings)
  const config = deps.readConfig(environment)
  const log = deps.createLog(config)
  const clock = createMovableClock()
  const apiKey = newApiKey()
  const provider = createDevProvider({ baseUrl: doors.settings.baseUrl, clock })
  const starting = startRunningService({
    config,
    log,
    clock,
    hasHashCost: given['SVC_ARGON2'] !== undefined,
    fetchFrom: (issuer) => (issuer === ISSUER ? provider.fetch : undefined),
    fill: ({ core }) => seed(core, apiKey),
  })
  atEnd(async () => (await starting.catch(() => undefined))?.stop())
  const service = async () => (await starting).current()
  doors.open(createDoorkeeper({ options, apiKey, clock, provider, events, starting, service, ...doors }))
  const { core } = await service()
  return {
    url: core.baseUrl,
    apiKey,
    webhookSecret: doors.settings.webhookSecret,
    users: await Promise.all(DEV_USERS.map((user) => withTruePassword(core, user))),
    notUsed,
    warnings: ownWarningsOf(config.warnings, given),
    config,
    log,
    follow: events.follow,
  }
}

const withTruePassword = async (core: Core, user: DevUser): Promise<Dev['users'][number]> => ({
  ...user,
  password: (await hasOwnPassword(core, user)) ? user.password : undefined,
})

/** Opens what has an address or a name on this machine, before the service is configured with them. */
const openDoors = async (options: DevOptions, events: DevEvents, atEnd: (...ends: End[]) => void) => {
  const folder = openFolder(options.data)
  process.once('exit', folder.leave)
  atEnd(() => process.off('exit', folder.leave), folder.leave)
  const mailbox = await startMailbox((message) => events.tell({ type: 'mail', message }))
  atEnd(mailbox.stop)
  const dispatch = Promise.withResolvers<Dispatch>()
  const { port, close } = await openFront({
    ...options,
    onRequest: (...request) => void dispatch.promise.then(({ onRequest }) => onRequest(...request)),
    onUpgrade: (...request) => void dispatch.promise.then(({ onUpgrade }) => onUpgrade(...request)),
  })
  atEnd(close)
  const webhookSecret = `whsec_${randomBytes(24).toString('base64')}`
  const receiver = createWebhookReceiver({
    secret: webhookSecret,
    passOnTo: options.webhook,
    onWebhook: (webhook) => events.tell({ type: 'webhook', webhook }),
  })
  const settings = {
    baseUrl: new URL(`http://${options.name === undefined ? '' : `${options.name}.`}localhost:${port}`).origin,
    port,
    databaseFile: folder.databaseFile,
    smtpUrl: mailbox.smtpUrl,
    webhookUrl: `http://127.0.0.1:${port}/auth/dev/webhooks`,
    webhookSecret,
  }
  return { mailbox, receiver, settings, open: dispatch.resolve }
}

interface Doorkeeping
  extends Pick<DevRoutesDeps, 'apiKey' | 'clock' | 'provider' | 'mailbox' | 'receiver' | 'service'> {
  options: DevOptions
  events: DevEvents
  settings: OwnSettings
  starting: Promise<RunningService>
}

/** Leads each request to where it belongs. */
const createDoorkeeper = ({ options, settings, starting, ...deps }: Doorkeeping): Dispatch => {
  const { events, mailbox, receiver, service } = deps
  const { app = '' } = options
  const own = createOwnRequests({ ...options, port: settings.port })
  const reset = async (): Promise<void> => {
    await (await starting).reset(() => {
      receiver.webhooks.clear()
      mailbox.messages.clear()
    })
    events.tell({ type: 'reset' })
  }
  const routes = createDevRoutes({ ...deps, ...settings, app: options.app, passOnTo: options.webhook, reset })
  return createDispatch({
    own,
    ...settings,
    app: options.app,
    loadProxy: once(async () => (await import('./proxy.ts')).createAppProxy(app)),
    service,
    handleDev: createRouter({ routes, requireOwn: own.requireOwn, layout: async () => (await service()).layout }),
    events,
  })
}
