import type { AccountDone } from '../../pages/site/account-done.ts'
import type { RouteDeps } from '../../http/deps.ts'
import type { RequestContext } from '../../http/request-context.ts'
import { accountPathAfter } from '../../http/step-up.ts'
import { withReturnTo } from '../../http/return-to.ts'

/** What the login page says was done. */
export type LoginDone = 'deleted' | 'sign_in_ended' | 'check_mail'

type DoneDeps = Pick<RouteDeps, 'cookieWriter'>

/** Remembers what the user has just done; the path of the account page that says so. */
export const doneOnAccount = (
  { cookieWriter }: DoneDeps,
  context: RequestContext,
  userId: string,
  what: AccountDone,
): string => {
  context.setCookies([cookieWriter.done(ofAccount(what, userId))])
  return accountPathAfter(what)
}

/** The same for the login page, where there is no account. */
export const doneAtLogin = (
  { cookieWriter }: DoneDeps,
  context: RequestContext,
  what: LoginDone,
  returnTo?: string,
): string => {
  context.setCookies([cookieWriter.done(what)])
  return withReturnTo(`/auth/login?done=${what}`, returnTo)
}

/** Whether it is what this browser has done last; with a user, to that account. */
export const isDone = ({ cookies }: RequestContext, what: AccountDone | LoginDone, userId?: string): boolean =>
  cookies.single.done === (userId === undefined ? what : ofAccount(what, userId))

const ofAccount = (what: string, userId: string): string => `${what}.${userId}`
