import { readFileSync } from 'node:fs'
import path from 'node:path'
import type { TestContext } from 'node:test'
import { bootstrap } from '../../../src/bootstrap.ts'
import { type Config, readConfig } from '../../../src/config/config.ts'
import { createLog } from '../../../src/lib/log.ts'
import { createService, type Service as Running } from '../../../src/service.ts'
import { afterwards } from '../cleanup.ts'
import type { TurnedClock } from '../clock/turned-clock.ts'
import { copyDatabaseModel } from '../database/database-models.ts'
import { databaseSettings } from '../database/folder-database.ts'
import { somePort } from '../network/free-port.ts'
import { temporaryDirectory } from '../temporary-directory.ts'
import type { CommandResult, Environment } from './command.ts'
import { createServiceLog, type LogLine } from './service-log.ts'
import { runCommand } from './warm-command.ts'

export type { LogLine } from './service-log.ts'

/** A service with a real HTTP server in a separate folder, with its database and secret. */
export type Service = {
  /** The public origin, http://localhost:PORT. */
  url: string
  port: number
  directory: string
  /** The settings that it runs with, including its port. */
  readonly env: Environment
  /** The log so far, across restarts. */
  logs(): string
  logLines(): LogLine[]
  /** Stops gracefully, as on SIGTERM. */
  stop(): Promise<unknown>
  /** Starts again in the same folder on the same port. `env` overrides its settings. */
  restart(options?: { env?: Environment }): Promise<void>
  /** Runs a command with the service's settings, in its folder. */
  cli(args: string[], options?: { input?: string; env?: Environment; clock?: TurnedClock }): Promise<CommandResult>
  [Symbol.asyncDispose](): Promise<void>
}

// The driver of PostgreSQL would read them, which `main` prevents in a process.
for (const name of Object.keys(process.env)) if (/^(?:NODE_)?PG/.test(name)) delete process.env[name]

/** The configuration that `svc serve` would read in the folder. */
const readSettings = (env: Environment, directory: string): Config => {
  const config = readConfig(env, (file) => readFileSync(path.resolve(directory, file), 'utf8'))
  if (env.NODE_OPTIONS !== undefined) throw new Error('NODE_OPTIONS need startServiceProcess')
  const { database } = config
  if (database.kind !== 'sqlite') return config
  return { ...config, database: { ...database, file: path.resolve(directory, database.file) } }
}

type Launch = {
  env: Environment
  directory: string
  write: (line: string) => void
  clock: TurnedClock | undefined
  fullHashes: boolean
}

/** The least that Argon2 allows. */
export const CHEAP_HASHES = { memoryCost: 8, timeCost: 1, parallelism: 1 }

const launch = async ({ env, directory, write, clock, fullHashes }: Launch): Promise<Running> => {
  const config = readSettings(env, directory)
  if (env.SVC_DATABASE_URL === undefined) copyDatabaseModel(config)
  await clock?.turnDatabase(env.SVC_DATABASE_URL)
  const log = createLog(config.logLevel, { write })
  const bootstrapped = await bootstrap({ config, log, patienceMs: 30_000 })
  const hashCost = fullHashes ? undefined : CHEAP_HASHES
  const service = await createService({ config, log, clock, hashCost, ...bootstrapped }).catch(
    async (error: unknown) => {
      await bootstrapped.db.close()
      throw error
    },
  )
  await service.start().catch(async (error: unknown) => {
    await service.stop(0)
    throw error
  })
  return service
}

/** Whether another program listens on the port. */
const isTaken = (error: unknown, port: string | undefined): boolean =>
  error instanceof Error && 'code' in error && error.code === 'EADDRINUSE' && error.message.endsWith(`:${port}`)

/**
 * Starts a service inside this process, on a free port with rate limits off, with the database of this run (see
 * `databaseSettings`) and the clock that is given. It stops, and its folder is removed, after the test `t`, or after
 * the file when no test is given. Its password hashes take next to no time, unless a test is about them (`fullHashes`);
 * those of its commands cost what they always do. For a service that can be killed, or has a process's limits, see
 * `startServiceProcess`.
 */
export const startService = async ({
  env = {},
  cwd,
  clock,
  fullHashes = false,
  t,
}: {
  env?: Environment
  cwd?: string
  clock?: TurnedClock
  fullHashes?: boolean
  t?: TestContext
} = {}): Promise<Service> => {
  const directory = cwd ?? temporaryDirectory(t)
  const database = await databaseSettings(directory, env, t)
  const givenPort = env.SVC_PORT === '0' ? undefined : env.SVC_PORT
  let settings: Environment = { SVC_RATE_LIMIT: 'off', ...database, ...env }
  const log = createServiceLog()
  let running: Running | undefined

  const begin = async (): Promise<void> => {
    running = await launch({ env: settings, directory, write: log.write, clock, fullHashes })
  }
  const beginSomewhere = async (triesLeft = 5): Promise<void> => {
    settings = { ...settings, SVC_PORT: givenPort ?? somePort() }
    await begin().catch(async (error: unknown) => {
      if (!isTaken(error, settings.SVC_PORT) || givenPort !== undefined || triesLeft === 0) throw error
      log.clear()
      await beginSomewhere(triesLeft - 1)
    })
  }
  const end = async (drainMs?: number): Promise<void> => {
    const service = running
    running = undefined
    await service?.stop(drainMs)
  }
  await beginSomewhere()
  const port = Number(settings.SVC_PORT)
  const endAtOnce = () => end(0)
  afterwards(t, endAtOnce)
  return {
    url: `http://localhost:${port}`,
    port,
    directory,
    get env() {
      return settings
    },
    logs: log.text,
    logLines: log.lines,
    stop: () => end(),
    restart: async ({ env: changes = {} } = {}) => {
      await endAtOnce()
      settings = { ...settings, ...changes }
      await begin()
    },
    cli: (args, { input = '', env: changes = {}, clock: clockOfCommand = clock } = {}) =>
      runCommand({ args, cwd: directory, env: { ...settings, ...changes }, input, aheadMs: clockOfCommand?.aheadMs() }),
    [Symbol.asyncDispose]: endAtOnce,
  }
}
