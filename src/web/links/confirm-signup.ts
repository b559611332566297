import { createEmailTakenPage, createConfirmSignupPage } from './verification-pages.ts'
import { AppError } from '../../lib/errors.ts'
import { DeadLinkError, type Link } from '../../links/link.ts'
import type { EventFacts } from '../../audit/account-log.ts'
import type { Services } from '../../http/services.ts'
import type { RequestContext } from '../../http/request-context.ts'
import { type Ended, signupOutcome } from '../../http/request-metrics.ts'
import { type HttpResponse, page } from '../../http/response.ts'
import { afterSignup } from '../../http/return-to.ts'
import type { Refusal } from '../../http/route.ts'
import { completeSignIn, type SignInServices } from '../sign-in/complete-sign-in.ts'
import { findBrowserSessions } from '../sign-in/start-session.ts'
import { isAskingBrowser, returnToOf } from '../sign-in/asking-browser.ts'
import { nameView, typedName } from '../site/person-name.ts'
import type { LinkHandlers, NamedLink } from '../sign-in/link-token.ts'

/**
 * Handles the link of a signup that waits for it (`SVC_EMAIL_VERIFICATION=required`). The password of the signup counts
 * in the browser that signed up. Elsewhere the user chooses one: an attacker may have signed up with the address of
 * another person, whose press must not make an account with the attacker's password.
 */
export const createConfirmSignup = (
  deps: SignInServices & Pick<Services, 'passwords' | 'names' | 'usernames'>,
): LinkHandlers => {
  const { links, layout, requestMetrics, names, usernames, passwords } = deps
  const confirmSignupPage = createConfirmSignupPage(layout)
  const emailTakenPage = createEmailTakenPage(layout)
  const { pendingSignups } = links

  /** A signup with a password that began before passwords were turned off is refused. */
  const requireSignup = (link: Link) => {
    if (!passwords) throw new DeadLinkError('signup', 'ended')
    return pendingSignups.require(link)
  }

  const render = async (context: RequestContext, { link, token }: NamedLink, refusal?: Refusal): Promise<string> => {
    const { email, username = '', name } = await requireSignup(link)
    const [session] = await findBrowserSessions(deps, context)
    const choosesPassword = !isAskingBrowser(context, link)
    // A stranger may have typed the username and the name of the signup.
    const entered = context.form.get('username') ?? (choosesPassword ? '' : username)
    const enteredName = context.form.get('name') ?? (choosesPassword ? '' : name)
    // Otherwise the form has the field of what turned out to be taken, or missing.
    const asksFor = (field: 'username' | 'name'): boolean =>
      choosesPassword || context.form.get(field) !== undefined || refusal?.errors[field] !== undefined
    return confirmSignupPage({
      csrfToken: context.csrfToken,
      token,
      email,
      otherEmail: session?.email,
      choosesPassword,
      username: usernames && asksFor('username') ? entered : undefined,
      name: asksFor('name') ? nameView(names, enteredName) : undefined,
      errors: {},
      ...refusal,
    })
  }

  const confirm = async (context: RequestContext, link: Link, facts: EventFacts): Promise<HttpResponse> => {
    // Username and name of the signup do not count elsewhere either: a username that is left out is made from the email.
    const isOwn = isAskingBrowser(context, link)
    const password = isOwn ? undefined : (context.form.get('password') ?? '')
    const username = (usernames ? context.form.get('username') : undefined) ?? (isOwn ? undefined : '')
    const name = names === 'off' ? undefined : (typedName(context, names) ?? (isOwn ? undefined : null))
    await requireSignup(link)
    const grant = await pendingSignups.confirm({ link, password, username, name }, context)
    const returnTo = afterSignup(deps, returnToOf(deps, context, link))
    const signIn = { way: 'password', grant, returnTo, facts, browser: 'silent' } as const
    const response = await completeSignIn(deps, context, signIn)
    if (!response) throw new AppError('internal_error', 'The session could not be started.')
    return response
  }

  const outcome = (ended: Ended) => requestMetrics?.countSignup(signupOutcome(ended))

  /** If the email got an account since then, the link will never be good again. */
  const orEmailTaken = async ({ reason }: AppError, link: Link): Promise<HttpResponse | undefined> =>
    reason === 'email_taken'
      ? page(410, emailTakenPage({ email: (await pendingSignups.require(link)).email }))
      : undefined

  return {
    showAgain: render,
    show: async (context, named) => page(200, await render(context, named)),

    act: (context, { link }, attempt) => {
      const about = { event: 'signup', method: 'password', email: link.emailLower } as const
      return attempt({ ...about, outcome, instead: (error) => orEmailTaken(error, link) }, (facts) =>
        confirm(context, link, facts),
      )
    },
  }
}
