import { createFirstFactorPage, type FirstFactorView } from './first-factor-page.ts'
import type { ScreenServices } from '../site/frame.ts'
import { readReturnTo, type ReturnTargets, withReturnTo } from '../../http/return-to.ts'
import { speakToUser } from '../../http/page-language.ts'
import type { RequestContext } from '../../http/request-context.ts'
import { type HttpResponse, page, redirect } from '../../http/response.ts'
import { ACCOUNT_PATH, firstFactorPath } from '../../http/step-up.ts'
import type { FormAttempt, Refusal } from '../../http/route.ts'
import { provingBrowserOf } from '../sign-in/first-set-up.ts'
import { readPending } from '../sign-in/pending.ts'
import { askingBrowserOf, isAskingBrowser, returnToOf } from '../sign-in/asking-browser.ts'
import { type NamedLink, requireLink } from '../sign-in/link-token.ts'

const bringsToken = ({ form, query }: RequestContext): boolean =>
  (form.get('token') ?? query.get('token')) !== undefined

/**
 * Handles `/auth/account/first-factor`. In a browser that is new to the account, a link by mail comes before its first
 * second factor or passkey. The link works only in the browser that asked for it.
 */
export const createFirstFactorLink = (
  deps: ReturnTargets &
    Pick<
      ScreenServices,
      'cookieWriter' | 'findCurrentSession' | 'languages' | 'layout' | 'pendingSignIns' | 'links' | 'users'
    >,
) => {
  const { languages, links, layout, findCurrentSession, pendingSignIns, users } = deps
  const firstFactorPage = createFirstFactorPage(layout)
  const { firstFactor } = links

  const targetOf = (context: RequestContext): string => readReturnTo(context, deps, ACCOUNT_PATH)

  /** The owner is found by the session, or by a sign-in that goes on with a set-up. */
  const findOwner = async (context: RequestContext): Promise<string | undefined> => {
    const session = await findCurrentSession(context)
    if (session) return session.userId
    const pending = readPending(deps, context)
    if (!pending || !(await pendingSignIns.isLive(pending))) return undefined
    speakToUser(languages, (await users.find(pending.userId))?.language)
    return pending.userId
  }

  const render = (
    context: RequestContext,
    view: Omit<FirstFactorView, 'csrfToken'>,
    problem?: Refusal['problem'],
  ): string => firstFactorPage({ csrfToken: context.csrfToken, ...view, problem })

  const pageOfLink = (context: RequestContext, { link, token }: NamedLink): HttpResponse =>
    isAskingBrowser(context, link)
      ? page(200, render(context, { step: 'prove', token }))
      : page(403, render(context, { step: 'other_browser' }))

  const logInFirst = (context: RequestContext): HttpResponse =>
    redirect(withReturnTo('/auth/login', firstFactorPath(targetOf(context))))

  /** Runs `ask` for a user who may not set up anything here yet. */
  const orGoOn = async (
    context: RequestContext,
    ask: (userId: string, about: Pick<FirstFactorView, 'email' | 'returnTo'>) => Promise<HttpResponse>,
  ): Promise<HttpResponse> => {
    const returnTo = targetOf(context)
    const userId = await findOwner(context)
    if (userId === undefined) return logInFirst(context)
    const isAllowed = await firstFactor.isAllowed(userId, provingBrowserOf(context))
    return isAllowed ? redirect(returnTo) : ask(userId, { returnTo, email: await firstFactor.findAddress(userId) })
  }

  const prove = async (context: RequestContext, named: NamedLink, attempt: FormAttempt): Promise<HttpResponse> => {
    const { link } = named
    if (!isAskingBrowser(context, link)) return pageOfLink(context, named)
    return attempt({ event: 'second_factor_link', userId: link.userId }, async () => {
      await firstFactor.prove(link, context)
      return redirect(returnToOf(deps, context, link))
    })
  }

  return {
    async showAgain(context: RequestContext, { problem }: Refusal): Promise<string> {
      if (bringsToken(context)) {
        const { token } = await requireLink(deps, context, 'first_factor')
        return render(context, { step: 'prove', token }, problem)
      }
      const userId = await findOwner(context)
      const email = userId === undefined ? undefined : await firstFactor.findAddress(userId)
      return render(context, { step: 'ask', email, returnTo: targetOf(context) }, problem)
    },

    show: async (context: RequestContext): Promise<HttpResponse> =>
      bringsToken(context)
        ? pageOfLink(context, await requireLink(deps, context, 'first_factor'))
        : orGoOn(context, async (_, about) => page(200, render(context, { step: 'ask', ...about }))),

    act: async (context: RequestContext, attempt: FormAttempt): Promise<HttpResponse> =>
      bringsToken(context)
        ? prove(context, await requireLink(deps, context, 'first_factor'), attempt)
        : orGoOn(context, (userId, about) =>
            attempt({ userId }, async () => {
              await firstFactor.send(userId, askingBrowserOf(deps, context, about.returnTo ?? ACCOUNT_PATH))
              return page(200, render(context, { step: 'sent', ...about }))
            }),
          ),
  }
}
