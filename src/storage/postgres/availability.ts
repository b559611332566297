import { setTimeout as sleep } from 'node:timers/promises'
import { unavailable } from '../../lib/errors.ts'

const POLL_INTERVAL_MS = 250

interface AvailabilityDeps {
  /** Rejects while the database does not respond. */
  probe: () => Promise<void>
  onDown: (error: Error) => void
  onUp: () => void
}

interface AvailabilityMonitor {
  /** Throws `unavailable` while the database is known not to respond. */
  requireAvailable(): void
  /** Call it when the database did not respond: probes it until it does. */
  reportNoResponse(): void
  stop(): void
}

/**
 * Tracks whether the database responds. After one operation had no response, a single poll probes the database, and all
 * other operations fail at once instead of waiting. The poll does not keep the process alive.
 */
export const createAvailabilityMonitor = ({ probe, onDown, onUp }: AvailabilityDeps): AvailabilityMonitor => {
  let down: Error | undefined
  let isPolling = false
  const stop = new AbortController()

  const probeOnce = async (): Promise<boolean> => {
    try {
      await probe()
      return true
    } catch (error) {
      const wasUp = down === undefined
      down = error instanceof Error ? error : new Error(String(error))
      if (wasUp) onDown(down)
      return false
    }
  }

  const pollUntilUp = async (): Promise<void> => {
    while (!stop.signal.aborted && !(await probeOnce())) await sleep(POLL_INTERVAL_MS, undefined, { ref: false })
    isPolling = false
    if (down && !stop.signal.aborted) onUp()
    down = undefined
  }

  return {
    requireAvailable() {
      // Without the cause, which `onDown` has logged once: many operations may fail here.
      if (down) throw unavailable('The database cannot be reached.')
    },
    reportNoResponse() {
      if (isPolling || stop.signal.aborted) return
      isPolling = true
      void pollUntilUp()
    },
    stop: () => stop.abort(),
  }
}
