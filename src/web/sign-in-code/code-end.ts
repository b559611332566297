import type { ScreenServices } from '../site/frame.ts'
import { authenticatedBy, type SecondProof } from '../../sign-in/amr.ts'
import type { OfferedWays, SessionServices } from '../../http/services.ts'
import type { ReturnTargets } from '../../http/return-to.ts'
import { signInProblem } from '../../oauth/errors.ts'
import type { PendingSignIn } from '../../sign-in/pending-sign-ins.ts'
import type { CheckedCode, CodePlace } from '../../second-factor/second-factors.ts'
import type { SignInGrant } from '../../sessions/sessions.ts'
import type { EventFacts } from '../../audit/account-log.ts'
import type { RequestContext } from '../../http/request-context.ts'
import type { HttpResponse } from '../../http/response.ts'
import { orProblemPage } from '../sign-in/provider-flow.ts'
import { findBrowserSessions, startSession } from '../sign-in/start-session.ts'
import { stayNoLonger } from '../sign-in/offered-ways.ts'
import { beginAgain, returnToAfter } from '../sign-in/pending.ts'
import { placeOfSession } from '../sign-in/codes.ts'

interface Entered {
  code: string
  /** This is the response of a passkey, as JSON, in place of a code. */
  passkeyResponse: string | undefined
  trusts: boolean
  facts: EventFacts
}

interface ProvedHere extends SecondProof {
  apply: CheckedCode['apply']
}

/** Ends a sign-in by a code: one transaction uses the sign-in and the code up, and starts the session. */
export const createCodeEnd = (
  deps: SessionServices &
    OfferedWays &
    ReturnTargets &
    Pick<
      ScreenServices,
      'accountLog' | 'findCurrentSession' | 'log' | 'oauth' | 'layout' | 'pendingSignIns' | 'secondFactors' | 'signup'
    >,
) => {
  const { oauth, accountLog, knownBrowsers, pendingSignIns, providers, secondFactors } = deps

  const placeOf = async (context: RequestContext, { userId, confirms }: PendingSignIn): Promise<CodePlace> => {
    const { cookies, network } = context
    const session = confirms && (await findBrowserSessions(deps, context)).find((it) => it.sessionId === confirms)
    if (session) return placeOfSession(deps, context, session)
    const known = await knownBrowsers.find(userId, cookies.device)
    return { kind: 'login', network, knownBrowser: known?.countedAs }
  }

  /** Checks what the user shows after the beginning of the sign-in. */
  const prove = async (
    context: RequestContext,
    pending: PendingSignIn,
    { code, passkeyResponse }: Entered,
  ): Promise<ProvedHere> => {
    const { userId } = pending
    if (passkeyResponse && deps.passkeys.isOn) {
      const browserSecret = context.cookies.link
      const check = { userId, response: passkeyResponse, browserSecret }
      const { grant, proof, apply } = await deps.passkeys.checkAssertion(check, context)
      return { apply, proof, provedAtMs: grant.authenticatedAtMs }
    }
    return secondFactors.checkCode({ userId, code, place: await placeOf(context, pending) }, context)
  }

  /** Connects the provider of the sign-in, and uses the code up, in a transaction of its own. */
  const connect = async (
    context: RequestContext,
    { provider, linkRequest, browserSecret }: NonNullable<PendingSignIn['connect']>,
    { grant, also }: { grant: SignInGrant; also: ProvedHere['apply'] },
  ): Promise<SignInGrant | undefined> => {
    const { request, problem } = oauth.readLinkRequest(linkRequest, browserSecret, provider)
    if (!request) throw signInProblem(problem)
    const proof = { grant, also, caller: context }
    const connected = await oauth.linkPending(request.pendingLink, browserSecret, proof)
    if (connected) accountLog.record(context, { event: 'provider_connect', method: provider, userId: grant.userId })
    return connected
  }

  const finish = async (
    context: RequestContext,
    pending: PendingSignIn,
    entered: Entered,
  ): Promise<HttpResponse | undefined> => {
    const { facts, passkeyResponse } = entered
    const { apply: also, ...second } = await prove(context, pending, entered)
    const purpose = pending.connect ? 'connect' : 'sign_in'
    const grant = { ...pendingSignIns.grantFor(pending), ...authenticatedBy(pending, second, purpose) }
    const trusts = entered.trusts && !passkeyResponse
    const about = { returnTo: returnToAfter(deps, context, pending), facts, browser: pending.browser, trusts }
    if (!pending.connect) return startSession(deps, context, { ...about, grant, also })
    const connected = await connect(context, pending.connect, { grant, also })
    return connected && startSession(deps, context, { ...about, grant: connected })
  }

  const finishOrBeginAgain = async (
    context: RequestContext,
    pending: PendingSignIn,
    entered: Entered,
  ): Promise<HttpResponse> => {
    try {
      const response = await finish(context, pending, entered)
      if (response) {
        stayNoLonger(deps, context)
        return response
      }
    } catch (error) {
      // The form was sent twice: the other request has used the code, and signed in.
      if (await pendingSignIns.isLive(pending)) throw error
    }
    entered.facts.reason = SIGN_IN_ENDED
    return beginAgain(deps, context)
  }

  return (context: RequestContext, pending: PendingSignIn, entered: Entered): Promise<HttpResponse> => {
    const { connect: connection } = pending
    if (!connection) return finishOrBeginAgain(context, pending, entered)
    const provider = providers.find(({ name }) => name === connection.provider)
    const returnTo = returnToAfter(deps, context, pending)
    return orProblemPage(deps, context, { provider, returnTo }, () => finishOrBeginAgain(context, pending, entered))
  }
}

/** The log gives this reason: the sign-in was used, is too old, or the account has changed. */
const SIGN_IN_ENDED = 'sign_in_ended'
