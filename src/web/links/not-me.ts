import { DeadLinkError, NOT_ME_PURPOSES, type Link, type NotMePurpose } from '../../links/link.ts'
import type { EventFacts } from '../../audit/account-log.ts'
import type { PageDeps } from '../../http/deps.ts'
import type { RequestContext } from '../../http/request-context.ts'
import { type HttpResponse, page, redirect } from '../../http/response.ts'
import { orShowAgain, type Refusal } from '../../http/form-problems.ts'
import { completeSignIn } from '../sign-in/complete-sign-in.ts'
import { createAskedFactor } from '../sign-in/asked-factor.ts'
import { findSessionsBeside, type NamedLink, requireLink } from '../sign-in/link-token.ts'
import { createOtherWaysIn } from '../sign-in/other-ways-in.ts'

/**
 * `GET` and `POST /auth/account/not-me`: "This wasn't me", in notices about an account (CONTRACT.md 4.2). Where the
 * account has a password, the form takes a new one.
 */
export const createNotMeLink = (deps: PageDeps) => {
  const { recovery, pages, accountLog, users, passwords, homeUrl } = deps
  const askedFactor = createAskedFactor(deps)
  const otherWaysIn = createOtherWaysIn(deps)

  const requireNotMe = (context: RequestContext) => requireLink(deps, context, ...NOT_ME_PURPOSES)

  const describe = async (link: Link) => {
    const { id, email } = await recovery.notMe.requireAccount(link)
    return { email, ...(await recovery.notMe.findForm(link, passwords && (await users.hasPassword(id)))) }
  }

  const render = async (
    context: RequestContext,
    { link, token }: NamedLink,
    refusal: Refusal = { errors: {}, problem: undefined },
  ): Promise<string> => {
    const { email, setsPassword, asked } = await describe(link)
    const { others } = await findSessionsBeside(deps, context, link)
    return pages.notMe({
      csrfToken: context.csrfToken,
      token,
      email,
      purpose: link.purpose as NotMePurpose,
      provider: link.details.provider ?? '',
      setsPassword,
      otherEmail: setsPassword ? others[0]?.email : undefined,
      factor: await askedFactor.describe(asked),
      ...refusal,
    })
  }

  const confirm = async (context: RequestContext, { link }: NamedLink, facts: EventFacts): Promise<HttpResponse> => {
    const { asked, setsPassword } = await describe(link)
    const factor = await askedFactor.prove(context, asked)
    if (!setsPassword)
      return redirect(`/auth/password/reset?token=${await recovery.notMe.confirm(link, factor, context)}`)
    const password = context.form.get('password') ?? ''
    const { grant, apply: also } = await recovery.notMe.check({ link, password, factor }, context)
    const returnTo = () => otherWaysIn.before(grant.userId, homeUrl)
    const signIn = { way: 'recovery', grant, returnTo, facts, also, browser: 'silent' } as const
    const response = await completeSignIn(deps, context, signIn)
    // The account was disabled since the link was read.
    if (!response) throw new DeadLinkError('not_me', 'ended')
    return response
  }

  return {
    showAgain: async (context: RequestContext, refusal: Refusal): Promise<string> =>
      render(context, await requireNotMe(context), refusal),

    show: async (context: RequestContext): Promise<HttpResponse> =>
      page(200, await render(context, await requireNotMe(context))),

    async submit(context: RequestContext): Promise<HttpResponse> {
      const named = await requireNotMe(context)
      const event: EventFacts = { event: 'not_me', userId: named.link.userId }
      return orShowAgain(
        context,
        () => accountLog.recordOutcome(context, event, (facts) => confirm(context, named, facts)),
        (refusal) => render(context, named, refusal),
      )
    },
  }
}
