import type { RouteDeps } from '../deps.ts'
import { type LimitedBy, TooManyTries } from '../rate-limit.ts'
import type { RequestContext } from '../request-context.ts'

const loginOfAccount = (emailLower: string, network: string): LimitedBy => ['login', `${emailLower} ${network}`]

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
    return await limits.attempt([['loginOfAddress', network], loginOfAccount(emailLower, network)], action)
  } catch (error) {
    if (error instanceof TooManyTries && error.limit === 'login') await recovery.loginLimit.reached(emailLower, device)
    throw error
  }
}

/** Counts from zero for a user who has come back by a link: wrong passwords from before must not keep them out. */
export const forgetWrongPasswords = (
  { limits }: Pick<RouteDeps, 'limits'>,
  { network }: RequestContext,
  { userId, emailLower }: { userId: string; emailLower: string },
): void => limits.forget([loginOfAccount(emailLower, network), ['passwordOfUser', userId]])
