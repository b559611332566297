import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { unavailable } from '../../lib/errors.ts'
import { isServerResponse } from './errors.ts'

const POLL_INTERVAL_MS = 250

interface AvailabilityDeps {
  /** Rejects while the database does not respond. */
  probe: () => Promise<void>
  onDown: (error: Error) => void
  onUp: () => void
}

/**
 * Tracks whether the database responds. After one operation had no response, a single poll probes the database, and all
 * other operations fail at once instead of waiting. The poll does not keep the process alive.
 */
export const createAvailabilityMonitor = ({ probe, onDown, onUp }: AvailabilityDeps) => {
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
    /** Throws `unavailable` while the database is known not to respond. */
    requireAvailable(): void {
      // The cause is left out, which `onDown` has logged once: many operations may fail here.
      if (down) throw unavailable('The database cannot be reached.')
    },
    /** Call it when the database did not respond: probes it until it does. */
    reportNoResponse(): void {
      if (isPolling || stop.signal.aborted) return
      isPolling = true
      void pollUntilUp()
    },
    stop: (): void => stop.abort(),
  }
}

const MIN_PROBE_MS = 1000
const MAX_PROBE_MS = 5000

/**
 * Connects outside the pool; rejects when the server does not respond. An error that the server sends is a response.
 */
export const createProbe = (connection: pg.ClientConfig, timeoutMs: number) => {
  // The timeout is short, so that the end of an outage is noticed soon, but long enough for a slow server.
  const probeTimeoutMs = Math.min(Math.max(MIN_PROBE_MS, timeoutMs / 2), MAX_PROBE_MS)

  return async (): Promise<void> => {
    const client = new pg.Client({ ...connection, connectionTimeoutMillis: probeTimeoutMs })
    client.on('error', () => {})
    try {
      await client.connect()
      await client.query({ text: 'SELECT 1', query_timeout: probeTimeoutMs } as pg.QueryConfig)
    } catch (error) {
      if (!isServerResponse(error)) throw error
    } finally {
      void client.end().catch(() => {})
    }
  }
}
