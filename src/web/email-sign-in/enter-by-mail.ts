import { type EnteringBrowser, signsInByMail } from '../../links/entry-row.ts'
import { DeadLinkError, hashToken, type Link, provesEmail } from '../../links/link.ts'
import type { EventFacts } from '../../audit/account-log.ts'
import type { Services } from '../../http/services.ts'
import type { RequestContext } from '../../http/request-context.ts'
import type { HttpResponse } from '../../http/response.ts'
import { afterSignup } from '../../http/return-to.ts'
import type { WayIn } from '../../sign-in/entry-policy.ts'
import { hashBrowserSecret } from '../../sign-in/known-browsers.ts'
import { returnToOf, returnToOfEntry } from '../sign-in/asking-browser.ts'
import { completeSignIn, type SignInServices } from '../sign-in/complete-sign-in.ts'
import { findSessionsBeside } from '../sign-in/link-token.ts'
import { typedName } from '../site/person-name.ts'

/** The secrets of this browser, as the hashes by which accounts and links recognise it. */
export const enteringBrowserOf = ({ cookies: { device, link } }: RequestContext): EnteringBrowser => ({
  device: device === undefined ? undefined : hashBrowserSecret(device),
  link: link === undefined ? undefined : hashToken(link),
})

interface ByMail {
  link: Link
  /** The user has typed the code, or has pressed the button of the link. */
  way: Extract<WayIn, 'mail_code' | 'mail_link' | 'operator_link'>
  facts: EventFacts
}

export type EnterByMailServices = SignInServices & Pick<Services, 'names'>

/**
 * Signs in by a code or a link, which both are used up: into an account, or into one that is made. It throws a
 * `DeadLinkError` where another request was first, or the account has changed since the message was written.
 */
export const createEnterByMail = (deps: EnterByMailServices) => {
  const { links, names, requestMetrics } = deps

  const makeAccount = async (
    context: RequestContext,
    { link, way, facts }: ByMail,
  ): Promise<HttpResponse | undefined> => {
    const { method = '' } = facts
    const grant = await links.signIn.createAccount(link, { name: typedName(context, names), method }, context)
    facts.event = 'signup'
    requestMetrics?.countSignup('succeeded')
    const returnTo = afterSignup(deps, returnToOf(deps, context, link))
    return completeSignIn(deps, context, { way, grant, returnTo, facts, browser: 'silent' })
  }

  const enterAccount = async (
    context: RequestContext,
    { link, way, facts }: ByMail,
  ): Promise<HttpResponse | undefined> => {
    const { invitedAtMs } = await links.entry.requireAccount(link)
    const isInvited = invitedAtMs !== undefined
    const { isOwn: isOwnSession } = await findSessionsBeside(deps, context, link)
    const typed = isInvited ? { username: undefined, name: typedName(context, names) } : undefined
    const chosen = signsInByMail(link, { method: facts.method, typed })
    const browser = enteringBrowserOf(context)
    const entry = { link, chosen, isOwnSession, browser, factor: undefined, caller: context }
    const { grant, apply: also } = await links.entry.check(entry)
    const returnTo = await returnToOfEntry(deps, context, link)
    if (isInvited) facts.event = 'invitation_accept'
    return completeSignIn(deps, context, {
      way,
      grant,
      returnTo,
      facts,
      also,
      browser: isInvited ? 'silent' : 'announced',
      // A link that an operator has made proves nothing about the address.
      provesEmail: !provesEmail(link),
    })
  }

  return async (context: RequestContext, entry: ByMail): Promise<HttpResponse> => {
    const enter = entry.link.userId === undefined ? makeAccount : enterAccount
    const response = await enter(context, entry)
    if (!response) throw new DeadLinkError('sign_in', 'ended')
    requestMetrics?.countEmailSignIn(entry.way === 'mail_code' ? 'code' : 'link')
    return response
  }
}
