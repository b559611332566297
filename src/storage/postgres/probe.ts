import pg from 'pg'
import { isAnswer } from './errors.ts'

const SHORTEST_MS = 1000
const LONGEST_MS = 5000

/** Rejects when the server does not answer; a refusal is an answer too. Over a connection of its own, beside the pool. */
export const createProbe = (connection: pg.ClientConfig, timeoutMs: number) => {
  // Short, so that the next one comes soon after the server; but a slow server must not look like none.
  const patienceMs = Math.min(Math.max(SHORTEST_MS, timeoutMs / 2), LONGEST_MS)

  return async (): Promise<void> => {
    const client = new pg.Client({ ...connection, connectionTimeoutMillis: patienceMs })
    client.on('error', () => {})
    try {
      await client.connect()
      await client.query({ text: 'SELECT 1', query_timeout: patienceMs } as pg.QueryConfig)
    } catch (error) {
      if (!isAnswer(error)) throw error
    } finally {
      void client.end().catch(() => {})
    }
  }
}
