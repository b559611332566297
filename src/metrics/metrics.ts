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
  /** As the settings name them. */
  providers: readonly string[]
}

/** What this process tells Prometheus. Loaded only where somebody asks: the library takes its time to load. */
export const createMetrics = ({ version, log, host, port, providers }: MetricsDeps) => {
  const registry = createRegistry({ version, serving: 1 })
  const { contentType } = registry

  return {
    ...createCounts(registry, providers),
    /** To be called once: says where to read what is not told. */
    readFrom: (sources: Sources): void => createReadings(registry, sources),
    /** For the supervisor of several processes, which answers for all of them. */
    snapshot: (): Promise<Snapshot> => takeSnapshot(registry),
    ...createMetricsListener({ log, host, port, contentType, read: () => registry.metrics() }),
  }
}

export type Metrics = ReturnType<typeof createMetrics>
