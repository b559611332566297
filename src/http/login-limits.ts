import { hashBrowserSecret } from '../sign-in/known-browsers.ts'
import { readEmail } from '../lib/email-address.ts'
import type { RouteDeps } from './services.ts'
import type { RequestContext } from './request-context.ts'
import type { LimitedLogins } from '../lib/limited-logins.ts'
import type { LimitName } from '../limits/limit-table.ts'
import { TooManyTries } from '../limits/limits.ts'

/**
 * Runs a login with a password under its limits, wherever the password is entered. It throws `TooManyTries` beyond
 * them. The owner of the account, if there is one, is told of failures that fill a limit. All spellings of an email are
 * one name. A username has counts of its own, or a stranger could see to which email it belongs.
 */
export const limitLogin = async <T>(
  { limits, users, links: { loginLimit } }: Pick<RouteDeps, 'limits' | 'users' | 'links'>,
  context: RequestContext,
  { entered, username }: { entered: string; username?: string | undefined },
  action: () => Promise<T>,
): Promise<T> => {
  users.requireRoomForPassword(context)
  const { network, device, cookies } = context
  const email = readEmail(entered)
  const deviceHash = cookies.device === undefined ? '' : hashBrowserSecret(cookies.device)
  try {
    return await limits.attemptLogin({ emailLower: email?.lower ?? entered, username, deviceHash, network }, action)
  } catch (error) {
    const limited = limitedLogins(error)
    // A text that is no email may be anything, even a password, and goes no further than this.
    if (email && limited && limited !== 'of_network') await loginLimit.reached(email.lower, limited, device)
    throw error
  }
}

const LIMITED: Partial<Record<LimitName, LimitedLogins>> = {
  login: 'in_network',
  loginOfAccount: 'anywhere',
  loginInKnownBrowser: 'in_known_browser',
  loginOfAddress: 'of_network',
}

/**
 * Tells which logins failed so often that no more passwords are checked. It is undefined if something else went wrong.
 */
export const limitedLogins = (thrown: unknown): LimitedLogins | undefined =>
  thrown instanceof TooManyTries && !thrown.onlyUnderWay ? LIMITED[thrown.limit] : undefined
