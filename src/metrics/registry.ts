import { collectDefaultMetrics, Gauge, Registry } from 'prom-client'

/** Creates the registry of this process, with the default metrics of Node.js. */
export const createRegistry = (version: string): Registry => {
  const registry = new Registry()
  const registers = [registry]
  collectDefaultMetrics({ register: registry })
  for (const name of LEFT_OUT) registry.removeSingleMetric(name)
  const help = 'Always 1; the label says which version runs.'
  new Gauge({ name: 'svc_build_info', help, labelNames: ['version'], registers }).set({ version }, 1)
  new Gauge({ name: 'svc_processes', help: 'Processes that serve.', registers }).set(1)
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
