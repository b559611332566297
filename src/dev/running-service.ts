import { bootstrap } from '../bootstrap.ts'
import type { Config } from '../config/config.ts'
import type { OAuthDeps } from '../oauth/oauth-deps.ts'
import type { RootSecret } from '../lib/derived-keys.ts'
import type { Log } from '../lib/log.ts'
import { createService, type Service } from '../service.ts'
import type { MovableClock } from './movable-clock.ts'
import { deleteEverything } from './reset-store.ts'

/** Tests of an application sign in often, and prove nothing about the cost of a password. */
const CHEAP_HASHES = { memoryCost: 64, timeCost: 1, parallelism: 1 }

interface RunningServiceDeps {
  config: Config
  log: Log
  clock: MovableClock
  /** Tells whether the environment has chosen the cost of hashes. */
  hasHashCost: boolean
  fetchFrom: OAuthDeps['fetchFrom']
  /** Fills the database before the service starts. */
  fill: (service: DevService) => Promise<void>
}

export interface DevService extends Service {
  rootSecret: RootSecret
}

/** The service within this process: it listens nowhere, and is handed its requests. */
export interface RunningService {
  /** Resolves to the service that runs now; while everything is emptied, to the next one. */
  current(): Promise<DevService>
  /** Empties the database, fills it again and puts the clock right. `then` runs before any other request. */
  reset(then: () => void): Promise<void>
  stop(): Promise<void>
}

export const startRunningService = async (deps: RunningServiceDeps): Promise<RunningService> => {
  const { clock } = deps
  let running = start(deps, false)
  await running

  return {
    current: () => running,

    async reset(then) {
      const before = running
      const restart = async (): Promise<DevService> => {
        await (await before).stop(0)
        clock.putRight()
        const service = await start(deps, true)
        then()
        return service
      }
      running = restart()
      await running
    },

    stop: async () => (await running).stop(0),
  }
}

/** A new one keeps nothing in memory of what was before. */
const start = async (
  { config, log, clock, hasHashCost, fetchFrom, fill }: RunningServiceDeps,
  isEmptied: boolean,
): Promise<DevService> => {
  const bootstrapped = await bootstrap({ config, log })
  if (isEmptied) await deleteEverything(bootstrapped.db)
  const hashCost = hasHashCost ? undefined : CHEAP_HASHES
  const created = await createService({ config, log, clock, hashCost, fetchFrom, ...bootstrapped })
  const service = { ...created, rootSecret: bootstrapped.rootSecret }
  await fill(service)
  // A test that has emptied everything sees no event that it has not caused.
  if (isEmptied) await service.core.webhooks.deliverDue()
  await service.start(async () => service.core.baseUrl)
  return service
}
