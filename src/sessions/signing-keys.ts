import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type JsonWebKey,
  type KeyObject,
} from 'node:crypto'
import { AppError } from '../lib/errors.ts'
import { shareRuns } from '../lib/shared-run.ts'
import type { RootSecret } from '../lib/derived-keys.ts'
import { seal, unseal } from '../lib/secrets.ts'
import type { Clock } from '../lib/time.ts'
import type { Database, Queries } from '../storage/database.ts'
import { deleteKeysRetiredBefore, findKeys, insertKey, type KeyRecord, lockKeys, retireKeys } from './key-store.ts'

interface Parts {
  db: Database
  clock: Clock
  rootSecret: RootSecret
  /** How long a token that was signed before a rotation may still come. */
  accessTokenLifetimeMs: number
}

/** One moment's keys: the one that signs, and all that verify. */
export interface KeyRing {
  active: { id: string; privateKey: KeyObject }
  /** By `kid`; until a time in milliseconds since 1970. */
  verifying: Map<string, { publicKey: KeyObject; untilMs: number }>
  /** The public keys as a JWK Set (RFC 7517 section 5). */
  jwks: { keys: JsonWebKey[] }
}

export interface KeySummary {
  id: string
  createdAtMs: number
  retiredAtMs: number | null
}

/** The purpose of the key that private keys are sealed with. */
const SEALING = 'signing keys'

/** The keys that sign access tokens (ES256, RFC 7518 section 3.4), private halves encrypted with the root secret. */
export const createSigningKeys = ({ db, clock, rootSecret, accessTokenLifetimeMs }: Parts) => {
  let ring: KeyRing | undefined

  const generate = (nowMs: number): KeyRecord => {
    const pair = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    const publicJwk = pair.publicKey.export({ format: 'jwk' })
    const id = thumbprint(publicJwk)
    const privateJwk = JSON.stringify(pair.privateKey.export({ format: 'jwk' }))
    return {
      id,
      publicJwk,
      privateJwkSealed: seal(rootSecret.keys.for(SEALING), privateJwk, id),
      createdAtMs: nowMs,
      retiredAtMs: null,
    }
  }

  const toRing = (keys: KeyRecord[]): KeyRing => {
    const [active] = keys.filter((key) => key.retiredAtMs === null)
    if (!active) throw new AppError('internal_error', 'There is no signing key.')
    const good = keys.filter((key) => untilMs(key) > clock.now())
    const privateKey = ring?.active.id === active.id ? ring.active.privateKey : openPrivateKey(rootSecret, active)
    return {
      active: { id: active.id, privateKey },
      verifying: new Map(good.map((key) => [key.id, { publicKey: openPublicKey(key), untilMs: untilMs(key) }])),
      jwks: { keys: good.map(({ id, publicJwk }) => ({ ...publicJwk, kid: id, use: 'sig', alg: 'ES256' })) },
    }
  }

  // Whoever sends tokens of keys that never were has the keys read each time: that must cost little.
  const openPublicKey = ({ id, publicJwk }: KeyRecord): KeyObject =>
    ring?.verifying.get(id)?.publicKey ?? createPublicKey({ key: publicJwk, format: 'jwk' })

  // Twice the lifetime: the setting may have been shortened since the last token was signed.
  const graceMs = 2 * accessTokenLifetimeMs
  const untilMs = ({ retiredAtMs }: KeyRecord): number => (retiredAtMs === null ? Infinity : retiredAtMs + graceMs)

  const reload = shareRuns(async (): Promise<KeyRing> => {
    ring = toRing(await findKeys(db))
    return ring
  })

  const held = (): KeyRing => {
    if (ring) return ring
    throw new AppError('internal_error', 'The signing keys were not read before their first use.')
  }

  return {
    /** The keys as they were last read. */
    held,

    /** The keys as they are now: another process may have rotated them. */
    reload,

    /** The keys with this one as the active, as far as that is known. */
    signing: (activeId: string): KeyRing | Promise<KeyRing> => (held().active.id === activeId ? held() : reload()),

    /** Makes the first key where there is none; `internal_error` when the root secret is another than at first. */
    async prepare(): Promise<void> {
      await db.inTransaction(async (transaction) => {
        await lockKeys(transaction)
        const keys = await findKeys(transaction)
        if (keys.length === 0) await insertKey(transaction, generate(clock.now()))
      })
      await reload()
    },

    /** Signs with a new key from now on. Tokens of the old one stay good for their time. */
    async rotate(): Promise<KeySummary> {
      const key = generate(clock.now())
      await db.inTransaction(async (transaction) => {
        await lockKeys(transaction)
        await retireKeys(transaction, clock.now())
        await insertKey(transaction, key)
      })
      await reload()
      return key
    },

    list: (queries: Queries = db): Promise<KeySummary[]> => findKeys(queries),

    /** Deletes keys of which no good token can be left. */
    deleteRetired: (): Promise<number> => deleteKeysRetiredBefore(db, clock.now() - graceMs),
  }
}

export type SigningKeys = ReturnType<typeof createSigningKeys>

const openPrivateKey = (rootSecret: RootSecret, key: KeyRecord): KeyObject => {
  const jwk = rootSecret.find((keys) => unseal(keys.for(SEALING), key.privateJwkSealed, key.id))?.toString()
  if (jwk) return createPrivateKey({ key: JSON.parse(jwk) as JsonWebKey, format: 'jwk' })
  throw new AppError(
    'internal_error',
    'SVC_SECRET is not the secret that this database was made with. Put the old one back: nobody is logged out by that.',
  )
}

/** RFC 7638 section 3 for a key on a NIST curve. */
const thumbprint = ({ crv, kty, x, y }: JsonWebKey): string =>
  createHash('sha256').update(JSON.stringify({ crv, kty, x, y })).digest('base64url')
