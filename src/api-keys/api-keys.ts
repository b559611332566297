import { randomUUIDv7 } from 'node:crypto'
import type { AuditDetails, RecordEvent } from '../audit/audit-event.ts'
import { type Awaitable, after } from '../lib/awaitable.ts'
import { createBoundedCache } from '../lib/bounded-cache.ts'
import { AppError } from '../lib/errors.ts'
import { randomToken } from '../lib/secrets.ts'
import { type Clock, MAX_DATE_MS } from '../lib/time.ts'
import { isUuid } from '../lib/uuid.ts'
import { type Database, isUniqueViolation } from '../storage/database.ts'
import {
  cacheApiKeys,
  findApiKeys,
  findApiKeysNamed,
  type FoundApiKey,
  insertApiKey,
  revokeApiKey,
  updateLastUse,
} from './api-key-store.ts'
import { type ApiKey, type AuthenticatedKey, hashOf, withIncluded } from './api-key.ts'

export { type ApiKey, type AuthenticatedKey, isScope, requireScope, SCOPES, type Scope } from './api-key.ts'
export type { Answer, Claim, Idempotency, Keep, Kept } from './idempotency.ts'

type NewApiKey = Pick<ApiKey, 'name' | 'scopes'> & {
  /** Undefined: the key does not expire. */
  lifetimeMs: number | undefined
}

/** Keys with which the application's backend calls the server API. */
export interface ApiKeys {
  /** Makes a key. Its text is stored nowhere, and is gone after this call. `conflict` for a taken name. */
  create(newKey: NewApiKey): Promise<{ key: ApiKey; text: string }>
  /** All keys, revoked and expired ones included, the newest first. */
  list(): Promise<ApiKey[]>
  /** Takes effect with the next request, on every replica. `not_found` when no key has this name or id. */
  revoke(nameOrId: string): Promise<ApiKey>
  /** Finds the key of a text, by its row as it is now; undefined for one that is unknown, revoked or expired. */
  authenticate(text: string): Awaitable<AuthenticatedKey | undefined>
}

interface ApiKeysDeps {
  db: Database
  clock: Clock
  recordEvent: RecordEvent
}

/** SQLite names the column, PostgreSQL the index. */
const NAME_INDEXES = ['api_keys.name', 'api_keys_by_name']

const MAX_NAME_LENGTH = 64

const KEY = /^svc_sk_[\w-]{43}$/

/** The time of the last use is so exact. */
const USE_WRITTEN_EVERY_MS = 60_000
const KEPT_USES = 1000

export const createApiKeys = ({ db, clock, recordEvent }: ApiKeysDeps): ApiKeys => {
  const { authenticate, forget } = createAuthenticateKey({ db, clock })

  return {
    authenticate,

    async create({ name, scopes, lifetimeMs }) {
      requireGoodName(name)
      if (scopes.length === 0)
        throw new AppError('unprocessable', 'A key needs at least one scope.', { field: 'scopes' })
      const createdAtMs = clock.now()
      const key: ApiKey = {
        id: randomUUIDv7(),
        name,
        scopes: [...new Set(scopes)],
        createdAtMs,
        expiresAtMs: lifetimeMs === undefined ? undefined : Math.min(createdAtMs + Math.ceil(lifetimeMs), MAX_DATE_MS),
        revokedAtMs: undefined,
        lastUsedAtMs: undefined,
      }
      const text = `svc_sk_${randomToken(32)}`
      try {
        await db.inTransaction(async (transaction) => {
          await insertApiKey(transaction, key, hashOf(text))
          await recordEvent(transaction, { type: 'api_key.created', details: detailsOf(key) })
        })
      } catch (error) {
        if (NAME_INDEXES.some((index) => isUniqueViolation(error, index))) throw taken(name)
        throw error
      }
      return { key, text }
    },

    list: () => findApiKeys(db),

    revoke: (nameOrId) =>
      db.inTransaction(async (transaction) => {
        const [key] = await findApiKeysNamed(transaction, nameOrId)
        if (!key)
          throw new AppError('not_found', `there is no API key ${JSON.stringify(nameOrId)}: give a name or an id`)
        const nowMs = clock.now()
        if ((await revokeApiKey(transaction, key.id, nowMs)) === 0) return key
        transaction.afterCommit(forget)
        await recordEvent(transaction, { type: 'api_key.revoked', details: detailsOf(key) })
        return { ...key, revokedAtMs: nowMs }
      }),
  }
}

/** Finds the key of a request, and writes when it was last used. */
const createAuthenticateKey = ({ db, clock }: Pick<ApiKeysDeps, 'db' | 'clock'>) => {
  const keys = cacheApiKeys(db, (found) => ({ ...found, authenticated: toAuthenticated(found) }))
  /** The times at which this process has last written the use of a key. */
  const writtenAtMs = createBoundedCache<number>(KEPT_USES)

  /** Nobody waits for it, and a failure means only that the list shows an older time. */
  const recordUse = ({ id, lastUsedAtMs = 0 }: FoundApiKey, nowMs: number): void => {
    if (Math.max(lastUsedAtMs, writtenAtMs.get(id) ?? 0) > nowMs - USE_WRITTEN_EVERY_MS) return
    writtenAtMs.set(id, nowMs)
    updateLastUse(
      db.autocommit(() => {}),
      id,
      nowMs,
    ).catch(() => {})
  }

  const authenticate = (text: string): Awaitable<AuthenticatedKey | undefined> => {
    if (!KEY.test(text)) return undefined
    return after(keys.get(hashOf(text)), (found) => {
      if (!found || found.revokedAtMs !== undefined) return undefined
      const nowMs = found.readAtMs ?? clock.now()
      if (found.expiresAtMs !== undefined && found.expiresAtMs <= nowMs) return undefined
      recordUse(found, nowMs)
      return found.authenticated
    })
  }

  return { authenticate, forget: () => keys.forgetAll() }
}

const toAuthenticated = ({ id, name, scopes }: FoundApiKey): AuthenticatedKey => ({
  id,
  name,
  scopes: withIncluded(scopes),
})

const detailsOf = ({ id: apiKeyId, name: apiKeyName, scopes }: ApiKey): AuditDetails => ({
  apiKeyId,
  apiKeyName,
  scopes,
})

const requireGoodName = (name: string): void => {
  // A name that is a UUID could be meant as the id of another key.
  if (/^[\w.:-]+$/.test(name) && name.length <= MAX_NAME_LENGTH && !isUuid(name)) return
  const message = `The name of a key has 1 to ${MAX_NAME_LENGTH} of the characters A-Z a-z 0-9 . _ : -, and is no UUID`
  throw new AppError('unprocessable', message, { field: 'name' })
}

const taken = (name: string): AppError =>
  new AppError('conflict', `there is a key with the name "${name}" already: revoke it first, or take another name`, {
    field: 'name',
  })
