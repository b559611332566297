import type { RouteDeps } from '../deps.ts'
import { TooManyTries } from '../rate-limit.ts'
import type { RequestContext } from '../request-context.ts'

/**
 * Runs a login with a password under its limits, wherever the password is entered; `rate_limited` beyond them. The owner
 * of the account, if there is one, is told then.
 */
export const limitLogin = async <T>(
  { limits, recovery }: Pick<RouteDeps, 'limits' | 'recovery'>,
  { network, device }: RequestContext,
  emailLower: string,
  action: () => Promise<T>,
): Promise<T> => {
  try {
    return await limits.attempt(
      [
        ['loginOfAddress', network],
        ['login', `${emailLower} ${network}`],
      ],
      action,
    )
  } catch (error) {
    if (error instanceof TooManyTries && error.limit === 'login') await recovery.loginLimit.reached(emailLower, device)
    throw error
  }
}
