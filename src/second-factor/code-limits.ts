import { AppError } from '../lib/errors.ts'
import type { Clock } from '../lib/time.ts'
import { countWithin, secondsUntilEnd, takeBack } from '../storage/counters.ts'
import type { Database, Transaction } from '../storage/database.ts'
import { type CodeRow, countInARow, discountInARow, findFullRow, type RowLimits } from './wrong-code-store.ts'

const HOUR_MS = 3_600_000

/** How many wrong codes count within a window, for each of the places that `countersOf` names. */
const CODES = { limit: 5, windowMs: HOUR_MS / 4 }
const CODES_OF_ACCOUNT = { limit: 60, windowMs: 24 * HOUR_MS }
const RECOVERY_CODES = { limit: 10, windowMs: HOUR_MS }

/**
 * Wrong codes in a row in unknown browsers, after which no code is accepted there until a new password is set. The pages
 * of links have a row of their own: they are the way to a new password, and who fills one cannot fill the other.
 */
const MAX_IN_A_ROW = 20

/**
 * Wrong codes in a row over all places, after which none is accepted anywhere until a recovery code or a passkey was
 * right, or a new password is set (NIST SP 800-63B-4 section 3.2.2).
 */
const MAX_ANYWHERE = 100

/** The next day helps as little as the next minute: what helps is said on the page. */
const LOCKED_RETRY_SECONDS = 86_400

/** Where a code is entered, since each place has a count of its own. */
export type CodePlace =
  | {
      /** At a login, or on the page of a link. */
      kind: 'login' | 'link'
      network: string
      /** What is counted in it is counted by this, where the account knows the browser. */
      knownBrowser: string | undefined
    }
  | { kind: 'reauthentication'; sessionId: string; network: string }

interface Counter {
  id: string
  isOfNetwork?: boolean
  limit: number
  windowMs: number
}

interface Try {
  userId: string
  place: CodePlace
  isRecoveryCode: boolean
}

/**
 * An attacker who has the password and tries codes must not keep the owner out: so browsers that the account knows, and
 * sessions, have counts of their own, and so have recovery codes.
 */
const countersOf = ({ userId, place, isRecoveryCode }: Try): Counter[] => {
  if (isRecoveryCode) return [{ id: `recovery code ${userId} ${place.network}`, isOfNetwork: true, ...RECOVERY_CODES }]
  if (place.kind === 'reauthentication') return [{ id: `code session ${place.sessionId}`, ...CODES }]
  if (place.knownBrowser !== undefined) return [{ id: `code browser ${userId}/${place.knownBrowser}`, ...CODES }]
  if (place.kind === 'link') return [{ id: `code link ${userId} ${place.network}`, isOfNetwork: true, ...CODES }]
  return [
    { id: `code network ${userId} ${place.network}`, isOfNetwork: true, ...CODES },
    { id: `code account ${userId}`, ...CODES_OF_ACCOUNT },
  ]
}

/** The rows in which a wrong code counts, and which a right one ends: none for recovery codes, which are long. */
export const rowLimitsOf = ({ place, isRecoveryCode }: Omit<Try, 'userId'>): RowLimits => {
  if (isRecoveryCode) return {}
  const isOwn = place.kind === 'reauthentication' || place.knownBrowser !== undefined
  if (isOwn) return { anywhere: MAX_ANYWHERE }
  return { anywhere: MAX_ANYWHERE, [place.kind === 'link' ? 'links' : 'browsers']: MAX_IN_A_ROW }
}

/** The limits of wrong codes, counted in the database, the same for all processes. */
export interface CodeLimits {
  /**
   * Counts a try before its code is checked, so that many at once are no more than the limit; `rate_limited` past it.
   * Resolves to what takes the count back, for a code that is not wrong.
   */
  count(attempt: Try): Promise<() => Promise<void>>
}

interface CodeLimitsDeps {
  db: Database
  clock: Clock
  /** `SVC_RATE_LIMIT`. Codes in a row count without it too: they are no rate. */
  enabled: boolean
}

const takeAllBack = async (transaction: Transaction, attempt: Try, counters: Counter[]): Promise<void> => {
  for (const { id } of counters) await takeBack(transaction, id)
  if (!attempt.isRecoveryCode) await discountInARow(transaction, attempt.userId, rowLimitsOf(attempt))
}

export const createCodeLimits = ({ db, clock, enabled }: CodeLimitsDeps): CodeLimits => {
  /** What throws here takes back what was counted before: only codes that are checked count. */
  const countAll = async (transaction: Transaction, attempt: Try, counters: Counter[]): Promise<void> => {
    const nowMs = clock.now()
    for (const counter of counters) {
      if (await countWithin(transaction, { ...counter, nowMs })) continue
      throw tooManyCodes(await secondsUntilEnd(transaction, counter.id, nowMs))
    }
    if (attempt.isRecoveryCode) return
    const rows = rowLimitsOf(attempt)
    if ((await countInARow(transaction, attempt.userId, rows)) > 0) return
    const full = await findFullRow(transaction, attempt.userId, rows)
    if (full) throw locked(full)
  }

  return {
    async count(attempt) {
      const counters = enabled ? countersOf(attempt) : []
      await db.inTransaction((transaction) => countAll(transaction, attempt, counters))
      return () => db.inTransaction((transaction) => takeAllBack(transaction, attempt, counters))
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

/** With the full row as what the text names. */
const locked = (row: CodeRow): AppError =>
  new AppError('rate_limited', LOCKED[row], {
    reason: 'codes_locked',
    values: [row],
    retryAfterSeconds: LOCKED_RETRY_SECONDS,
  })
