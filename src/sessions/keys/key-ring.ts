import { createPublicKey, type JsonWebKey, type KeyObject } from 'node:crypto'
import { AppError } from '../../lib/errors.ts'
import type { KeyRecord } from './key-store.ts'

/** `published`: it will sign; `retired`: a later key has replaced it, or it was revoked. */
export type KeyState = 'signs' | 'published' | 'retired'

export interface SigningKey {
  id: string
  privateKey: KeyObject
  /** The key signs in this time, in milliseconds since 1970; the end is not part of it. */
  fromMs: number
  untilMs: number
}

/** The keys are ready for use. The ring holds until the keys change in the database. */
export interface KeyRing {
  /** Every change of the keys adds one, so that this id tells whether the ring is outdated. */
  newestId: string
  /** These keys sign now or later; the newest is first. */
  signing: readonly [SigningKey, ...SigningKey[]]
  /** The keys are found by `kid`; `untilMs` is in milliseconds since 1970. */
  verifying: Map<string, { publicKey: KeyObject; untilMs: number }>
  /** These are the public keys as a JWK Set (RFC 7517 section 5), those that will sign included. */
  jwks: { keys: JsonWebKey[] }
}

interface KeyRingDeps {
  /** The newest is first. */
  keys: KeyRecord[]
  nowMs: number
  openPrivateKey: (key: KeyRecord) => KeyObject
  /** The tokens of a key are accepted for this long after its retirement. */
  graceMs: number
  /** The opened keys of this earlier ring are used again. */
  former?: KeyRing | undefined
}

export const createKeyRing = ({ keys, nowMs, graceMs, openPrivateKey, former }: KeyRingDeps): KeyRing => {
  const newest = keys.find(({ retiredAtMs }) => retiredAtMs === null)
  if (!newest) throw new AppError('internal_error', 'There is no signing key.')
  const good = keys.filter((key) => verifiesUntilMs(key, graceMs) > nowMs)
  const toSigningKey = (key: KeyRecord): SigningKey => ({
    id: key.id,
    privateKey: former?.signing.find(({ id }) => id === key.id)?.privateKey ?? openPrivateKey(key),
    fromMs: signsFromMs(key),
    untilMs: signsUntilMs(key),
  })
  // Every request with an unknown key leads to a new ring, which must cost little.
  const openPublicKey = ({ id, publicJwk }: KeyRecord): KeyObject =>
    former?.verifying.get(id)?.publicKey ?? createPublicKey({ key: publicJwk, format: 'jwk' })
  const before = keys.filter((key) => key !== newest && signsUntilMs(key) > nowMs)
  return {
    newestId: newest.id,
    signing: [toSigningKey(newest), ...before.map(toSigningKey)],
    verifying: new Map(
      good.map((key) => [key.id, { publicKey: openPublicKey(key), untilMs: verifiesUntilMs(key, graceMs) }]),
    ),
    jwks: { keys: good.map(({ id, publicJwk }) => ({ ...publicJwk, kid: id, use: 'sig', alg: 'ES256' })) },
  }
}

/**
 * Finds the key that signs at a time: the newest of those that may, or the newest of all when the clock is behind all.
 */
export const signingKeyAt = ({ signing }: KeyRing, nowMs: number): SigningKey =>
  signing.find(({ fromMs, untilMs }) => fromMs <= nowMs && nowMs < untilMs) ?? signing[0]

/** Tells the state of one of these keys at a time; the newest is first. */
export const stateAt = (key: KeyRecord, keys: KeyRecord[], nowMs: number): KeyState => {
  const signs = (it: KeyRecord) => signsFromMs(it) <= nowMs && nowMs < signsUntilMs(it)
  const newest = keys.find(({ retiredAtMs }) => retiredAtMs === null)
  if (key === (keys.find(signs) ?? newest)) return 'signs'
  return signsFromMs(key) > nowMs && signsUntilMs(key) > nowMs ? 'published' : 'retired'
}

const signsFromMs = ({ signsAtMs }: KeyRecord): number => signsAtMs ?? Number.NEGATIVE_INFINITY

const signsUntilMs = ({ retiredAtMs }: KeyRecord): number => retiredAtMs ?? Number.POSITIVE_INFINITY

const verifiesUntilMs = (key: KeyRecord, graceMs: number): number =>
  key.revokedAtMs === null ? signsUntilMs(key) + graceMs : Number.NEGATIVE_INFINITY
