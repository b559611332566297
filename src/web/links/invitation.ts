import { DeadLinkError, type Link } from '../../links/link.ts'
import type { EventFacts } from '../../audit/account-log.ts'
import type { PageDeps } from '../../http/deps.ts'
import type { RequestContext } from '../../http/request-context.ts'
import { type HttpResponse, page } from '../../http/response.ts'
import { orShowAgain, type Refusal } from '../../http/form-problems.ts'
import { completeSignIn } from '../sign-in/complete-sign-in.ts'
import { findBrowserSessions } from '../sign-in/start-session.ts'
import { returnToOf } from '../sign-in/asking-browser.ts'
import { requireLink } from '../sign-in/link-token.ts'

/** `GET` and `POST /auth/invite`: the way into an account that an operator has made (CONTRACT.md 4.10). */
export const createInvitation = (deps: PageDeps) => {
  const { recovery, pages, providers, usernames, passwords, limits, accountLog } = deps

  const render = async (
    context: RequestContext,
    { link, token }: { link: Link; token: string },
    refusal: Refusal = { errors: {}, problem: undefined },
  ): Promise<string> => {
    const { email, username } = await recovery.entry.requireAccount(link)
    const [session] = await findBrowserSessions(deps, context)
    return pages.invitation({
      csrfToken: context.csrfToken,
      token,
      email,
      otherEmail: session?.email,
      username: usernames ? (context.form.get('username') ?? username) : undefined,
      byPassword: passwords,
      providers,
      ...refusal,
    })
  }

  const start = async (context: RequestContext, link: Link, facts: EventFacts): Promise<HttpResponse> => {
    const password = context.form.get('password') ?? ''
    const username = usernames ? context.form.get('username') : undefined
    const chosen = { password, username }
    const entry = { link, chosen, isOwnSession: false, factor: undefined, caller: context }
    const { grant, apply: also } = await recovery.entry.check(entry)
    const returnTo = returnToOf(deps, context, link)
    const signIn = { way: 'recovery', grant, returnTo, facts, also, browser: 'silent' } as const
    const response = await completeSignIn(deps, context, signIn)
    // The account was deleted since the link was read.
    if (!response) throw new DeadLinkError('invite', 'ended')
    return response
  }

  /** Limited, since a taken username shows that an account has it, and since each try costs a hash. */
  const accept = (context: RequestContext, link: Link): Promise<HttpResponse> => {
    const { userId = '' } = link
    const event: EventFacts = { event: 'invitation_accept', method: 'password', userId }
    return accountLog.recordOutcome(context, event, (facts) =>
      limits.attempt(
        [
          ['usernameOfUser', { userId }],
          ['passwordFormOfUser', { userId }],
        ],
        () => start(context, link, facts),
      ),
    )
  }

  const showAgain = async (context: RequestContext, refusal: Refusal): Promise<string> =>
    render(context, await requireLink(deps, context, 'invite'), refusal)

  return {
    showAgain,

    show: async (context: RequestContext): Promise<HttpResponse> =>
      page(200, await render(context, await requireLink(deps, context, 'invite'))),

    async submit(context: RequestContext): Promise<HttpResponse> {
      const named = await requireLink(deps, context, 'invite')
      return orShowAgain(
        context,
        () => accept(context, named.link),
        (refusal) => render(context, named, refusal),
      )
    },
  }
}
