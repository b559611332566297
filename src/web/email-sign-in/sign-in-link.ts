import { createPasskeyNeededPage, createSignInLinkPage } from './pages.ts'
import { provesEmail } from '../../links/link.ts'
import type { EventFacts } from '../../audit/account-log.ts'
import type { RequestContext } from '../../http/request-context.ts'
import { type HttpResponse, page } from '../../http/response.ts'
import type { Refusal } from '../../http/route.ts'
import { nameView } from '../site/person-name.ts'
import { isAskingBrowser } from '../sign-in/asking-browser.ts'
import { createLinkForm, findSessionsBeside, type NamedLink } from '../sign-in/link-token.ts'
import { createEnterByMail, enteringBrowserOf, type EnterByMailServices } from './enter-by-mail.ts'

/**
 * Handles `GET` and `POST /auth/login/email/link`: it signs in where it is opened, and never in the browser that asked
 * for it. It works for links of operators while users do not sign in by mail.
 */
export const createSignInLink = (deps: EnterByMailServices) => {
  const { links, layout, names, requestMetrics } = deps
  const signInLinkPage = createSignInLinkPage(layout)
  const passkeyNeededPage = createPasskeyNeededPage(layout)
  const enter = createEnterByMail(deps)

  const findAccount = async (context: RequestContext, { link }: NamedLink) => {
    if (link.userId === undefined) return { email: link.details.email ?? '', makesAccount: true, reclaims: false }
    const { email, invitedAtMs } = await links.entry.requireAccount(link)
    const { isOwn: isOwnSession } = await findSessionsBeside(deps, context, link)
    const reclaims = await links.entry.reclaims({ link, isOwnSession, browser: enteringBrowserOf(context) })
    return { email, makesAccount: invitedAtMs !== undefined, reclaims }
  }

  const render = async (context: RequestContext, named: NamedLink, refusal: Refusal): Promise<string> => {
    const account = await findAccount(context, named)
    const { others } = await findSessionsBeside(deps, context, named.link)
    const asksForName = account.makesAccount && names === 'required'
    return signInLinkPage({
      csrfToken: context.csrfToken,
      token: named.token,
      ...account,
      browser: browserOf(context, named),
      otherEmail: others[0]?.email,
      name: asksForName ? nameView(names, context.form.get('name')) : undefined,
      ...refusal,
    })
  }

  const signIn = (context: RequestContext, { link }: NamedLink, facts: EventFacts): Promise<HttpResponse> => {
    const isMailed = provesEmail(link)
    facts.method = isMailed ? 'email_link' : 'link'
    return enter(context, { link, way: isMailed ? 'mail_link' : 'operator_link', facts })
  }

  /** Nothing is spent: the link works in a browser that the account knows. */
  const askForPasskey = async ({ link }: NamedLink, context: RequestContext): Promise<HttpResponse | undefined> => {
    const { userId } = link
    if (userId === undefined || !(await links.signIn.needsPasskey(userId, enteringBrowserOf(context).device)))
      return undefined
    requestMetrics?.countEmailSignIn('passkey_needed')
    const { email } = await links.entry.requireAccount(link)
    return page(403, passkeyNeededPage({ email }))
  }

  return createLinkForm(deps, ['sign_in'], { render, act: signIn, instead: askForPasskey })
}

const browserOf = (context: RequestContext, { link }: NamedLink) => {
  if (link.details.browser === undefined) return 'operator'
  return isAskingBrowser(context, link) ? 'own' : 'other'
}
