import { within } from '../lib/time.ts'
import type { PoolLoad } from '../storage/database.ts'
import type { OutboxLoad } from '../webhooks/webhooks.ts'

/** Readings of the database and of its content. */
export interface DatabaseHealth {
  requireHealthy: () => Promise<void>
  /** Undefined if there is no pool. */
  poolLoad: () => PoolLoad | undefined
  /** Undefined while webhooks are off. */
  outbox: () => Promise<OutboxLoad | undefined>
}

interface State {
  isUp: boolean
  outbox?: OutboxLoad | undefined
}

/** Prometheus usually gives up after ten seconds: the database must answer well before that. */
const DEADLINE_MS = 2000

/** Queries the database, once for all simultaneous callers. Never rejects, and never takes long. */
export const createDatabaseProbe = ({ requireHealthy, outbox }: DatabaseHealth): (() => Promise<State>) => {
  let probing: Promise<State> | undefined

  const probe = async (): Promise<State> => {
    try {
      await requireHealthy()
      return { isUp: true, outbox: await outbox() }
    } catch {
      return { isUp: false }
    }
  }

  return () => {
    probing ??= within(DEADLINE_MS, probe(), { isUp: false }).finally(() => {
      probing = undefined
    })
    return probing
  }
}
