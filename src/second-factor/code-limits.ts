import { AppError } from '../lib/errors.ts'
import type { Clock } from '../lib/time.ts'
import { counterFor } from '../limits/counter.ts'
import { type CountedRow, countTry, findFull, type StoredCounter, takeBackTry } from '../limits/counter-store.ts'
import { retrySecondsOf } from '../limits/too-many-tries.ts'
import type { Database, Transaction } from '../storage/database.ts'
import { type CodeRow, countInARow, discountInARow, findFullRow } from './wrong-code-store.ts'

/** A retry on the next day helps as little as one in the next minute: the page says what helps. */
const LOCKED_RETRY_SECONDS = 86_400

/** A code is entered at a place, and each place has a count of its own. */
export type CodePlace =
  | {
      /** The code is entered at a login, or on the page of a link. */
      kind: 'login' | 'link'
      network: string
      /** The counts are stored under this name if the account knows the browser. */
      knownBrowser: string | undefined
    }
  | { kind: 'reauthentication'; sessionId: string; network: string }

interface Try {
  userId: string
  place: CodePlace
  isRecoveryCode: boolean
}

/**
 * Lists the counters of a code in the order of their ids. An attacker who has the password and tries codes must not
 * keep the owner out, so known browsers, sessions and recovery codes have counts of their own.
 */
const countersOf = ({ userId, place, isRecoveryCode }: Try): StoredCounter[] => {
  if (isRecoveryCode) return [counterFor('recoveryCode', userId, place.network)]
  if (place.kind === 'reauthentication') return [counterFor('codeInSession', place.sessionId)]
  if (place.knownBrowser !== undefined) return [counterFor('codeInKnownBrowser', userId, place.knownBrowser)]
  if (place.kind === 'link') return [counterFor('codeOnLink', userId, place.network)]
  return [counterFor('codeInNetwork', userId, place.network), counterFor('codeOfAccount', userId)]
}

/**
 * Lists the rows in which a wrong code counts and which a right one ends. Recovery codes have none, since they are
 * long.
 */
export const codeRowsOf = ({ place, isRecoveryCode }: Omit<Try, 'userId'>): CodeRow[] => {
  if (isRecoveryCode) return []
  const isOwn = place.kind === 'reauthentication' || place.knownBrowser !== undefined
  return isOwn ? ['anywhere'] : ['anywhere', place.kind === 'link' ? 'links' : 'browsers']
}

interface CodeLimitsDeps {
  db: Database
  clock: Clock
  /** This is `SVC_RATE_LIMIT`. Codes in a row are counted even when it is off, since they are no rate. */
  enabled: boolean
}

/** These limits of wrong codes are counted in the database, and are the same for all processes. */
export const createCodeLimits = ({ db, clock, enabled }: CodeLimitsDeps) => {
  const countWithinTime = async (transaction: Transaction, counters: StoredCounter[]): Promise<CountedRow[]> => {
    if (counters.length === 0) return []
    const attempt = { counters, nowMs: clock.now() }
    const counted = await countTry(transaction.all, attempt)
    if (counted.length === counters.length) return counted
    const full = await findFull(transaction, attempt)
    const waits = full.filter(({ id }) => !counted.some((row) => row.id === id)).map(({ wait_ms: waitMs }) => waitMs)
    throw tooManyCodes(retrySecondsOf(Math.max(0, ...waits)))
  }

  /** An error here takes back every count of this try: a code that is not checked does not count. */
  const countAll = async (transaction: Transaction, attempt: Try): Promise<CountedRow[]> => {
    const counted = await countWithinTime(transaction, enabled ? countersOf(attempt) : [])
    const rows = codeRowsOf(attempt)
    if (rows.length === 0 || (await countInARow(transaction, attempt.userId, rows)) > 0) return counted
    const full = await findFullRow(transaction, attempt.userId, rows)
    if (full) throw locked(full)
    return counted
  }

  return {
    /**
     * Counts a try before its code is checked, so that many tries at once stay within the limit. It throws
     * `rate_limited` past the limit. It resolves to the function that takes the count back, for a code that is not
     * wrong.
     */
    async count(attempt: Try): Promise<() => Promise<void>> {
      const counted = await db.inTransaction((transaction) => countAll(transaction, attempt))
      return () =>
        db.inTransaction(async (transaction) => {
          await takeBackTry(transaction.all, counted)
          const rows = codeRowsOf(attempt)
          if (rows.length > 0) await discountInARow(transaction, attempt.userId, rows)
        })
    },
  }
}

const tooManyCodes = (retryAfterSeconds: number): AppError =>
  new AppError('rate_limited', `Too many wrong codes. Try again in ${retryAfterSeconds} seconds.`, {
    reason: 'codes_limited',
    retryAfterSeconds,
  })

const LOCKED: Record<CodeRow, string> = {
  browsers:
    'Too many wrong codes in a row: in browsers that this account does not know, codes of the app are refused until a new password is set. A recovery code, a passkey and a known browser still work.',
  links:
    'Too many wrong codes in a row: on the pages of links, codes of the app are refused until a new password is set. A recovery code, a passkey and a known browser still work.',
  anywhere:
    'Too many wrong codes in a row: codes of the app are refused until a recovery code or a passkey is used, or a new password is set.',
}

/** The value of the error is the full row, which the text of the page names. */
const locked = (row: CodeRow): AppError =>
  new AppError('rate_limited', LOCKED[row], {
    reason: 'codes_locked',
    values: [row],
    retryAfterSeconds: LOCKED_RETRY_SECONDS,
  })
