import type { ScreenServices } from '../site/frame.ts'
import type { ProviderView, OfferedWays } from '../../http/services.ts'
import type { RequestContext } from '../../http/request-context.ts'
import { countProviderFailure } from '../../http/request-metrics.ts'
import type { HttpResponse } from '../../http/response.ts'
import { orProblemPage, sendToProvider } from '../sign-in/provider-flow.ts'
import { findOnlyProvider, STAYS } from '../sign-in/offered-ways.ts'

/**
 * A browser is sent on this often within a minute before the page is shown: an application that never accepts the
 * session would send it around in circles.
 */
const MOST_TIMES = 5
const WINDOW_SECONDS = 60

/**
 * Sends a visitor of the login page to the only provider, if the page offers no choice. The result is undefined if the
 * page is to be shown: for anything but a navigation of a whole tab, after a logout or an error, and in a loop.
 */
export const createStraightOn = (
  deps: OfferedWays &
    Pick<
      ScreenServices,
      | 'cookieWriter'
      | 'findCurrentSession'
      | 'homeUrl'
      | 'limits'
      | 'log'
      | 'oauth'
      | 'layout'
      | 'requestMetrics'
      | 'signup'
    >,
) => {
  const provider = findOnlyProvider(deps)
  if (!provider) return () => undefined

  const begin = (context: RequestContext, provider: ProviderView, returnTo: string, times: number) =>
    orProblemPage(deps, context, { provider, returnTo }, () =>
      countProviderFailure(deps.requestMetrics, provider.name, async () => {
        const flow = { provider: provider.name, intent: 'sign_in', returnTo } as const
        const response = await sendToProvider(deps, context, () => flow)
        context.setCookies([deps.cookieWriter.stay(String(times), WINDOW_SECONDS)])
        return response
      }),
    )

  return (context: RequestContext, returnTo: string): Promise<HttpResponse> | undefined => {
    const times = timesSent(context)
    if (times >= MOST_TIMES || context.query.get('done') !== undefined || !isNavigation(context)) return undefined
    return begin(context, provider, returnTo, times + 1)
  }
}

/**
 * Counts the times within the last minute. The count is the maximum if the page is to stay, or if the cookie came
 * twice.
 */
const timesSent = ({ cookies: { single, repeated } }: RequestContext): number => {
  if (repeated.includes('stay') || single.stay === STAYS) return MOST_TIMES
  return /^[1-9]$/.test(single.stay ?? '') ? Number(single.stay) : 0
}

/**
 * Tells whether a whole tab goes to the page now (W3C Fetch Metadata). Browsers say so. A prefetch goes there before
 * the user does, a frame is no tab, and a `HEAD` changes nothing.
 */
const isNavigation = ({ method, headers }: RequestContext): boolean =>
  method === 'GET' &&
  headers['sec-fetch-mode'] === 'navigate' &&
  headers['sec-fetch-dest'] === 'document' &&
  !EARLY_HEADERS.some((name) => EARLY.test(String(headers[name] ?? '')))

const EARLY_HEADERS = ['sec-purpose', 'purpose', 'x-purpose', 'x-moz']
const EARLY = /prefetch|prerender|preview/i
