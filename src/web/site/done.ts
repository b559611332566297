import { type AccountDone, accountDone } from './account-done.ts'
import type { Services } from '../../http/services.ts'
import type { RequestContext } from '../../http/request-context.ts'
import { withReturnTo } from '../../http/return-to.ts'
import { accountPathAfter } from '../../http/step-up.ts'

/** The login page says that one of these was done. */
export type LoginDone = 'deleted' | 'sign_in_ended' | 'check_mail'

/** Names the section of the account page that says what was done. */
export const accountPathOf = (what: AccountDone): string => accountPathAfter(what, { place: accountDone[what] })

/** Remembers what the user has just done; it gives the path of the account page that says so. */
export const doneOnAccount = (
  { cookieWriter }: Pick<Services, 'cookieWriter'>,
  context: RequestContext,
  userId: string,
  what: AccountDone,
): string => {
  context.setCookies([cookieWriter.done(ofAccount(what, userId))])
  return accountPathOf(what)
}

/** Does the same for the login page, which has no account. */
export const doneAtLogin = (
  { cookieWriter }: Pick<Services, 'cookieWriter'>,
  context: RequestContext,
  what: LoginDone,
  returnTo?: string,
): string => {
  context.setCookies([cookieWriter.done(what)])
  return withReturnTo(`/auth/login?done=${what}`, returnTo)
}

/** Tells whether it is what this browser has done last. If a user is given, it must have been done to that account. */
export const isDone = ({ cookies }: RequestContext, what: AccountDone | LoginDone, userId?: string): boolean =>
  cookies.single.done === (userId === undefined ? what : ofAccount(what, userId))

const ofAccount = (what: string, userId: string): string => `${what}.${userId}`
