import type { TestContext } from 'node:test'
import { bootstrap } from '../../../src/bootstrap.ts'
import { readConfig } from '../../../src/config/config.ts'
import { type Core, createCore } from '../../../src/core.ts'
import { createLog } from '../../../src/lib/log.ts'
import { afterwards } from '../cleanup.ts'
import { createUserAgent, type UserAgent } from '../client/user-agent.ts'
import type { TurnedClock } from '../clock/turned-clock.ts'
import { databasePath } from '../database/database-file.ts'
import { temporaryDirectory } from '../temporary-directory.ts'
import type { Environment } from './command.ts'
import { CHEAP_HASHES, type Service, startService } from './service.ts'
import { type ServiceProcess, startServiceProcess } from './service-process.ts'

/** Two services with the same database, root secret and public origin, and different ports. */
export type Replicas<S extends Service = Service> = readonly [S, S]

type Options = { env?: Environment; t?: TestContext }

const startBoth = async <S extends Service>(
  start: (options: Options & { cwd: string }) => Promise<S>,
  { env = {}, t }: Options,
): Promise<Replicas<S>> => {
  const cwd = temporaryDirectory(t)
  const startOne = () => start({ cwd, env: { SVC_BASE_URL: 'http://svc.example', ...env }, ...(t && { t }) })
  return Promise.all([startOne(), startOne()])
}

/** Starts both at once. They end after the test, or after the file if no test is given. */
export const startReplicas = ({ clock, ...options }: Options & { clock?: TurnedClock } = {}): Promise<Replicas> =>
  startBoth((place) => startService({ ...place, ...(clock && { clock }) }), options)

/** The same as processes, which share no memory and run in parallel. */
export const startReplicaProcesses = (options: Options = {}): Promise<Replicas<ServiceProcess>> =>
  startBoth(startServiceProcess, options)

/** The same agent with the same cookies, connected to that replica. */
export const at = (replica: Service, agent: UserAgent): UserAgent => createUserAgent(replica, agent.cookies)

/** The replicas in an order that changes each round: from, to. */
export const inTurn = <S extends Service>([one, other]: Replicas<S>, round: number): Replicas<S> =>
  round % 2 ? [other, one] : [one, other]

/** The core of the command line, for tests that would start it too often: a third process on the installation. */
export const openOperator = async (service: Service, t?: TestContext): Promise<Core> => {
  const env = { SVC_DATABASE_URL: `sqlite:${databasePath(service.directory)}`, ...service.env }
  const config = readConfig(env, () => '')
  const log = createLog('silent', { write: () => {} })
  const bootstrapped = await bootstrap({ config, log })
  afterwards(t, () => bootstrapped.db.close())
  return createCore({ config, log, hashCost: CHEAP_HASHES, ...bootstrapped })
}

/** Runs work for each round, several at once, and resolves when all are done, to what each gave. */
export const eachRound = async <Result>(
  rounds: number,
  atOnce: number,
  work: (round: number) => Promise<Result>,
): Promise<Result[]> => {
  const results: Result[] = []
  const queue = Array.from({ length: rounds }, (_, round) => round).values()
  const worker = async () => {
    for (const round of queue) results[round] = await work(round)
  }
  await Promise.all(Array.from({ length: atOnce }, worker))
  return results
}
