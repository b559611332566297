import pg from 'pg'
import { isServerResponse } from './errors.ts'

const MIN_TIMEOUT_MS = 1000
const MAX_TIMEOUT_MS = 5000

/**
 * Connects outside the pool; rejects when the server does not respond. An error that the server sends is a response.
 */
export const createProbe = (connection: pg.ClientConfig, timeoutMs: number) => {
  // Short, so that the end of an outage is noticed soon; but long enough for a slow server.
  const probeTimeoutMs = Math.min(Math.max(MIN_TIMEOUT_MS, timeoutMs / 2), MAX_TIMEOUT_MS)

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
