import type { RecordEvent } from '../../audit/audit-event.ts'
import type { RootSecret } from '../../lib/derived-keys.ts'
import { AppError } from '../../lib/errors.ts'
import { type Clock, toTimestamp } from '../../lib/time.ts'
import type { Database, Queries } from '../../storage/database.ts'
import { findSessionsUnseenSince } from '../all-sessions-store.ts'
import { findResealedAt, lockKeys } from './key-store.ts'
import type { SigningKeys } from './signing-keys.ts'

interface SecretRotationDeps {
  db: Database
  clock: Clock
  rootSecret: RootSecret
  signingKeys: Pick<SigningKeys, 'prepare' | 'reseal'>
  recordEvent: RecordEvent
  /** The secrets of authenticator apps are sealed with the root secret too, for as long as they are stored. */
  appSecrets: {
    /** It resolves to how many were sealed with the previous root secret. */
    reseal: () => Promise<number>
    /** Counts those that are, and were made at `sinceMs` or later. */
    count: (queries: Queries, sinceMs?: number) => Promise<number>
  }
}

/** It tells whether the previous root secret is still needed. Times are in milliseconds since 1970. */
export interface SecretStatus {
  /** New tokens come from the current root secret since this time; it is undefined when it was never rotated. */
  rotatedAtMs: number | undefined
  hasPrevious: boolean
  /**
   * This many sessions and grants of clients were not refreshed since, so that their refresh tokens may come from the
   * previous root secret.
   */
  sessions: number
  /** The last of them ends at this time unless it is refreshed. */
  neededUntilMs: number | undefined
  /** This many authenticator apps have a secret that is sealed with the previous root secret. */
  apps: number
}

/** A running service may take this long to notice a rotation, and two clocks may differ by this much. */
const TAKEN_OVER_WITHIN_MS = 60_000

/** Changes from one root secret to the next (NIST SP 800-57 part 1, section 5.3). */
export interface SecretRotation {
  status(): Promise<SecretStatus>
  /**
   * Puts a new root secret in place by `change`, and seals the signing keys and the secrets of authenticator apps with
   * it. It throws `conflict` when sessions still need the previous root secret, which `change` overwrites, unless that
   * is forced. A kill at any moment leaves a pair of root secrets that opens everything.
   */
  rotate(change: () => void, options: { isForced: boolean }): Promise<SecretStatus>
  /**
   * Seals with the current root secret everything that is left under the previous one; it resolves to the number of
   * secrets of apps.
   */
  reseal(): Promise<number>
}

export const createSecretRotation = (deps: SecretRotationDeps): SecretRotation => {
  const { db, clock, rootSecret, signingKeys, appSecrets, recordEvent } = deps

  const read = async (queries: Queries): Promise<Omit<SecretStatus, 'apps'>> => {
    const nowMs = clock.now()
    const rotatedAtMs = await findResealedAt(queries)
    const { hasPrevious } = rootSecret
    if (!hasPrevious) return { rotatedAtMs, hasPrevious, sessions: 0, neededUntilMs: undefined }
    const beforeMs = (rotatedAtMs ?? nowMs) + TAKEN_OVER_WITHIN_MS
    const { count: sessions, lastEndMs } = await findSessionsUnseenSince(queries, beforeMs, nowMs)
    return { rotatedAtMs, hasPrevious, sessions, neededUntilMs: lastEndMs }
  }

  const requireReplaceable = async (transaction: Queries, isForced: boolean): Promise<void> => {
    const { rotatedAtMs, hasPrevious, sessions, neededUntilMs } = await read(transaction)
    if (!hasPrevious) return
    // A running service must see each change before the next one.
    if (rotatedAtMs !== undefined && rotatedAtMs + TAKEN_OVER_WITHIN_MS > clock.now()) throw tooSoon()
    if (sessions > 0 && !isForced) throw stillNeeded(sessions, neededUntilMs)
  }

  const status = async (): Promise<SecretStatus> => ({
    ...(await read(db)),
    apps: rootSecret.hasPrevious ? await appSecrets.count(db) : 0,
  })

  return {
    status,
    reseal: async () => (rootSecret.hasPrevious ? appSecrets.reseal() : 0),

    async rotate(change, { isForced }) {
      await signingKeys.prepare()
      const startedMs = clock.now()
      // A rotation that was interrupted may have left some: the secret that seals them is about to be overwritten, even
      // if that is forced.
      await appSecrets.reseal()
      let isChanged = false
      await db.inTransaction(async (transaction) => {
        await lockKeys(transaction)
        const resealed = await signingKeys.reseal(transaction)
        // The transaction may be repeated; the files must be changed once.
        if (!isChanged) {
          // Keys were sealed with the previous root secret, which is about to be overwritten: another rotation has come
          // in between.
          if (resealed > 0) throw tooSoon()
          await requireReplaceable(transaction, isForced)
          // A service that has not loaded the last rotation yet may have sealed more in the meantime.
          if ((await appSecrets.count(transaction, startedMs - TAKEN_OVER_WITHIN_MS)) > 0) throw tooSoon()
          change()
          isChanged = true
          await signingKeys.reseal(transaction)
        }
        await recordEvent(transaction, { type: 'key.rotated', details: { reason: 'root_secret' } })
      })
      await appSecrets.reseal()
      return status()
    },
  }
}

const tooSoon = (): AppError =>
  new AppError(
    'conflict',
    'The root secret was rotated less than a minute ago. Running services have to take that one over first: try again in a minute.',
  )

const stillNeeded = (sessions: number, neededUntilMs = 0): AppError =>
  new AppError(
    'conflict',
    `Sessions that were not refreshed since the last rotation (${sessions}) need the previous root secret, which another ` +
      `rotation would overwrite: they would be logged out. Wait until they have been refreshed, which is at ` +
      `${toTimestamp(neededUntilMs)} at the latest, or use --force.`,
  )
