import type { RouteDeps } from '../../deps.ts'
import type { RequestContext } from '../../request-context.ts'

const SECOND_FACTOR_PATH = '/auth/account/second-factor'

/** Sets the cookie with new recovery codes; resolves to the path of the page that shows them once. */
export const showRecoveryCodes = async (
  { secondFactors, cookieWriter }: Pick<RouteDeps, 'secondFactors' | 'cookieWriter'>,
  context: RequestContext,
  { userId, codes, returnTo }: { userId: string; codes: string[]; returnTo?: string | undefined },
): Promise<string> => {
  context.setCookies([cookieWriter.codes(await secondFactors.sealCodes(userId, codes))])
  return returnTo === undefined ? SECOND_FACTOR_PATH : `${SECOND_FACTOR_PATH}?return_to=${encodeURIComponent(returnTo)}`
}
