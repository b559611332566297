import cluster from 'node:cluster'
import closeWithGrace from 'close-with-grace'
import { bootstrap, SERVICE_PATIENCE_MS } from '../bootstrap.ts'
import type { Config } from '../config/config.ts'
import { createCore } from '../core.ts'
import { type Log, settleLog } from '../lib/log.ts'
import { readVersion } from '../lib/version.ts'
import { requireFreePort } from './port.ts'
import { WORKER_COMMAND } from './worker-messages.ts'
import { createWorkers, type Workers } from './workers.ts'

interface SupervisorDeps {
  log: Log
  /** Says that it serves. */
  announce: (config: Config, listen: string) => void
  /** How long a stop may take beyond the drain, in milliseconds. */
  stopWithinMs: number
}

/** `svc serve` with `SVC_WORKERS` above 1: a supervisor, and the workers that it forks. */
export const serveWithWorkers = async (
  given: Config,
  { log, announce, stopWithinMs }: SupervisorDeps,
): Promise<void> => {
  // Workers share the port in a way that would let a stranger in too, another svc: none may be there before.
  const config = { ...given, port: await requireFreePort(given) }
  for (const warning of config.warnings) log.warn(warning)
  await prepare(config, log)

  // Secrets are bytes, which JSON would turn into something else.
  cluster.setupPrimary({ args: [WORKER_COMMAND], serialization: 'advanced' })
  const workers = createWorkers({ config, log, stopWithinMs })
  const metrics = await loadMetrics(config, log, workers)
  const lastResort = { onSecondSignal: workers.kill, onSecondError: workers.kill, onTimeout: workers.kill }
  const delay = config.drainMs + stopWithinMs
  const grace = closeWithGrace({ delay, logger: false, ...lastResort }, async ({ signal, err }) => {
    if (err) log.error({ err }, 'stopping after an error that nobody expected')
    else log.info({ signal }, 'stopping')
    await workers.stop().finally(() => metrics?.stop())
    log.info('stopped')
    await settleLog(log)
  })
  const start = async (): Promise<string> => {
    await metrics?.start()
    return workers.start()
  }
  const listen = await start().catch(async (error: unknown) => {
    // Told to stop while it started: that is no failure.
    if (workers.isStopping()) return undefined
    grace.uninstall()
    // How the others end says no more.
    await workers.stop().catch(() => {})
    await metrics?.stop()
    throw error
  })
  if (listen !== undefined) announce(config, listen)
}

/** The supervisor answers Prometheus for all workers, which each have their own part of the truth. */
const loadMetrics = async ({ metricsHost, metricsPort }: Config, log: Log, workers: Workers) => {
  if (metricsPort === undefined) return undefined
  const { createFleetMetrics } = await import('../metrics/fleet.ts')
  return createFleetMetrics({
    version: readVersion(),
    log,
    host: metricsHost,
    port: metricsPort,
    members: workers.alive,
  })
}

/** What would fail in every worker fails here, once: the database, its schema, the secret, the first signing key. */
const prepare = async (config: Config, log: Log): Promise<void> => {
  const bootstrapped = await bootstrap({ config, log, patienceMs: SERVICE_PATIENCE_MS })
  try {
    await createCore({ config, log, ...bootstrapped }).keys.prepare()
  } finally {
    await bootstrapped.db.close()
  }
}
