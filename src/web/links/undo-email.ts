import type { Link } from '../../links/link.ts'
import type { EventFacts } from '../../audit/account-log.ts'
import type { PageDeps } from '../../http/deps.ts'
import type { RequestContext } from '../../http/request-context.ts'
import { type HttpResponse, page } from '../../http/response.ts'
import { orShowAgain, type Refusal } from '../../http/form-problems.ts'
import { completeSignIn } from '../sign-in/complete-sign-in.ts'
import { createAskedFactor } from '../sign-in/asked-factor.ts'
import { findSessionsBeside, type NamedLink, requireLink } from '../sign-in/link-token.ts'
import { createOtherWaysIn } from '../sign-in/other-ways-in.ts'

/** `GET` and `POST /auth/email/undo`: puts back the address that an account had (CONTRACT.md 4.2). */
export const createUndoEmail = (deps: PageDeps) => {
  const { recovery, pages, passwords, providers, accountLog, homeUrl } = deps
  const otherWaysIn = createOtherWaysIn(deps)
  const askedFactor = createAskedFactor(deps)

  const render = async (
    context: RequestContext,
    { link, token }: NamedLink,
    refusal: Refusal = { errors: {}, problem: undefined },
  ): Promise<string> => {
    const { others } = await findSessionsBeside(deps, context, link)
    return pages.undoEmail({
      csrfToken: context.csrfToken,
      token,
      email: link.details.email ?? '',
      newEmail: link.details.newEmail ?? '',
      otherEmail: others[0]?.email,
      providers: passwords ? undefined : providers,
      factor: await askedFactor.describe(await recovery.entry.findAsked({ link, isOwnSession: false })),
      ...refusal,
    })
  }

  const undo = async (context: RequestContext, { link }: NamedLink, facts: EventFacts): Promise<HttpResponse> => {
    const password = context.form.get('password') ?? ''
    const factor = await askedFactor.prove(context, await recovery.entry.findAsked({ link, isOwnSession: false }))
    const entry = { link, chosen: { password }, isOwnSession: false, factor, caller: context }
    const { grant, apply: also } = await recovery.entry.check(entry)
    const returnTo = () => otherWaysIn.before(grant.userId, homeUrl)
    const signIn = { way: 'recovery', grant, returnTo, facts, also, browser: 'silent' } as const
    // The account may have been disabled since the form was sent: nothing has changed then.
    return (await completeSignIn(deps, context, signIn)) ?? waiting(link)
  }

  /** While the account is disabled, the link is good for nothing, and stays good for afterwards. */
  const waiting = ({ details, expiresAtMs }: Link): HttpResponse =>
    page(403, pages.undoWaits({ email: details.email ?? '', expiresAtMs }))

  const showAgain = async (context: RequestContext, refusal: Refusal): Promise<string> =>
    render(context, await requireLink(deps, context, 'undo'), refusal)

  return {
    showAgain,

    async show(context: RequestContext): Promise<HttpResponse> {
      const named = await requireLink(deps, context, 'undo')
      if (await recovery.entry.waits(named.link)) return waiting(named.link)
      return page(200, await render(context, named))
    },

    async submit(context: RequestContext): Promise<HttpResponse> {
      const named = await requireLink(deps, context, 'undo')
      if (await recovery.entry.waits(named.link)) return waiting(named.link)
      const event: EventFacts = { event: 'email_undo', userId: named.link.userId }
      return orShowAgain(
        context,
        () => accountLog.recordOutcome(context, event, (facts) => undo(context, named, facts)),
        (refusal) => render(context, named, refusal),
      )
    },
  }
}
