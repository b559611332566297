import type { Log } from '../lib/log.ts'
import { createCounts } from './counts.ts'
import { createMetricsListener } from './listener.ts'
import { createReadings, type Sources } from './readings.ts'
import { createRegistry, type Snapshot, takeSnapshot } from './registry.ts'

interface MetricsDeps {
  version: string
  log: Log
  host: string
  port: number
  /** Their names in the settings. */
  providers: readonly string[]
}

/** The metrics of this process. Loaded only when metrics are on, since the library is slow to load. */
export const createMetrics = ({ version, log, host, port, providers }: MetricsDeps) => {
  const registry = createRegistry({ version, serving: 1 })
  const { contentType } = registry

  return {
    ...createCounts(registry, providers),
    /** Connects the readings. Call it once. */
    readFrom: (sources: Sources): void => createReadings(registry, sources),
    /** The metrics for the supervisor, which answers for all workers. */
    snapshot: (): Promise<Snapshot> => takeSnapshot(registry),
    ...createMetricsListener({ log, host, port, contentType, read: () => registry.metrics() }),
  }
}

export type Metrics = ReturnType<typeof createMetrics>
