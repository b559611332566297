import { createResetPasswordPage } from './password-pages.ts'
import { signsInByMail } from '../../links/entry-row.ts'
import { DeadLinkError } from '../../links/link.ts'
import type { EventFacts } from '../../audit/account-log.ts'
import type { Services } from '../../http/services.ts'
import type { RequestContext } from '../../http/request-context.ts'
import type { HttpResponse } from '../../http/response.ts'
import type { Refusal } from '../../http/route.ts'
import { completeSignIn, type SignInServices } from '../sign-in/complete-sign-in.ts'
import { createAskedFactor } from '../sign-in/asked-factor.ts'
import { returnToOfEntry } from '../sign-in/asking-browser.ts'
import { createLinkForm, findSessionsBeside, type NamedLink } from '../sign-in/link-token.ts'
import { beforeWaysIn } from '../sign-in/ways-in.ts'

/**
 * Handles `GET` and `POST /auth/password/reset`: they set a new password by a link (CONTRACT.md 4.2). If there are no
 * passwords, the user goes on without one, and signs in by mail from now on.
 */
export const createResetPassword = (deps: SignInServices & Pick<Services, 'passkeys' | 'passwords' | 'providers'>) => {
  const { links, layout, passwords, providers } = deps
  const resetPasswordPage = createResetPasswordPage(layout)
  const askedFactor = createAskedFactor(deps)

  const render = async (context: RequestContext, { link, token }: NamedLink, refusal: Refusal): Promise<string> => {
    const { email } = await links.entry.requireAccount(link)
    const { isOwn: isOwnSession, others } = await findSessionsBeside(deps, context, link)
    return resetPasswordPage({
      csrfToken: context.csrfToken,
      token,
      email,
      otherEmail: others[0]?.email,
      providers: passwords ? undefined : providers,
      factor: await askedFactor.describe(await links.entry.findAsked({ link, isOwnSession })),
      ...refusal,
    })
  }

  const reset = async (context: RequestContext, { link }: NamedLink, facts: EventFacts): Promise<HttpResponse> => {
    const chosen = passwords ? { password: context.form.get('password') ?? '' } : signsInByMail(link)
    const { isOwn: isOwnSession } = await findSessionsBeside(deps, context, link)
    const asked = await links.entry.findAsked({ link, isOwnSession })
    const factor = await askedFactor.prove(context, asked)
    const entry = { link, chosen, isOwnSession, factor, caller: context }
    const { grant, apply: also } = await links.entry.check(entry)
    const target = await returnToOfEntry(deps, context, link)
    const returnTo = () => beforeWaysIn(deps, grant.userId, target)
    const signIn = { way: 'recovery', grant, returnTo, facts, also, browser: 'silent' } as const
    const response = await completeSignIn(deps, context, signIn)
    // The account was disabled, or has got another address, after the link was read.
    if (!response) throw new DeadLinkError('reset', 'ended')
    return response
  }

  return createLinkForm(deps, ['reset'], { render, act: reset, about: passwords ? {} : { method: 'email' } })
}
