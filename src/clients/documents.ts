import type { RecordEvent } from '../audit/audit-event.ts'
import { createBoundedCache } from '../lib/bounded-cache.ts'
import { AppError } from '../lib/errors.ts'
import type { Log } from '../lib/log.ts'
import type { Clock } from '../lib/time.ts'
import { isLocalOrigin } from '../lib/url.ts'
import { type LimitedBy, type Limits, TooManyTries } from '../limits/limits.ts'
import { type CachedRow, type Database, isUniqueViolation } from '../storage/database.ts'
import type { Client, DocumentTimes } from './client.ts'
import { type StoredClient, insertClient, lockClient, updateClient, updateDocumentTimes } from './client-store.ts'
import type { ClientSettings } from './client-settings.ts'
import { fetchDocument, FetchProblem, type Lookup } from './document-fetch.ts'
import { freshnessOf, isDocumentId, readDocument } from './metadata-document.ts'

/** Clients whose id is the URL of their metadata. */
export interface Documents {
  /** Tells whether an id may be the URL of a document; it says nothing of what is there. */
  isDocumentId(id: string): boolean
  /**
   * Fetches the document of a client, unless it is fresh, and stores what it says. Throws `invalid_request` with the
   * field `client_id` for a document that is not good, and `TooManyTries`.
   */
  refresh(id: string, userId: string): Promise<void>
}

export interface DocumentsDeps extends Pick<ClientSettings, 'baseUrl' | 'hosts'> {
  db: Database
  clock: Clock
  log: Log
  recordEvent: RecordEvent
  limits: Limits
  rows: CachedRow<StoredClient>
  /** Tests have names of their own. */
  lookup?: Lookup | undefined
}

interface Failure {
  problem: AppError
  /** The document may still be good, though it cannot be fetched. */
  isPassing: boolean
}

const FAILURE_KEPT_MS = 60_000
const GOOD_WHILE_HOST_FAILS_MS = 24 * 3_600_000
const KEPT_FAILURES = 1000

export const createDocuments = ({ hosts, baseUrl, lookup, ...deps }: DocumentsDeps): Documents => {
  const { clock, limits, log, rows } = deps
  const store = createDocumentStore(deps)
  const failures = createBoundedCache<Failure & { untilMs: number }>(KEPT_FAILURES)
  const underWay = new Map<string, Promise<Failure | undefined>>()
  const allowsLoopback = isLocalOrigin(baseUrl)

  const fetchAndStore = async (id: string): Promise<Failure | undefined> => {
    try {
      const { document, headers } = await fetchDocument(id, { allowsLoopback, lookup })
      const nowMs = clock.now()
      const times = { fetchedAtMs: nowMs, freshUntilMs: nowMs + freshnessOf(headers, nowMs) }
      await store({ ...readDocument(id, document, hosts), createdAtMs: nowMs }, times)
      return undefined
    } catch (error) {
      const failure = toFailure(id, error)
      log.warn({ client_id: id, problem: failure.problem.message }, 'the metadata document of a client is not good')
      failures.set(id, { ...failure, untilMs: clock.now() + FAILURE_KEPT_MS })
      return failure
    }
  }

  /** Requests at once share a fetch. */
  const fetchOnce = (id: string): Promise<Failure | undefined> => {
    const fetching = underWay.get(id) ?? fetchAndStore(id).finally(() => underWay.delete(id))
    underWay.set(id, fetching)
    return fetching
  }

  const fetchLimited = async (id: string, userId: string): Promise<Failure | undefined> => {
    try {
      const limited: LimitedBy[] = [
        ['clientDocumentOfUser', { userId }],
        ['clientDocument', {}],
      ]
      return await limits.attempt(limited, () => fetchOnce(id))
    } catch (error) {
      if (error instanceof TooManyTries) return { problem: error, isPassing: true }
      throw error
    }
  }

  const failureOf = (id: string): Failure | undefined => {
    const failure = failures.get(id)
    return failure && failure.untilMs > clock.now() ? failure : undefined
  }

  return {
    isDocumentId: (id) => isDocumentId(id, hosts),

    async refresh(id, userId) {
      if (!isDocumentId(id, hosts)) return
      const known = await rows.get(id)
      const { fetchedAtMs = 0, freshUntilMs = 0 } = known?.document ?? {}
      if (known?.client.disabledAtMs !== undefined || freshUntilMs > clock.now()) return
      const failure = failureOf(id) ?? (await fetchLimited(id, userId))
      if (!failure) return
      if (failure.isPassing && clock.now() - fetchedAtMs < GOOD_WHILE_HOST_FAILS_MS) return
      throw failure.problem
    },
  }
}

/** Errors that are no fault of the document, such as a database that is away, are thrown on. */
const toFailure = (id: string, error: unknown): Failure => {
  const isOfFetch = error instanceof FetchProblem
  if (!isOfFetch && !(error instanceof AppError && error.code === 'unprocessable')) throw error
  const message = `The metadata document ${id} of this client is not good: ${error.message.replace(/\.$/, '')}.`
  const problem = new AppError('invalid_request', message, { field: 'client_id', reason: 'client_document' })
  return { problem, isPassing: isOfFetch && error.isOfHost }
}

/** Makes or changes the client of a document, once of several processes at once. */
const createDocumentStore = ({ db, recordEvent, rows }: Pick<DocumentsDeps, 'db' | 'recordEvent' | 'rows'>) => {
  const insert = (client: Client, document: DocumentTimes): Promise<void> =>
    db.inTransaction(async (transaction) => {
      transaction.afterCommit(() => rows.forget(client.id))
      await insertClient(transaction, client, { document })
      const details = { clientId: client.id, clientName: client.name, method: 'document' }
      await recordEvent(transaction, { type: 'client.created', details })
    })

  const update = (client: Client, document: DocumentTimes): Promise<boolean> =>
    db.inTransaction(async (transaction) => {
      const stored = (await lockClient(transaction, client.id))?.client
      if (!stored) return false
      transaction.afterCommit(() => rows.forget(client.id))
      await updateDocumentTimes(transaction, client.id, document)
      if (isSame(stored, client)) return true
      await updateClient(transaction, { ...stored, ...client, disabledAtMs: stored.disabledAtMs })
      const details = { clientId: client.id, clientName: client.name, method: 'document' }
      await recordEvent(transaction, { type: 'client.changed', details })
      return true
    })

  return async (client: Client, document: DocumentTimes): Promise<void> => {
    if (await update(client, document)) return
    try {
      await insert(client, document)
    } catch (error) {
      if (!isUniqueViolation(error, 'clients.id')) throw error
      await update(client, document)
    }
  }
}

const isSame = (one: Client, other: Client): boolean =>
  [one.name, ...one.redirectUris, '', ...one.logoutUris].join(' ') ===
  [other.name, ...other.redirectUris, '', ...other.logoutUris].join(' ')
