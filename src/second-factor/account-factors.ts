import { type AccountFactors, type FindAsked, hasFactor } from '../sign-in/asked-factor.ts'
import type { Database, Queries } from '../storage/database.ts'
import { countFactors } from './second-factor-store.ts'

type Runner = Pick<Queries, 'get'>

/** Finds the second factors and passkeys of accounts. A kind that the settings switch off does not count. */
export interface FactorLookup {
  /**
   * Finds everything that was made before `madeBeforeMs`, or everything at all when it is left out. Recovery codes from
   * before that time count even if the factor that they stood for was replaced since.
   */
  find(userId: string, queries?: Runner, madeBeforeMs?: number): Promise<AccountFactors>
  /** Does the same as `find`, but leaves out the factors that go in the same step. */
  findAsked: FindAsked
  /** Tells whether the account has an app or a passkey. */
  has(queries: Runner, userId: string): Promise<boolean>
  hasPasskey(queries: Runner, userId: string): Promise<boolean>
  /** Tells whether the account had an app, a passkey or a recovery code before a time, whatever the settings allow. */
  hadAny(queries: Runner, userId: string, beforeMs: number): Promise<boolean>
}

interface FactorLookupDeps {
  db: Database
  acceptsCodes: boolean
  acceptsPasskeys: boolean
}

export const createFactorLookup = ({ db, acceptsCodes, acceptsPasskeys }: FactorLookupDeps): FactorLookup => {
  const findAccepted = async (
    queries: Runner,
    userId: string,
    which: { beforeMs?: number; exceptPasskey?: string },
  ) => {
    const stored = await countFactors(queries, userId, which)
    return { ...stored, codes: acceptsCodes && stored.codes > 0, passkeys: acceptsPasskeys ? stored.passkeys : 0 }
  }

  const has: FactorLookup['has'] = async (queries, userId) => hasFactor(await findAccepted(queries, userId, {}))

  const find: FactorLookup['find'] = async (userId, queries = db, beforeMs?: number) => {
    const found = await findAccepted(queries, userId, { ...(beforeMs !== undefined && { beforeMs }) })
    if (hasFactor(found)) return found
    // Something newer has replaced the app that they stood for.
    const stand = beforeMs !== undefined && found.recoveryCodes > 0 && (await has(queries, userId))
    return { ...found, recoveryCodes: stand ? found.recoveryCodes : 0 }
  }

  return {
    find,
    has,

    async findAsked({ userId, madeBeforeMs, without }, queries = db) {
      if (!without) return find(userId, queries, madeBeforeMs)
      const { appGoes, passkeyId: exceptPasskey, recoveryCodesSinceMs } = without
      const left = await findAccepted(queries, userId, {
        ...(madeBeforeMs !== undefined && { beforeMs: madeBeforeMs }),
        ...(exceptPasskey !== undefined && { exceptPasskey }),
      })
      const { recoveryCodes } = await find(userId, queries, recoveryCodesSinceMs)
      return { codes: left.codes && !appGoes, passkeys: left.passkeys, recoveryCodes }
    },

    hasPasskey: async (queries, userId) => (await findAccepted(queries, userId, {})).passkeys > 0,

    async hadAny(queries, userId, beforeMs) {
      const { codes, passkeys, recoveryCodes } = await countFactors(queries, userId, { beforeMs })
      return codes + passkeys + recoveryCodes > 0
    },
  }
}
