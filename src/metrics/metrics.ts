import type { Log } from '../lib/log.ts'
import { type Counts, createCounts } from './counts.ts'
import { createMetricsListener, type MetricsListener } from './listener.ts'
import { addReadings, type MetricsSources } from './readings.ts'
import { createRegistry } from './registry.ts'

interface MetricsDeps {
  version: string
  log: Log
  host: string
  port: number
  /** The names of the configured providers. */
  providers: readonly string[]
}

/** The metrics of one process: what is counted as it happens, what is read at each scrape, and the listener. */
export interface Metrics extends Counts, MetricsListener {
  /** To be called once, before the first scrape. */
  readFrom(sources: MetricsSources): void
}

/** To be imported only when metrics are on: the library takes long to load. */
export const createMetrics = ({ version, log, host, port, providers }: MetricsDeps): Metrics => {
  const registry = createRegistry(version)
  const { contentType } = registry

  return {
    ...createCounts(registry, providers),
    readFrom: (sources) => addReadings(registry, sources),
    ...createMetricsListener({ log, host, port, contentType, read: () => registry.metrics() }),
  }
}
