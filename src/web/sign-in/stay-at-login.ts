import type { ProviderView } from '../../pages/site/providers.ts'
import type { RouteDeps } from '../../http/deps.ts'
import type { RequestContext } from '../../http/request-context.ts'

/** The value of the cookie by which the login page is shown, and does not go straight on. */
export const STAYS = 'stay'

/** The provider to which login goes straight on, since there is no other way to log in. */
export const findOnlyProvider = ({ passwords, passkeys, providers }: Ways): ProviderView | undefined =>
  passwords || passkeys.isOn || providers.length > 1 ? undefined : providers[0]

type Ways = Pick<RouteDeps, 'passwords' | 'passkeys' | 'providers'>
type StayDeps = Ways & Pick<RouteDeps, 'cookieWriter'>

/**
 * After a logout or an error, the login page is shown until the user presses its button. Otherwise the next page of the
 * application would log the user in again, or lead to the same error.
 */
export const stayAtLogin = (deps: StayDeps, context: RequestContext): void => {
  if (findOnlyProvider(deps)) context.setCookies([deps.cookieWriter.stay(STAYS)])
}

/** The user has pressed the button. */
export const stayNoLonger = (deps: StayDeps, context: RequestContext): void => {
  if (findOnlyProvider(deps)) context.setCookies([deps.cookieWriter.stay('', 0)])
}
