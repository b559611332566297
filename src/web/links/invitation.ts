import { createInvitationPage } from './invitation-page.ts'
import { signsInByMail } from '../../links/entry-row.ts'
import { DeadLinkError } from '../../links/link.ts'
import type { EventFacts } from '../../audit/account-log.ts'
import type { Services } from '../../http/services.ts'
import type { RequestContext } from '../../http/request-context.ts'
import type { HttpResponse } from '../../http/response.ts'
import type { Refusal } from '../../http/route.ts'
import { completeSignIn, type SignInServices } from '../sign-in/complete-sign-in.ts'
import { findBrowserSessions } from '../sign-in/start-session.ts'
import { returnToOfEntry } from '../sign-in/asking-browser.ts'
import { nameView, typedName } from '../site/person-name.ts'
import { createLinkForm, type NamedLink } from '../sign-in/link-token.ts'

/** Handles `GET` and `POST /auth/invite`: they lead into an account that an operator has made (CONTRACT.md 4.10). */
export const createInvitation = (
  deps: SignInServices & Pick<Services, 'passwords' | 'providers' | 'names' | 'usernames'>,
) => {
  const { links, layout, providers, names, usernames, passwords } = deps
  const invitationPage = createInvitationPage(layout)

  const render = async (context: RequestContext, { link, token }: NamedLink, refusal: Refusal): Promise<string> => {
    const { email, username, name } = await links.entry.requireAccount(link)
    const [session] = await findBrowserSessions(deps, context)
    return invitationPage({
      csrfToken: context.csrfToken,
      token,
      email,
      otherEmail: session?.email,
      username: usernames ? (context.form.get('username') ?? username) : undefined,
      name: nameView(names, context.form.get('name') ?? name),
      byPassword: passwords,
      providers,
      ...refusal,
    })
  }

  const start = async (context: RequestContext, { link }: NamedLink, facts: EventFacts): Promise<HttpResponse> => {
    const username = usernames ? context.form.get('username') : undefined
    const typed = { username, name: typedName(context, names) }
    const password = context.form.get('password') ?? ''
    const chosen = passwords ? { password, ...typed } : signsInByMail(link, { typed })
    const entry = { link, chosen, isOwnSession: false, factor: undefined, caller: context }
    const { grant, apply: also } = await links.entry.check(entry)
    const returnTo = await returnToOfEntry(deps, context, link)
    const signIn = { way: 'recovery', grant, returnTo, facts, also, browser: 'silent' } as const
    const response = await completeSignIn(deps, context, signIn)
    // The account was deleted after the link was read.
    if (!response) throw new DeadLinkError('invite', 'ended')
    return response
  }

  // This is limited, since a taken username shows that an account has it, and since each try costs a hash.
  return createLinkForm(deps, ['invite'], { render, act: start, about: { method: passwords ? 'password' : 'email' } })
}
