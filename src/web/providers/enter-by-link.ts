import { signInProblem } from '../../oauth/errors.ts'
import type { AuthorizationFlow, ProviderProfile } from '../../oauth/oauth.ts'
import { isEntryPurpose, ENTRY_EVENTS } from '../../links/link.ts'
import type { EventFacts } from '../../audit/account-log.ts'
import type { RequestContext } from '../../http/request-context.ts'
import { type HttpResponse, redirect } from '../../http/response.ts'
import { returnToOfEntry } from '../sign-in/asking-browser.ts'
import { beforeWaysIn } from '../sign-in/ways-in.ts'
import { findBrowserSessions, startSession } from '../sign-in/start-session.ts'
import type { ProviderServices } from './provider-services.ts'

interface Entry {
  flow: AuthorizationFlow
  profile: ProviderProfile
  facts: EventFacts
}

/**
 * A user who has followed a link is back from the provider. One transaction uses the link up, connects the provider to
 * the account of the link, and starts a session.
 */
export const enterByLink = async (
  deps: ProviderServices,
  context: RequestContext,
  { flow: { entry }, profile, facts }: Entry,
): Promise<HttpResponse> => {
  const { oauth, links, accountLog, provider } = deps
  const purpose = entry?.purpose
  if (!entry || !isEntryPurpose(purpose) || !links.takesConnectable(purpose)) throw signInProblem('unreadable')
  const link = await links.issued.require([purpose], entry.token)
  facts.event = ENTRY_EVENTS[purpose]
  const { proved } = entry
  // The factor was used up on the way to the provider.
  const factor = proved && { proof: proved, apply: async () => {} }
  const isOwnSession = (await findBrowserSessions(deps, context)).some(({ userId }) => userId === link.userId)
  const returnTo = await oauth.offer(profile, context, async (chosen) => {
    const checked = await links.entry.check({ link, chosen, isOwnSession, factor, caller: context })
    const { grant, apply: also } = checked
    const returnTo = await returnToOfEntry(deps, context, link)
    if (await startSession(deps, context, { grant, returnTo, facts, also, browser: 'silent' })) return returnTo
    throw signInProblem('disabled')
  })
  accountLog.record(context, { event: 'provider_connect', method: provider.name, userId: link.userId })
  return redirect(await beforeWaysIn(deps, link.userId ?? '', returnTo, profile))
}
