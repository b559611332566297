import type { OfferedWays, ProviderView, Services } from '../../http/services.ts'
import type { RequestContext } from '../../http/request-context.ts'

/** This is the value of the cookie by which the login page is shown, and does not go straight on. */
export const STAYS = 'stay'

/** Finds the provider to which login goes straight on, since there is no other way to log in. */
export const findOnlyProvider = ({
  passwords,
  emailSignIn,
  passkeys,
  providers,
}: OfferedWays): ProviderView | undefined =>
  passwords || emailSignIn || passkeys.isOn || providers.length > 1 ? undefined : providers[0]

type StayDeps = OfferedWays & Pick<Services, 'cookieWriter'>

/**
 * After a logout or an error, the login page is shown until the user presses its button. Otherwise the next page of the
 * application would log the user in again, or lead to the same error.
 */
export const stayAtLogin = (deps: StayDeps, context: RequestContext): void => {
  if (findOnlyProvider(deps)) context.setCookies([deps.cookieWriter.stay(STAYS)])
}

export const stayNoLonger = (deps: StayDeps, context: RequestContext): void => {
  if (findOnlyProvider(deps)) context.setCookies([deps.cookieWriter.stay('', 0)])
}

/** Tells how a visitor can create an account; by mail if users have no passwords. */
export const signupWays = ({
  signup,
  passwords,
  emailSignIn,
  providers,
}: Pick<Services, 'signup' | 'passwords' | 'emailSignIn' | 'providers'>) => {
  const byPassword = signup === 'on' && passwords
  const byMail = signup === 'on' && !passwords && emailSignIn
  return { byPassword, byMail, isOpen: byPassword || byMail || (signup !== 'off' && providers.length > 0) }
}
