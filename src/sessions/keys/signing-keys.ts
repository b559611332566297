import type { RecordEvent } from '../../audit/audit-event.ts'
import { coalesce } from '../../lib/turns.ts'
import type { RootSecret } from '../../lib/derived-keys.ts'
import { AppError } from '../../lib/errors.ts'
import { type Clock, MAX_CLOCK_SKEW_MS } from '../../lib/time.ts'
import type { Database, Queries } from '../../storage/database.ts'
import { createKeyRing, type KeyRing, type KeyState, type SigningKey, signingKeyAt, stateAt } from './key-ring.ts'
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
import { createHash, generateKeyPairSync, type JsonWebKey } from 'node:crypto'

interface NewKey {
  sealPrivateKey: (privateJwk: JsonWebKey, id: string) => string
  nowMs: number
  signsAtMs: number | null
}

/** Makes a new key on P-256, not yet in the database. */
const generateKey = ({ sealPrivateKey, nowMs, signsAtMs }: NewKey): KeyRecord => {
  const pair = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const publicJwk = pair.publicKey.export({ format: 'jwk' })
  const id = thumbprint(publicJwk)
  return {
    id,
    publicJwk,
    privateJwkSealed: sealPrivateKey(pair.privateKey.export({ format: 'jwk' }), id),
    createdAtMs: nowMs,
    signsAtMs,
    retiredAtMs: null,
    revokedAtMs: null,
  }
}

/** Computes RFC 7638 section 3 for a key on a NIST curve. */
const thumbprint = ({ crv, kty, x, y }: JsonWebKey): string =>
  createHash('sha256').update(JSON.stringify({ crv, kty, x, y })).digest('base64url')

interface SigningKeysDeps {
  db: Database
  clock: Clock
  rootSecret: RootSecret
  accessTokenLifetimeMs: number
  recordEvent: RecordEvent
}

/**
 * Handles the keys that sign access tokens (ES256, RFC 7518 section 3.4). Their private halves are encrypted in the
 * database.
 */
export interface SigningKeys {
  /**
   * Creates the first key if there is none, and seals all keys with the current root secret. It throws `internal_error`
   * when neither the root secret nor the previous one is that of this database.
   */
  prepare(): Promise<void>
  /** Gives the keys as this process last read them. */
  lastRead(): KeyRing
  /** Gives the keys as they are now: another process may have rotated them. */
  reload(): Promise<KeyRing>
  /** Gives the keys with this newest key, which the database is known to have. */
  latest(newestId: string): KeyRing | Promise<KeyRing>
  /** Gives the key to sign with, of the keys with this newest key. */
  signingKey(newestId: string): SigningKey | Promise<SigningKey>
  /** Verifiers may cache the JWK Set for this long. */
  jwksMaxAgeSeconds: number

  /** Lists the newest first. */
  list(): Promise<KeySummary[]>
  /**
   * Publishes a new key, which begins to sign once all verifiers have had time to fetch it. If `now` is set, it signs
   * at once, and all keys before it are revoked: tokens that they have signed are refused.
   */
  rotate(options: { now: boolean }): Promise<KeySummary>
  /**
   * Seals all keys with the current root secret, in a transaction that has called `lockKeys`; it resolves to how many.
   */
  reseal(transaction: Queries): Promise<number>
  /** Deletes keys of which no good token can be left, for cleanup; it resolves to how many. */
  deleteRetired(nowMs: number): Promise<number>
}

const JWKS_MAX_AGE_SECONDS = 60

/**
 * A new key is published for this long before it signs, so that all verifiers have fetched it by then. It is the sum of
 * the age of the JWK Set, a minute by which the clocks of replicas may differ, and half a minute for slow networks and
 * for libraries that do not fetch twice within a short time.
 */
const PUBLISHED_FIRST_MS = JWKS_MAX_AGE_SECONDS * 1000 + 90_000

export interface KeySummary extends Omit<KeyRecord, 'publicJwk' | 'privateJwkSealed'> {
  state: KeyState
}

export const createSigningKeys = (deps: SigningKeysDeps): SigningKeys => {
  const { db, clock, rootSecret, accessTokenLifetimeMs, recordEvent } = deps
  // The lifetime counts twice: the setting may have been shortened since the last token was signed. The skew counts
  // twice too: the clock of the replica that signs may be behind, and that of the replica that verifies ahead.
  const graceMs = 2 * (accessTokenLifetimeMs + MAX_CLOCK_SKEW_MS)
  const sealing = createKeySealing(rootSecret)
  let ring: KeyRing | undefined

  const generate = (signsAtMs: number | null): KeyRecord =>
    generateKey({ sealPrivateKey: sealing.seal, nowMs: clock.now(), signsAtMs })

  const reseal = (transaction: Queries): Promise<number> => sealing.reseal(transaction, clock.now())

  /** There is no key in a new installation, and in a database that was created again while this process serves. */
  const createFirst = (): Promise<void> =>
    db.inTransaction(async (transaction) => {
      await lockKeys(transaction)
      await reseal(transaction)
      if ((await findKeys(transaction)).length === 0) await insertKey(transaction, generate(null))
    })

  const findAny = async (): Promise<KeyRecord[]> => {
    const keys = await findKeys(db)
    if (keys.length > 0) return keys
    await createFirst()
    return findKeys(db)
  }

  const reload = coalesce(async (): Promise<KeyRing> => {
    const keys = await findAny()
    ring = createKeyRing({ keys, nowMs: clock.now(), graceMs, openPrivateKey: sealing.open, former: ring })
    return ring
  })

  const lastRead = (): KeyRing => {
    if (ring) return ring
    throw new AppError('internal_error', 'The signing keys were not read before their first use.')
  }

  /**
   * A new key never signs before the key that it follows: of two machines that rotate keys, the clock of one may be
   * behind.
   */
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

  const signingKeyOf = (current: KeyRing): SigningKey => signingKeyAt(current, clock.now())

  return {
    reseal,
    jwksMaxAgeSeconds: JWKS_MAX_AGE_SECONDS,
    lastRead,
    reload,
    latest: (newestId) => (lastRead().newestId === newestId ? lastRead() : reload()),

    signingKey: (newestId) =>
      lastRead().newestId === newestId ? signingKeyOf(lastRead()) : reload().then(signingKeyOf),

    async prepare() {
      await createFirst()
      await reload()
    },

    async rotate({ now }) {
      const key = await db.inTransaction(async (transaction) => {
        await lockKeys(transaction)
        // The keys are sealed under the lock: no key may stay sealed with the previous root secret, which will be
        // overwritten one day.
        await reseal(transaction)
        const next = now ? await replaceAll(transaction) : await publish(transaction)
        await insertKey(transaction, next)
        await recordEvent(transaction, {
          type: 'key.rotated',
          details: { keyId: next.id, reason: now ? 'now' : undefined },
        })
        return next
      })
      await reload()
      return toSummary(key, now ? 'signs' : 'published')
    },

    async list() {
      const keys = await findKeys(db)
      const nowMs = clock.now()
      return keys.map((key) => toSummary(key, stateAt(key, keys, nowMs)))
    },

    deleteRetired: (nowMs) => deleteKeysRetiredBefore(db, nowMs - graceMs),
  }
}

const toSummary = (key: KeyRecord, state: KeyState): KeySummary => ({
  id: key.id,
  state,
  createdAtMs: key.createdAtMs,
  signsAtMs: key.signsAtMs,
  retiredAtMs: key.retiredAtMs,
  revokedAtMs: key.revokedAtMs,
})
