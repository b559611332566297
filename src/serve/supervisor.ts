import cluster from 'node:cluster'
import { bootstrap, SERVICE_PATIENCE_MS } from '../bootstrap.ts'
import type { Config } from '../config/config.ts'
import { createCore } from '../core.ts'
import type { Log } from '../lib/log.ts'
import { readVersion } from '../lib/version.ts'
import { requireFreePort } from './port.ts'
import { WORKER_COMMAND } from './worker-messages.ts'
import { stopOnSignal } from './stop-on-signal.ts'
import { createWorkers, type Workers } from './workers.ts'

interface SupervisorDeps {
  log: Log
  reportServing: (config: Config, listen: string) => void
  /** How long a stop may take beyond the drain, in milliseconds. */
  stopWithinMs: number
}

/** `svc serve` with `SVC_WORKERS` above 1: starts workers, replaces those that end, and answers Prometheus for all. */
export const serveWithWorkers = async (
  configured: Config,
  { log, reportServing, stopWithinMs }: SupervisorDeps,
): Promise<void> => {
  // On Linux, workers listen with SO_REUSEPORT, which would not fail if another svc listened on the same port.
  const config = { ...configured, port: await requireFreePort(configured) }
  for (const warning of config.warnings) log.warn(warning)
  await prepare(config, log)

  // The settings contain secrets as bytes, which JSON cannot represent.
  cluster.setupPrimary({ args: [WORKER_COMMAND], serialization: 'advanced' })
  const workers = createWorkers({ config, log, stopWithinMs })
  const metrics = await loadMetrics(config, log, workers)
  const removeHandlers = stopOnSignal({
    log,
    delayMs: config.drainMs + stopWithinMs,
    stop: () => workers.stop().finally(() => metrics?.stop()),
    kill: workers.kill,
  })
  const start = async (): Promise<string> => {
    await metrics?.start()
    return workers.start()
  }
  const listen = await start().catch(async (error: unknown) => {
    // A signal to stop during the start is no failure.
    if (workers.isStopping()) return undefined
    removeHandlers()
    // The first error is reported. How the other workers end does not matter any more.
    await workers.stop().catch(() => {})
    await metrics?.stop()
    throw error
  })
  if (listen !== undefined) reportServing(config, listen)
}

/** The metrics of all workers together, which the supervisor serves. */
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

/** Opens and migrates the database before the workers do, so that an error appears once and not in every worker. */
const prepare = async (config: Config, log: Log): Promise<void> => {
  const bootstrapped = await bootstrap({ config, log, patienceMs: SERVICE_PATIENCE_MS })
  try {
    await createCore({ config, log, ...bootstrapped }).signingKeys.prepare()
  } finally {
    await bootstrapped.db.close()
  }
}
