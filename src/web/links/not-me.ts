import { createNotMePage } from './not-me-page.ts'
import { DeadLinkError, NOT_ME_PURPOSES, type Link, type NotMePurpose } from '../../links/link.ts'
import type { EventFacts } from '../../audit/account-log.ts'
import type { Services } from '../../http/services.ts'
import type { RequestContext } from '../../http/request-context.ts'
import { type HttpResponse, redirect } from '../../http/response.ts'
import type { Refusal } from '../../http/route.ts'
import { completeSignIn, type SignInServices } from '../sign-in/complete-sign-in.ts'
import { createAskedFactor } from '../sign-in/asked-factor.ts'
import { findSessionsBeside, type NamedLink, createLinkForm } from '../sign-in/link-token.ts'
import { beforeWaysIn } from '../sign-in/ways-in.ts'

/**
 * Handles `GET` and `POST /auth/account/not-me`: "This wasn't me", in notices about an account (CONTRACT.md 4.2). If
 * the account has a password, the form takes a new one.
 */
export const createNotMeLink = (deps: SignInServices & Pick<Services, 'passkeys' | 'passwords' | 'users'>) => {
  const { links, layout, users, passwords, homeUrl } = deps
  const notMePage = createNotMePage(layout)
  const askedFactor = createAskedFactor(deps)

  const describe = async (link: Link) => {
    const { id, email } = await links.notMe.requireAccount(link)
    return { email, ...(await links.notMe.findForm(link, passwords && (await users.hasPassword(id)))) }
  }

  const render = async (context: RequestContext, { link, token }: NamedLink, refusal: Refusal): Promise<string> => {
    const { email, setsPassword, asked } = await describe(link)
    const { others } = await findSessionsBeside(deps, context, link)
    return notMePage({
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
    if (!setsPassword) return redirect(`/auth/password/reset?token=${await links.notMe.confirm(link, factor, context)}`)
    const password = context.form.get('password') ?? ''
    const { grant, apply: also } = await links.notMe.check({ link, password, factor }, context)
    const returnTo = () => beforeWaysIn(deps, grant.userId, homeUrl)
    const signIn = { way: 'recovery', grant, returnTo, facts, also, browser: 'silent' } as const
    const response = await completeSignIn(deps, context, signIn)
    // The account was disabled after the link was read.
    if (!response) throw new DeadLinkError('not_me', 'ended')
    return response
  }

  return createLinkForm(deps, NOT_ME_PURPOSES, { render, act: confirm })
}
