import type { Awaitable } from '../../lib/awaitable.ts'
import type { NewAuthorizationFlow } from '../../oauth/oauth.ts'
import { isToken, newToken } from '../../http/cookies.ts'
import type { RouteDeps } from '../../http/deps.ts'
import type { RequestContext } from '../../http/request-context.ts'
import { type HttpResponse, redirect } from '../../http/response.ts'

/** Counts a start, and sends the browser to the provider of the flow. */
export const sendToProvider = async (
  { oauth, limits, cookieWriter }: Pick<RouteDeps, 'oauth' | 'limits' | 'cookieWriter'>,
  context: RequestContext,
  makeFlow: () => Awaitable<NewAuthorizationFlow>,
): Promise<HttpResponse> => {
  limits.countProviderStart(context.network)
  const { oauth: cookie } = context.cookies
  const browserSecret = isToken(cookie) ? cookie : newToken()
  const url = await oauth.begin(await makeFlow(), browserSecret)
  context.setCookies([cookieWriter.oauth(browserSecret)])
  return redirect(url.href)
}
