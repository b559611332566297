import { type Awaitable, after } from '../lib/awaitable.ts'
import { createBoundedCache } from '../lib/bounded-cache.ts'
import type { Clock } from '../lib/time.ts'
import type { Database } from '../storage/database.ts'
import { cacheApiKeys, type FoundApiKey, updateLastUse } from './api-key-store.ts'
import { type AuthenticatedKey, hashOf } from './api-key.ts'
import { withIncluded } from './scopes.ts'

const KEY = /^svc_sk_[\w-]{43}$/

/** How exact the time of the last use is. */
const USE_WRITTEN_EVERY_MS = 60_000
const KEPT_USES = 1000

interface Deps {
  db: Database
  clock: Clock
}

/** Finds the key of a request, and writes when it was last used. */
export const createAuthenticateKey = ({ db, clock }: Deps) => {
  const keys = cacheApiKeys(db, (found) => ({ ...found, authenticated: toAuthenticated(found) }))
  /** When this process has last written the use of a key. */
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
