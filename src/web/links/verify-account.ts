import { createEmailConfirmedPage, createProveAccountPage, createConfirmEmailPage } from './verification-pages.ts'
import { AppError } from '../../lib/errors.ts'
import { DeadLinkError, type Link } from '../../links/link.ts'
import type { AuthenticatedSession } from '../../sessions/sessions.ts'
import type { EventFacts } from '../../audit/account-log.ts'
import type { Services } from '../../http/services.ts'
import type { RequestContext } from '../../http/request-context.ts'
import { type HttpResponse, page } from '../../http/response.ts'
import { doneOnAccount } from '../site/done.ts'
import type { FormAttempt, Refusal } from '../../http/route.ts'
import { completeSignIn, type SignInServices } from '../sign-in/complete-sign-in.ts'
import { findBrowserSessions, startSession } from '../sign-in/start-session.ts'
import { isAskingBrowser, returnToOf } from '../sign-in/asking-browser.ts'
import type { LinkHandlers, NamedLink } from '../sign-in/link-token.ts'

/**
 * Handles the link of an account whose email is not verified. A press verifies in the browser that asked for the link,
 * or that has a session of the account. It must not verify elsewhere: an attacker may have signed up with the address
 * of another person, whose press would then make the attacker's password good. There the user enters the password, or
 * takes the account over.
 */
export const createVerifyAccount = (
  deps: SignInServices & Pick<Services, 'accountLog' | 'passwords' | 'users'>,
): LinkHandlers => {
  const { links, users, layout, accountLog, passwords } = deps
  const confirmEmailPage = createConfirmEmailPage(layout)
  const proveAccountPage = createProveAccountPage(layout)
  const emailConfirmedPage = createEmailConfirmedPage(layout)
  const { verification } = links

  /** This renews no session: a `GET` changes nothing. */
  const findSessions = async (context: RequestContext, { userId }: Link) => {
    const sessions = await findBrowserSessions(deps, context)
    const own = sessions.find((session) => session.userId === userId)
    return { own, other: sessions.find((session) => session.userId !== userId) }
  }

  const render = async (context: RequestContext, { link, token }: NamedLink, refusal?: Refusal): Promise<string> => {
    const { id, email } = await verification.requireAccount(link)
    const { own, other } = await findSessions(context, link)
    const view = { csrfToken: context.csrfToken, token, email, otherEmail: other?.email }
    if (own || isAskingBrowser(context, link)) return confirmEmailPage(view)
    return proveAccountPage({ ...view, passwords, hasPassword: await users.hasPassword(id), errors: {}, ...refusal })
  }

  const verifyHere = async (
    context: RequestContext,
    link: Link,
    { own, facts }: { own: AuthenticatedSession | undefined; facts: EventFacts },
  ): Promise<HttpResponse> => {
    const { authenticatedAtMs, amr = [], provider } = own ?? {}
    const grant = { ...verification.grantFor(link), authenticatedAtMs, amr, provider }
    const also = verification.verifyIn(link, context)
    const signIn = { way: 'verification', grant, facts, also, browser: 'silent' } as const
    const response = own
      ? await startSession(deps, context, {
          ...signIn,
          returnTo: async () => doneOnAccount(deps, context, own.userId, 'email_verified'),
        })
      : await completeSignIn(deps, context, { ...signIn, returnTo: returnToOf(deps, context, link) })
    if (!response) throw new DeadLinkError('verify', 'ended')
    return response
  }

  const checkPassword = async (context: RequestContext, link: Link, facts: EventFacts): Promise<HttpResponse> => {
    const { email } = await verification.requireAccount(link)
    const result = await users.authenticate(email, context.form.get('password') ?? '', context)
    const grant = 'refusal' in result || result.userId !== link.userId ? undefined : result
    const also = verification.verifyIn(link, context)
    const returnTo = returnToOf(deps, context, link)
    const signIn = { way: 'password', returnTo, facts, also, browser: 'silent' } as const
    const response = grant && (await completeSignIn(deps, context, { grant, ...signIn }))
    if (response) return response
    if ('refusal' in result) facts.reason = result.refusal
    throw passwordProblem('unauthorized', 'This is not the password of the account.')
  }

  const verifyByPassword = async (context: RequestContext, link: Link, attempt: FormAttempt): Promise<HttpResponse> => {
    const { userId, emailLower: loginOf } = link
    const check = () => {
      if (!context.form.get('password')) throw passwordProblem('unprocessable', 'Enter the password of the account.')
    }
    let isVerified = false
    const about = { event: 'login', method: 'password', userId, limits: 'login', loginOf, check } as const
    const response = await attempt(about, async (facts) => {
      const started = await checkPassword(context, link, facts)
      isVerified = true
      return started
    })
    if (isVerified) accountLog.record(context, { event: 'email_verification', method: 'password', userId })
    return response
  }

  const reclaim = async (context: RequestContext, link: Link, facts: EventFacts): Promise<HttpResponse> => {
    const { grant, apply: also } = await verification.checkReclaim(
      link,
      context.form.get('new_password') ?? '',
      context,
    )
    const returnTo = returnToOf(deps, context, link)
    const signIn = { way: 'recovery', grant, returnTo, facts, also, browser: 'silent' } as const
    const response = await completeSignIn(deps, context, signIn)
    if (!response) throw new DeadLinkError('verify', 'ended')
    return response
  }

  const showVerified = async (link: Link): Promise<HttpResponse | undefined> => {
    const { email, emailVerifiedAtMs } = await verification.requireAccount(link)
    return emailVerifiedAtMs === undefined ? undefined : page(200, emailConfirmedPage({ email }))
  }

  return {
    showAgain: render,
    show: async (context, named) => (await showVerified(named.link)) ?? page(200, await render(context, named)),

    async act(context, { link }, attempt) {
      const { userId } = link
      const { own } = await findSessions(context, link)
      if (own || isAskingBrowser(context, link))
        return attempt({ event: 'email_verification', userId }, (facts) => verifyHere(context, link, { own, facts }))
      if (passwords && context.form.get('new_password') !== undefined)
        return attempt({ event: 'account_reclaim', method: 'email', userId }, (facts) => reclaim(context, link, facts))
      return verifyByPassword(context, link, attempt)
    },
  }
}

const passwordProblem = (code: 'unprocessable' | 'unauthorized', message: string): AppError =>
  new AppError(code, message, {
    field: 'password',
    reason: code === 'unprocessable' ? 'password_missing' : 'password_wrong',
  })
