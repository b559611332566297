import type { LimitedLogins } from '../../lib/limited-logins.ts'
import type { LimitName } from '../../limits/limit-table.ts'
import { TooManyTries } from '../../limits/limits.ts'

const LIMITED: Partial<Record<LimitName, LimitedLogins>> = {
  login: 'in_network',
  loginOfAccount: 'anywhere',
  loginInKnownBrowser: 'in_known_browser',
  loginOfAddress: 'of_network',
}

/** Which logins failed so often that no more passwords are checked; undefined where something else went wrong. */
export const limitedLogins = (thrown: unknown): LimitedLogins | undefined =>
  thrown instanceof TooManyTries && !thrown.onlyUnderWay ? LIMITED[thrown.limit] : undefined
