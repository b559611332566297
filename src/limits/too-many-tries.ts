import { AppError } from '../lib/errors.ts'
import type { LimitName } from './limit-table.ts'

/** A client waits so long if a limit is filled by nothing but tries that are still under way. */
const RETRY_SOON_MS = 2000

/** Computes the value of `Retry-After`. */
export const retrySecondsOf = (waitMs: number): number => Math.max(1, Math.ceil(waitMs / 1000))

/** A try was refused (`rate_limited`); the error names the limit whose window ends last. */
export class TooManyTries extends AppError {
  readonly limit: LimitName
  /** The tries that fill the limit may yet be taken back: nobody may be said to have failed. */
  readonly onlyUnderWay: boolean

  /** The window ends in so many milliseconds. If they are left out, tries under way alone fill the limit. */
  constructor(limit: LimitName, waitMs?: number) {
    const retryAfterSeconds = retrySecondsOf(waitMs ?? RETRY_SOON_MS)
    super('rate_limited', `Too many tries. Try again in ${retryAfterSeconds} seconds.`, { retryAfterSeconds })
    this.name = 'TooManyTries'
    this.limit = limit
    this.onlyUnderWay = waitMs === undefined
  }
}
