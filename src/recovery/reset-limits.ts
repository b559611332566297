import type { Clock } from '../lib/time.ts'
import type { Transaction } from '../storage/database.ts'
import type { UserRecord } from '../accounts/user-store.ts'
import { findLiveLinks } from './link-store.ts'
import type { MailLimits } from './mail-limits.ts'

/**
 * Whether a link to a new password may be mailed. Past the limits it may while no earlier one is good that was mailed:
 * strangers, who can ask for many, must not keep the user out.
 */
export const mayMailReset = async (
  { clock, limits }: { clock: Clock; limits: MailLimits },
  transaction: Transaction,
  { id: userId, emailLower, emailVerifiedAtMs }: UserRecord,
): Promise<boolean> => {
  const isWithinLimits =
    (await limits.mayAsk(transaction, { purpose: 'reset', emailLower })) &&
    (emailVerifiedAtMs !== undefined || (await limits.mayMailUnverified(transaction, 'reset', emailLower)))
  if (isWithinLimits) return true
  const live = await findLiveLinks(transaction, { purpose: 'reset', userId, emailLower }, clock.now())
  // An operator makes links too, and hands them over.
  return !live.some(({ details }) => details.browser !== undefined)
}
