import { collectDefaultMetrics, Gauge, Registry } from 'prom-client'

interface Facts {
  version: string
  /** 1, or 0 for a process that leaves the serving to others. */
  serving: 0 | 1
}

/** Where the metrics of this process are kept; those that every program of its kind has are in it already. */
export const createRegistry = ({ version, serving }: Facts): Registry => {
  const registry = new Registry()
  const registers = [registry]
  collectDefaultMetrics({ register: registry })
  for (const name of LEFT_OUT) registry.removeSingleMetric(name)
  const help = 'Always 1; the label says which version runs.'
  new Gauge({ name: 'svc_build_info', help, labelNames: ['version'], aggregator: 'first', registers }).set(
    { version },
    1,
  )
  new Gauge({ name: 'svc_processes', help: 'Processes that serve.', registers }).set(serving)
  return registry
}

/** Gauges called totals, and those that go through every connection by a private door of Node's. */
const LEFT_OUT = [
  'nodejs_active_resources_total',
  'nodejs_active_handles',
  'nodejs_active_handles_total',
  'nodejs_active_requests',
  'nodejs_active_requests_total',
]

/** The metrics of one process at one moment, in a form that another process can be told. */
export type Snapshot = {
  name: string
  type: 'counter' | 'gauge' | 'histogram' | 'summary'
  /** How those of several processes become one. */
  aggregator: string
}[]

export const takeSnapshot = async (registry: Registry): Promise<Snapshot> => {
  // The library's types name numbers where there are words.
  const metrics = (await registry.getMetricsAsJSON()) as unknown as Snapshot
  return metrics.map((metric) => (isLag(metric) ? { ...metric, aggregator: 'max' } : metric))
}

/** Of several event loops the slowest counts: the library's average would hide it. */
const isLag = ({ name, aggregator }: Snapshot[number]): boolean =>
  aggregator === 'average' && name.startsWith('nodejs_eventloop_lag_')
