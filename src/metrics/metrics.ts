import { collectDefaultMetrics, Gauge, Registry } from 'prom-client'
import type { Log } from '../lib/log.ts'
import { type Counts, createCounts } from './counts.ts'
import { createMetricsListener, type MetricsListener } from './listener.ts'
import { addReadings, type MetricsSources } from './readings.ts'

interface MetricsDeps {
  version: string
  log: Log
  host: string
  port: number
  providers: readonly string[]
  /** It tells whether svc is the OAuth server of its application. */
  clients: boolean
  /** It tells whether there are pages for administrators. */
  administration: boolean
}

/** The metrics of one process are counted as things happen, or read at each scrape; a listener serves them. */
export interface Metrics extends Counts, MetricsListener {
  /** Call it once, before the first scrape. */
  readFrom(sources: MetricsSources): void
}

/** Import it only when metrics are on: the library takes long to load. */
export const createMetrics = ({ version, log, host, port, ...counted }: MetricsDeps): Metrics => {
  const registry = createRegistry(version)
  return {
    ...createCounts(registry, counted),
    readFrom: (sources) => addReadings(registry, sources),
    ...createMetricsListener({ log, host, port, registry }),
  }
}

const createRegistry = (version: string): Registry => {
  const registry = new Registry()
  const registers = [registry]
  collectDefaultMetrics({ register: registry })
  for (const name of LEFT_OUT) registry.removeSingleMetric(name)
  const help = 'Always 1; the label says which version runs.'
  new Gauge({ name: 'svc_build_info', help, labelNames: ['version'], registers }).set({ version }, 1)
  new Gauge({ name: 'svc_processes', help: 'Processes that serve.', registers }).set(1)
  return registry
}

/** These are gauges whose names end in `_total`, and metrics that list every connection by a private API of Node.js. */
const LEFT_OUT = [
  'nodejs_active_resources_total',
  'nodejs_active_handles',
  'nodejs_active_handles_total',
  'nodejs_active_requests',
  'nodejs_active_requests_total',
]
