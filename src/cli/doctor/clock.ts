import type { Core } from '../../core.ts'
import { type Finding, finding } from './findings.ts'

/** Clocks that differ by more than this make tokens and codes fail. */
const MAX_CLOCK_DIFFERENCE_MS = 10_000

/** `aheadMs`: by how much the clock of the service, or of the database, is ahead of that of this machine. */
export const clockDiffers = (whose: 'service' | 'database', aheadMs: number): Finding => {
  const seconds = Math.round(Math.abs(aheadMs) / 1000)
  const direction = aheadMs > 0 ? 'ahead of' : 'behind'
  return finding('clock_differs', `The clock of the ${whose} is ${seconds} s ${direction} that of this machine.`)
}

export const checkClock = (whose: 'service' | 'database', aheadMs: number): Finding[] =>
  Math.abs(aheadMs) > MAX_CLOCK_DIFFERENCE_MS ? [clockDiffers(whose, aheadMs)] : []

/** The database has a clock where it has a server. */
export const inspectDatabaseClock = async ({ db, clock }: Core): Promise<Finding[]> => {
  const { compareClocks } = await import('../../storage/server-clock.ts')
  return checkClock('database', -(await compareClocks(db, clock)).aheadMs)
}
