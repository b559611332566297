import type { Caller } from '../lib/caller.ts'
import type { Log } from '../lib/log.ts'
import { onDemand } from '../lib/on-demand.ts'
import type { Clock } from '../lib/time.ts'
import { createUuidSequence } from '../lib/uuid.ts'
import type { Database, Transaction } from '../storage/database.ts'
import type { AuditEvent, AuditType, RecordEvent, TallyEvent } from './audit-event.ts'
import type { AuditPage, AuditPageRequest, AuditQuery, OwnPageRequest } from './reading.ts'
import { type AuditRow, rowOf, toAuditJson } from './audit-row.ts'
import { insertAuditEvent } from './audit-store.ts'
import { recordDeletion } from './deletion-store.ts'
import { createTallies, type TalliesDeps } from './tallies.ts'

export type { AuditType } from './audit-event.ts'
export type { AuditRow } from './audit-row.ts'
export type { AuditPageRequest, AuditQuery } from './reading.ts'

/** The actor where there is no caller: an operator, or the service itself. */
export type OwnActor = 'cli' | 'system'

/** The records of what happened (docs/audit.md). */
export interface Audit {
  record: RecordEvent
  tally: TallyEvent
  /** Writes the tallies of this process; does not fail. */
  flush(): Promise<void>
  /**
   * A page of records, the newest first. Nothing is missed, and nothing comes twice, of what was committed when the
   * first page was read. `invalid_request` for a cursor of another list.
   */
  list(request: AuditPageRequest): Promise<AuditPage>
  /**
   * The last records of a user of these types, the newest first, and none from before the account was last reclaimed.
   * Failed logins, which strangers can cause, take few places from the others.
   */
  latestOf(userId: string, list: { types: readonly string[]; limit: number }): Promise<AuditRow[]>
  /**
   * A page of the records of a user's own account, the newest first, and none from before it was last reclaimed. The
   * cursors are not those of `list`.
   */
  ownPage(request: OwnPageRequest): Promise<AuditPage>
  /** Finds the user of a session or a grant that may have ended, by its id, as long as there are records of its begin. */
  findUserOfEnded(id: string): Promise<string | undefined>
  /** All records of one moment, the oldest first, page by page; resolves to how many. */
  exportAll(query: AuditQuery, onPage: (rows: AuditRow[]) => Promise<void>): Promise<number>
  /** Deletes records past their time, for cleanup; resolves to how many. */
  deleteOld(nowMs: number): Promise<number>
  /** Erases the traces of deleted users in records, for cleanup; resolves to how many records had some. */
  eraseDeleted(nowMs: number): Promise<number>
}

interface AuditDeps extends Pick<TalliesDeps, 'findAccount' | 'pseudonymOf'> {
  db: Database
  log: Log
  clock: Clock
  actor: OwnActor
  retentionMs: number
  /** True: records are lines of the log too. */
  isLogged: boolean
  /** Called after the commit of records. */
  onRecord?: ((type: AuditType, count: number) => void) | undefined
}

export const createAudit = ({ db, log, clock, actor, retentionMs, isLogged, onRecord, ...deps }: AuditDeps): Audit => {
  const nextId = createUuidSequence()

  const newRow = (event: AuditEvent, caller: Caller | undefined): AuditRow => {
    const atMs = clock.now()
    return rowOf({ id: nextId(atMs), atMs, event, caller, actor })
  }

  const onWritten = (row: AuditRow, count: number): void => {
    onRecord?.(row.type, count)
    if (isLogged) log.info(toAuditJson(row), 'audit event')
  }

  const { tally, flush } = createTallies({ ...deps, db, log, newRow, onWritten })

  return {
    tally,
    flush,

    async record(transaction, event, caller) {
      const row = await store(transaction, newRow(event, caller))
      transaction.afterCommit(() => onWritten(row, 1))
    },

    ...onDemand(
      async () => (await import('./reading.ts')).createAuditReading({ db, flush }),
      'list',
      'latestOf',
      'ownPage',
      'findUserOfEnded',
      'exportAll',
    ),

    ...onDemand(
      async () => (await import('./cleanup.ts')).createAuditCleanup({ db, retentionMs }),
      'deleteOld',
      'eraseDeleted',
    ),
  }
}

/** Stores a record; resolves to the row as it is stored. */
const store = async (transaction: Pick<Transaction, 'run'>, row: AuditRow): Promise<AuditRow> => {
  if (row.type === 'user.deleted') return recordDeletion(transaction, row)
  await insertAuditEvent(transaction, row)
  return row
}
