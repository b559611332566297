import { Counter, type Registry } from 'prom-client'

/**
 * Creates counters with one label. Known values begin at 0, so that Prometheus sees their first event as an increase.
 */
export const createCounters =
  (registry: Registry) =>
  <Value extends string>(name: string, help: string, label: string, known: readonly Value[] = []) => {
    const metric = new Counter({ name, help, labelNames: [label], registers: [registry] })
    const children = new Map(known.map((value) => [value, metric.labels(value)]))
    for (const child of children.values()) child.inc(0)
    return (value: Value, by = 1): void => (children.get(value) ?? metric.labels(value)).inc(by)
  }
