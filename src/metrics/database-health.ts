import { withTimeout } from '../lib/time.ts'
import type { PoolLoad } from '../storage/database.ts'
import type { OutboxLoad } from '../storage/outbox/outbox.ts'

/** What metrics read from the database. */
export interface DatabaseHealth {
  requireHealthy: () => Promise<void>
  /** Undefined with SQLite, which has no pool. */
  poolLoad: () => PoolLoad | undefined
  /** Undefined while webhooks are off. */
  outbox: () => Promise<OutboxLoad | undefined>
  /** Undefined while mail is off. */
  mail: () => Promise<OutboxLoad | undefined>
}

interface DatabaseState {
  isUp: boolean
  outbox?: OutboxLoad | undefined
  mail?: OutboxLoad | undefined
}

/** Probes the database. Never rejects. */
export type DatabaseProbe = () => Promise<DatabaseState>

/** Well below the ten seconds after which Prometheus gives up by default. */
const DEADLINE_MS = 2000

/** Probes within two seconds; probes at the same time share one query. */
export const createDatabaseProbe = ({ requireHealthy, outbox, mail }: DatabaseHealth): DatabaseProbe => {
  let probing: Promise<DatabaseState> | undefined

  const probe = async (): Promise<DatabaseState> => {
    try {
      await requireHealthy()
      return { isUp: true, outbox: await outbox(), mail: await mail() }
    } catch {
      return { isUp: false }
    }
  }

  return () => {
    probing ??= withTimeout(DEADLINE_MS, probe(), { isUp: false }).finally(() => {
      probing = undefined
    })
    return probing
  }
}
