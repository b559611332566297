import { signInProblem } from '../../../oauth/errors.ts'
import type { PendingSignIn } from '../../../second-factor/pending-sign-ins.ts'
import type { CheckedCode, CodePlace } from '../../../second-factor/second-factors.ts'
import type { SignInGrant } from '../../../sessions/sessions.ts'
import type { AuthenticationMethod } from '../../../sessions/sign-in-grant.ts'
import type { EventFacts } from '../../account-log.ts'
import type { PageDeps } from '../../deps.ts'
import type { RequestContext } from '../../request-context.ts'
import type { HttpResponse } from '../../response.ts'
import { orProblemPage } from '../oauth/problem-page.ts'
import { startSession } from '../start-session.ts'
import { beginAgain, returnToAfter } from './pending.ts'

interface Entered {
  code: string
  trusts: boolean
  facts: EventFacts
}

/** Ends a sign-in by a code: one transaction uses the sign-in and the code up, and starts the session. */
export const createCodeEnd = (deps: PageDeps) => {
  const { oauth, accountLog, knownBrowsers, pendingSignIns, providers, secondFactors } = deps

  const placeOf = async ({ cookies, network }: RequestContext, pending: PendingSignIn): Promise<CodePlace> => {
    const { userId, confirms } = pending
    if (confirms !== undefined) return { kind: 'reauthentication', sessionId: confirms, network }
    const known = await knownBrowsers.find(userId, cookies.device)
    return { kind: 'login', network, knownBrowser: known?.deviceHash }
  }

  /** Connects the provider of the sign-in, and uses the code up, in a transaction of its own. */
  const connect = async (
    context: RequestContext,
    { provider, linkRequest, browserSecret }: NonNullable<PendingSignIn['connect']>,
    { grant, checked }: { grant: SignInGrant; checked: CheckedCode },
  ): Promise<SignInGrant | undefined> => {
    const { request, problem } = oauth.readLinkRequest(linkRequest, browserSecret, provider)
    if (!request) throw signInProblem(problem)
    const proof = { grant, also: checked.apply, caller: context }
    const connected = await oauth.linkPending(request.pendingLink, browserSecret, proof)
    if (connected) accountLog.record(context, { event: 'provider_connect', method: provider, userId: grant.userId })
    return connected
  }

  const finish = async (
    context: RequestContext,
    pending: PendingSignIn,
    { code, trusts, facts }: Entered,
  ): Promise<HttpResponse | undefined> => {
    const { userId, browser } = pending
    const checked = await secondFactors.checkCode({ userId, code, place: await placeOf(context, pending) }, context)
    const grant = { ...pendingSignIns.grantFor(pending), amr: withFactor(pending.amr, checked.factor) }
    const about = { returnTo: returnToAfter(deps, context, pending), facts, browser, trusts }
    if (!pending.connect) return startSession(deps, context, { ...about, grant, also: checked.apply })
    const connected = await connect(context, pending.connect, { grant, checked })
    return connected && startSession(deps, context, { ...about, grant: connected })
  }

  const finishOrBeginAgain = async (
    context: RequestContext,
    pending: PendingSignIn,
    entered: Entered,
  ): Promise<HttpResponse> => {
    try {
      const response = await finish(context, pending, entered)
      if (response) return response
    } catch (error) {
      // A form that is sent twice: the other request has used the code, and signed in.
      if (await pendingSignIns.isLive(pending)) throw error
    }
    entered.facts.reason = SIGN_IN_ENDED
    return beginAgain(deps, context, pending)
  }

  return (context: RequestContext, pending: PendingSignIn, entered: Entered): Promise<HttpResponse> => {
    const { connect: connection } = pending
    if (!connection) return finishOrBeginAgain(context, pending, entered)
    const provider = providers.find(({ name }) => name === connection.provider)
    const returnTo = returnToAfter(deps, context, pending)
    return orProblemPage(deps, context, { provider, returnTo }, () => finishOrBeginAgain(context, pending, entered))
  }
}

/** The reason in the log: the sign-in was used, is too old, or the account has changed. */
const SIGN_IN_ENDED = 'sign_in_ended'

/** What is proved then; where it is not known what the beginning has proved, a code alone says nothing more. */
const withFactor = (amr: readonly AuthenticationMethod[], factor: CheckedCode['factor']): AuthenticationMethod[] => {
  if (amr.length === 0) return []
  return factor === 'otp' ? [...amr, 'otp', 'mfa'] : [...amr, 'mfa']
}
