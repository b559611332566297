import { createUndoEmailPage, createUndoWaitsPage } from './email-pages.ts'
import { signsInByMail } from '../../links/entry-row.ts'
import type { Link } from '../../links/link.ts'
import type { EventFacts } from '../../audit/account-log.ts'
import type { Services } from '../../http/services.ts'
import type { RequestContext } from '../../http/request-context.ts'
import { type HttpResponse, page } from '../../http/response.ts'
import type { Refusal } from '../../http/route.ts'
import { completeSignIn, type SignInServices } from '../sign-in/complete-sign-in.ts'
import { createAskedFactor } from '../sign-in/asked-factor.ts'
import { createLinkForm, findSessionsBeside, type NamedLink } from '../sign-in/link-token.ts'
import { beforeWaysIn } from '../sign-in/ways-in.ts'

/** Handles `GET` and `POST /auth/email/undo`: they put back the address that an account had (CONTRACT.md 4.2). */
export const createUndoEmail = (deps: SignInServices & Pick<Services, 'passkeys' | 'passwords' | 'providers'>) => {
  const { links, layout, passwords, providers, homeUrl } = deps
  const undoEmailPage = createUndoEmailPage(layout)
  const undoWaitsPage = createUndoWaitsPage(layout)
  const askedFactor = createAskedFactor(deps)

  const render = async (context: RequestContext, { link, token }: NamedLink, refusal: Refusal): Promise<string> => {
    const { others } = await findSessionsBeside(deps, context, link)
    return undoEmailPage({
      csrfToken: context.csrfToken,
      token,
      email: link.details.email ?? '',
      newEmail: link.details.newEmail ?? '',
      otherEmail: others[0]?.email,
      providers: passwords ? undefined : providers,
      factor: await askedFactor.describe(await links.entry.findAsked({ link, isOwnSession: false })),
      ...refusal,
    })
  }

  const undo = async (context: RequestContext, { link }: NamedLink, facts: EventFacts): Promise<HttpResponse> => {
    const chosen = passwords ? { password: context.form.get('password') ?? '' } : signsInByMail(link)
    const factor = await askedFactor.prove(context, await links.entry.findAsked({ link, isOwnSession: false }))
    const entry = { link, chosen, isOwnSession: false, factor, caller: context }
    const { grant, apply: also } = await links.entry.check(entry)
    const returnTo = () => beforeWaysIn(deps, grant.userId, homeUrl)
    const signIn = { way: 'recovery', grant, returnTo, facts, also, browser: 'silent' } as const
    // The account may have been disabled since the form was sent: nothing has changed then.
    return (await completeSignIn(deps, context, signIn)) ?? waiting(link)
  }

  /** While the account is disabled, the link does nothing, and stays good for later. */
  const waiting = ({ details, expiresAtMs }: Link): HttpResponse =>
    page(403, undoWaitsPage({ email: details.email ?? '', expiresAtMs }))

  const waitInstead = async ({ link }: NamedLink) => ((await links.entry.waits(link)) ? waiting(link) : undefined)

  const about = passwords ? {} : { method: 'email' }
  return createLinkForm(deps, ['undo'], { render, act: undo, about, instead: waitInstead })
}
