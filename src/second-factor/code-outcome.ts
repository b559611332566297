import { AppError } from '../lib/errors.ts'
import type { CheckedCode } from './code-check.ts'

/**
 * The check of a code ends in one of these ways: it is right (of the app, or a recovery code), wrong, or not looked at.
 */
export const CODE_OUTCOMES = ['one_time_code', 'recovery_code', 'wrong', 'limited', 'failed'] as const

export type CodeOutcome = (typeof CODE_OUTCOMES)[number]

const outcomeOf = (thrown: unknown): CodeOutcome => {
  if (!(thrown instanceof AppError)) return 'failed'
  if (thrown.code === 'rate_limited') return 'limited'
  return thrown.code === 'unauthorized' ? 'wrong' : 'failed'
}

export const countingCodes =
  <Entered extends unknown[]>(
    check: (...entered: Entered) => Promise<CheckedCode>,
    count: ((outcome: CodeOutcome) => void) | undefined,
  ) =>
  async (...entered: Entered): Promise<CheckedCode> => {
    try {
      const checked = await check(...entered)
      count?.(checked.proof)
      return checked
    } catch (error) {
      count?.(outcomeOf(error))
      throw error
    }
  }
