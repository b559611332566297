import { collectDefaultMetrics, Gauge, Registry } from 'prom-client'

interface RegistryOptions {
  version: string
  /** 1, or 0 for a supervisor, which leaves serving to its workers. */
  serving: 0 | 1
}

/** Creates the registry of this process, with the default metrics of Node.js. */
export const createRegistry = ({ version, serving }: RegistryOptions): Registry => {
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

/** Gauges whose names end in `_total`, and metrics that list every connection by a private API of Node.js. */
const LEFT_OUT = [
  'nodejs_active_resources_total',
  'nodejs_active_handles',
  'nodejs_active_handles_total',
  'nodejs_active_requests',
  'nodejs_active_requests_total',
]

/** The metrics of one process at one moment, in a form that can be sent to another process. */
export type Snapshot = {
  name: string
  type: 'counter' | 'gauge' | 'histogram' | 'summary'
  /** How the values of several processes are combined. */
  aggregator: string
}[]

export const takeSnapshot = async (registry: Registry): Promise<Snapshot> => {
  // The library's types declare numbers where the values are strings.
  const metrics = (await registry.getMetricsAsJSON()) as unknown as Snapshot
  return metrics.map((metric) => (isLag(metric) ? { ...metric, aggregator: 'max' } : metric))
}

/** Whether a metric is a lag of the event loop. The slowest process counts: the library's average would hide it. */
const isLag = ({ name, aggregator }: Snapshot[number]): boolean =>
  aggregator === 'average' && name.startsWith('nodejs_eventloop_lag_')
