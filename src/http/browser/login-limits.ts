import type { RouteDeps } from '../deps.ts'
import { type LimitedBy, TooManyTries } from '../rate-limit.ts'
import type { RequestContext } from '../request-context.ts'

const loginOfAccount = (emailLower: string, network: string): LimitedBy => ['login', `${emailLower} ${network}`]

/**
 * Runs a login with a password under its limits, wherever the password is entered; `rate_limited` beyond them. The owner
 * of the account, if there is one, is told then. An unlock, which any process may have written, begins the count again.
 */
export const limitLogin = async <T>(
  { limits, recovery: { loginLimit } }: Pick<RouteDeps, 'limits' | 'recovery'>,
  { network, device }: RequestContext,
  emailLower: string,
  action: () => Promise<T>,
): Promise<T> => {
  const ofAccount = loginOfAccount(emailLower, network)
  const attempt = () => limits.attempt([['loginOfAddress', network], ofAccount], action)
  try {
    return await attempt()
  } catch (error) {
    if (!(error instanceof TooManyTries) || error.limit !== 'login') throw error
    const unlock = await loginLimit.findUnlock(emailLower)
    if (unlock !== undefined && limits.unlock(ofAccount, unlock)) return attempt()
    await loginLimit.reached(emailLower, device)
    throw error
  }
}
