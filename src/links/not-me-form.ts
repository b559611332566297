import type { Database, Queries } from '../storage/database.ts'
import type { Link } from './link.ts'
import type { AskedFactor } from './proved-factor.ts'

/** What the page of a link asks for. */
export interface NotMeForm {
  /** A new password in the same step. Otherwise the next page asks for what the user signs in with. */
  setsPassword: boolean
  /** Whose second factor must be proved in this step; undefined: the next page asks for what is left. */
  asked: AskedFactor | undefined
}

export interface NotMeFormDeps {
  db: Database
  /** Whether an app, or a passkey besides the one that goes, is left to the account, of what the settings allow. */
  keepsFactor: (
    queries: Queries,
    userId: string,
    removed: { appGoes: boolean; passkeyId: string | undefined },
  ) => Promise<boolean>
}

/**
 * Where the app or passkey that goes is the last, recovery codes from before are all that keeps a thief of the mailbox
 * out. Another one that is left is asked for, unless the account had none at all before what the notice told of: what is
 * left may be the thief's then, and must not keep the owner from throwing them out. The next page asks for it.
 */
export const createNotMeForm =
  ({ db, keepsFactor }: NotMeFormDeps) =>
  async ({ userId = '', details }: Link, hasPassword: boolean, queries: Queries = db): Promise<NotMeForm> => {
    const { setUpAt, passkeyId, addedAt } = details
    const goesSinceMs = Number(setUpAt ?? addedAt ?? Number.NaN)
    const isFactor = !Number.isNaN(goesSinceMs)
    const appGoes = setUpAt !== undefined
    if (!(await keepsFactor(queries, userId, { appGoes, passkeyId })))
      return { setsPassword: hasPassword, asked: isFactor ? { userId, madeBeforeMs: goesSinceMs } : undefined }
    if (!hasPassword || details.hadFactor === 'no') return { setsPassword: false, asked: undefined }
    const without = isFactor ? { appGoes, passkeyId, recoveryCodesSinceMs: goesSinceMs } : undefined
    return { setsPassword: true, asked: { userId, without } }
  }
