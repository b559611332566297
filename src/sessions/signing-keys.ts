import { createHash, generateKeyPairSync, type JsonWebKey } from 'node:crypto'
import type { RootSecret } from '../lib/derived-keys.ts'
import { AppError } from '../lib/errors.ts'
import { shareRuns } from '../lib/shared-run.ts'
import { type Clock, MAX_CLOCK_SKEW_MS } from '../lib/time.ts'
import type { Database, Queries } from '../storage/database.ts'
import { type KeyRing, type KeyState, type SigningKey, signingKeyAt, stateAt, toRing } from './key-ring.ts'
import { createKeySealing } from './key-sealing.ts'
import {
  deleteKeysRetiredBefore,
  findKeys,
  insertKey,
  type KeyRecord,
  lockKeys,
  retireKeys,
  revokeKeys,
} from './key-store.ts'

interface SigningKeysDeps {
  db: Database
  clock: Clock
  rootSecret: RootSecret
  /** How long a token that was signed before a rotation may still come. */
  accessTokenLifetimeMs: number
}

/** How long the JWK Set may be kept by those who have fetched it. */
const JWKS_MAX_AGE_SECONDS = 60

/**
 * How long a new key is published before it signs: everybody has fetched it by then. Beyond the age of the JWK Set that
 * is a minute by which the clocks of replicas may differ, and half a minute for slow answers and for libraries that do
 * not fetch twice in short time.
 */
const PUBLISHED_FIRST_MS = JWKS_MAX_AGE_SECONDS * 1000 + 90_000

export interface KeySummary extends Omit<KeyRecord, 'publicJwk' | 'privateJwkSealed'> {
  state: KeyState
}

/** The keys that sign access tokens (ES256, RFC 7518 section 3.4), private halves encrypted with the root secret. */
export const createSigningKeys = ({ db, clock, rootSecret, accessTokenLifetimeMs }: SigningKeysDeps) => {
  // Twice the lifetime: the setting may have been shortened since the last token was signed. Of the replica that signs, the
  // clock may be behind, and of the one that reads it may be ahead.
  const graceMs = 2 * (accessTokenLifetimeMs + MAX_CLOCK_SKEW_MS)
  const sealing = createKeySealing(rootSecret)
  const ringParts = { graceMs, openPrivateKey: sealing.open }
  let ring: KeyRing | undefined

  const generate = (signsAtMs: number | null): KeyRecord => {
    const pair = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    const publicJwk = pair.publicKey.export({ format: 'jwk' })
    const id = thumbprint(publicJwk)
    const privateJwkSealed = sealing.seal(pair.privateKey.export({ format: 'jwk' }), id)
    return {
      id,
      publicJwk,
      privateJwkSealed,
      createdAtMs: clock.now(),
      signsAtMs,
      retiredAtMs: null,
      revokedAtMs: null,
    }
  }

  const reload = shareRuns(async (): Promise<KeyRing> => {
    ring = toRing(await findKeys(db), clock.now(), ringParts, ring)
    return ring
  })

  const held = (): KeyRing => {
    if (ring) return ring
    throw new AppError('internal_error', 'The signing keys were not read before their first use.')
  }

  /** Never before the key that it follows: of two operators, the clock of one may be behind. */
  const publish = async (transaction: Queries): Promise<KeyRecord> => {
    const newest = (await findKeys(transaction)).find(({ retiredAtMs }) => retiredAtMs === null)
    const signsAtMs = Math.max(clock.now() + PUBLISHED_FIRST_MS, newest?.signsAtMs ?? 0)
    await retireKeys(transaction, signsAtMs)
    return generate(signsAtMs)
  }

  const replaceAll = async (transaction: Queries): Promise<KeyRecord> => {
    await revokeKeys(transaction, clock.now())
    return generate(null)
  }

  const signingKeyIn = (current: KeyRing): SigningKey => signingKeyAt(current, clock.now())

  const reseal = (transaction: Queries): Promise<number> => sealing.reseal(transaction, clock.now())

  return {
    /** Within a transaction and under `lockKeys`: seals all keys with the current root secret; resolves to how many. */
    reseal,

    /** How long verifiers may keep the JWK Set. */
    jwksMaxAgeSeconds: JWKS_MAX_AGE_SECONDS,

    /** The keys as they were last read. */
    held,

    /** The keys as they are now: another process may have rotated them. */
    reload,

    /** The keys with this newest key, which the database is known to have. */
    latest: (newestId: string): KeyRing | Promise<KeyRing> => (held().newestId === newestId ? held() : reload()),

    /** The key to sign with, of the ring with this newest key. */
    signingKey: (newestId: string): SigningKey | Promise<SigningKey> =>
      held().newestId === newestId ? signingKeyIn(held()) : reload().then(signingKeyIn),

    /**
     * Makes the first key where there is none, and seals those there are with the current root secret. `internal_error`
     * when neither the root secret nor the one before it is that of this database.
     */
    async prepare(): Promise<void> {
      await db.inTransaction(async (transaction) => {
        await lockKeys(transaction)
        await reseal(transaction)
        const keys = await findKeys(transaction)
        if (keys.length === 0) await insertKey(transaction, generate(null))
      })
      await reload()
    },

    /**
     * Publishes a new key, which signs once everybody who verifies tokens has had the time to fetch it. With `now` it
     * signs at once, and every key before it is revoked: what they have signed is refused.
     */
    async rotate({ now }: { now: boolean }): Promise<KeySummary> {
      const key = await db.inTransaction(async (transaction) => {
        await lockKeys(transaction)
        // Under the lock: a key that is sealed with a root secret of before could not be opened one day.
        await reseal(transaction)
        const next = now ? await replaceAll(transaction) : await publish(transaction)
        await insertKey(transaction, next)
        return next
      })
      await reload()
      return toSummary(key, now ? 'signs' : 'published')
    },

    /** Newest first. */
    async list(): Promise<KeySummary[]> {
      const keys = await findKeys(db)
      const nowMs = clock.now()
      return keys.map((key) => toSummary(key, stateAt(key, keys, nowMs)))
    },

    /** Deletes keys of which no good token can be left. */
    deleteRetired: (): Promise<number> => deleteKeysRetiredBefore(db, clock.now() - graceMs),
  }
}

export type SigningKeys = ReturnType<typeof createSigningKeys>

const toSummary = (key: KeyRecord, state: KeyState): KeySummary => ({
  id: key.id,
  state,
  createdAtMs: key.createdAtMs,
  signsAtMs: key.signsAtMs,
  retiredAtMs: key.retiredAtMs,
  revokedAtMs: key.revokedAtMs,
})

/** RFC 7638 section 3 for a key on a NIST curve. */
const thumbprint = ({ crv, kty, x, y }: JsonWebKey): string =>
  createHash('sha256').update(JSON.stringify({ crv, kty, x, y })).digest('base64url')
