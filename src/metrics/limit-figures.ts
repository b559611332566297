import { Gauge, type Registry } from 'prom-client'
import { LIMIT_NAMES, LIMITS, labelOf } from '../limits/limit-table.ts'

/** Adds the figures of all limits of tries. They are the same in every process, and never change. */
export const addLimitFigures = (registry: Registry): void => {
  const gauge = (name: string, help: string) => new Gauge({ name, help, labelNames: ['limit'], registers: [registry] })
  const tries = gauge('svc_rate_limit_tries', 'How many tries a limit allows within one window.')
  const windows = gauge('svc_rate_limit_window_seconds', 'How long the window of a limit is.')
  for (const limit of LIMIT_NAMES) {
    const labels = { limit: labelOf(limit) }
    tries.set(labels, LIMITS[limit].tries)
    windows.set(labels, LIMITS[limit].windowMs / 1000)
  }
}
