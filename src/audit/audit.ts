import type { Clock } from '../lib/time.ts'
import { createUuidSequence } from '../lib/uuid.ts'
import type { RecordEvent } from './audit-event.ts'
import { rowOf } from './audit-row.ts'
import { insertAuditEvent } from './audit-store.ts'

/** Who acts where there is no caller: an operator, or the service itself. */
export type OwnActor = 'cli' | 'system'

/** The records of what happened (docs/audit.md). */
export interface Audit {
  record: RecordEvent
}

interface AuditDeps {
  clock: Clock
  actor: OwnActor
}

export const createAudit = ({ clock, actor }: AuditDeps): Audit => {
  const nextId = createUuidSequence()

  return {
    async record(transaction, event, caller) {
      const atMs = clock.now()
      await insertAuditEvent(transaction, rowOf({ id: nextId(atMs), atMs, event, caller, actor }))
    },
  }
}
