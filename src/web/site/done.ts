import type { AccountDone } from '../../pages/pages.ts'
import type { Services } from '../../http/services.ts'
import type { RequestContext } from '../../http/request-context.ts'
import { withReturnTo } from '../../http/return-to.ts'
import { accountPathAfter } from '../../http/step-up.ts'

/** What the login page says was done. */
export type LoginDone = 'deleted' | 'sign_in_ended' | 'check_mail'

/** Remembers what the user has just done; the path of the account page that says so. */
export const doneOnAccount = (
  { cookieWriter }: Pick<Services, 'cookieWriter'>,
  context: RequestContext,
  userId: string,
  what: AccountDone,
): string => {
  context.setCookies([cookieWriter.done(ofAccount(what, userId))])
  return accountPathAfter(what)
}

/** The same for the login page, where there is no account. */
export const doneAtLogin = (
  { cookieWriter }: Pick<Services, 'cookieWriter'>,
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
