import { createWelcomePage } from './welcome-page.ts'
import type { ScreenServices } from '../site/frame.ts'
import type { RequestContext } from '../../http/request-context.ts'
import { type HttpResponse, page } from '../../http/response.ts'
import { signupWays } from '../sign-in/offered-ways.ts'

/**
 * Handles `GET /`, if the base URL is on this machine. The application has the address, but until it runs, the request
 * reaches svc. A user who has just signed up is told what to do next; for anyone else the page is a 404 all the same.
 */
export const createWelcome = (
  deps: Pick<
    ScreenServices,
    'baseUrl' | 'emailSignIn' | 'findCurrentSession' | 'layout' | 'passwords' | 'providers' | 'signup'
  >,
) => {
  const { findCurrentSession, layout, baseUrl } = deps
  const welcomePage = createWelcomePage(layout)
  const { isOpen: signupOpen } = signupWays(deps)

  const show = async (context: RequestContext): Promise<HttpResponse> => {
    const session = await findCurrentSession(context)
    const host = context.headers.host ?? new URL(baseUrl).host
    const { requestId } = context
    return page(session ? 200 : 404, welcomePage({ email: session?.email, host, signupOpen, requestId }))
  }
  return { show }
}
