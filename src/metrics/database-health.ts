import { within } from '../lib/time.ts'
import type { PoolLoad } from '../storage/database.ts'
import type { OutboxLoad } from '../webhooks/webhooks.ts'

/** What can be asked of the database and of what is in it. */
export interface DatabaseHealth {
  requireHealthy: () => Promise<void>
  /** Undefined where there is no pool. */
  poolLoad: () => PoolLoad | undefined
  /** Undefined while webhooks are off. */
  outbox: () => Promise<OutboxLoad | undefined>
}

interface State {
  isUp: boolean
  outbox?: OutboxLoad | undefined
}

/** An answer must come well before whoever asks gives up, which is after ten seconds mostly. */
const DEADLINE_MS = 2000

/** Asks the database, once for all who ask at the same time. Never rejects, and never takes long. */
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
