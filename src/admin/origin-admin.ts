import { createGracefulShutdown, type GracefulShutdown } from '../http/transport/graceful-shutdown.ts'
import { listen } from '../http/transport/listen.ts'
import { logAccountEvent } from '../lib/account-event.ts'
import { AppError } from '../lib/errors.ts'
import { createNetworkCheck } from '../lib/network.ts'
import { type AdminDeps, servicesOf } from './admin.ts'
import { createOriginDoor } from './entrance/origin-door.ts'
import { createSignInPage } from './entrance/sign-in.ts'
import { createAdminErrorPage } from './error-page.ts'
import { createAdminServer } from './http/admin-server.ts'
import { originRoutes } from './routes.ts'

interface OriginDeps extends AdminDeps {
  adminUrl: string
  port: number
  isStopping: () => boolean
}

/** The pages at `SVC_ADMIN_URL`, with a listener of their own. */
export interface OriginAdmin extends GracefulShutdown {
  /** Throws `unavailable`, naming the setting, when it cannot listen. */
  start(): Promise<void>
}

/** A flood at these pages takes no more from those of users. */
const MAX_CONNECTIONS = 1000

/** Nothing of it is loaded without `SVC_ADMIN_URL`. */
export const createOriginAdmin = async ({ adminUrl, port, isStopping, ...deps }: OriginDeps): Promise<OriginAdmin> => {
  const { core, config, log } = deps
  const { entrance } = await core.loadAdministrators()
  const door = createOriginDoor({ adminUrl, entrance, limits: core.limits })
  const services = servicesOf(deps, {
    door: 'origin',
    logEvent(context, event, facts) {
      const administrator = facts.administrator ?? context.operator.name
      const origin = { request_id: context.requestId, client: context.device.address }
      logAccountEvent(log, event, { ...facts, administrator }, origin)
    },
  })
  const server = createAdminServer({
    door,
    routes: originRoutes(services, door, entrance),
    errorPage: createAdminErrorPage(services.site, createSignInPage(services.site)),
    log,
    hstsMs: config.hstsMs,
    maxConnections: MAX_CONNECTIONS,
    isTrustedProxy: createNetworkCheck(config.trustProxy),
    isStopping,
  })
  const { host } = config
  return {
    ...createGracefulShutdown(server),

    async start() {
      try {
        await listen(server, { host, port })
      } catch (error) {
        const { code } = error as NodeJS.ErrnoException
        throw new AppError(
          'unavailable',
          code === 'EADDRINUSE'
            ? `Port ${port} on ${host} is taken: set SVC_ADMIN_PORT to another.`
            : `Cannot listen for administrators on ${host} port ${port}, SVC_HOST and SVC_ADMIN_PORT (${code}).`,
        )
      }
    },
  }
}
