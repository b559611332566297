import { signInProblem } from '../../oauth/errors.ts'
import type { AuthorizationFlow, PendingLink, ProviderProfile } from '../../oauth/oauth.ts'
import type { EventFacts } from '../../audit/account-log.ts'
import type { RequestContext } from '../../http/request-context.ts'
import type { HttpResponse } from '../../http/response.ts'
import { afterSignup } from '../../http/return-to.ts'
import { completeSignIn, createGate } from '../sign-in/complete-sign-in.ts'
import { startSession } from '../sign-in/start-session.ts'
import type { ProofPage } from './proof-page.ts'
import type { ProviderServices } from './provider-services.ts'

/** This is a callback whose `state` was accepted. */
export interface Callback {
  flow: AuthorizationFlow
  browserSecret: string
  /** The log records the callback as this event. */
  facts: EventFacts
}

/** The log gives this reason for a sign-in that waits for a proof of the account. */
const PROOF_REQUIRED = 'proof_required'

/** `askForProof` leads to the "link account" page. */
export type SignInByProviderDeps = ProviderServices & Pick<ProofPage, 'askForProof'>

/** Signs in a user who comes back from a provider, and is not signed in yet. */
export const createSignInByProvider = (deps: SignInByProviderDeps) => {
  const { oauth, limits, accountLog, askForProof } = deps

  const wayOf = (profile: ProviderProfile) =>
    oauth.factorOf(profile) === 'asked' ? ('provider' as const) : ('trusted_provider' as const)

  /** The user has proved with this provider that they own the account: the pending provider is connected to it. */
  const linkPending = async (
    context: RequestContext,
    { flow: { returnTo }, browserSecret, facts }: Callback,
    profile: ProviderProfile,
    pendingLink: PendingLink,
  ): Promise<HttpResponse | undefined> => {
    const { userId, profile: pending } = pendingLink
    const proof = await oauth.signInAs(profile, userId)
    const signIn = { way: wayOf(profile), returnTo, facts }
    const gate = createGate(deps, context, { ...signIn, grant: proof, connect: { pendingLink, browserSecret } })
    const grant = await oauth.linkPending(pendingLink, browserSecret, { grant: gate.guard(proof), caller: context })
    if (!grant) return gate.findNextPage()
    accountLog.record(context, { event: 'provider_connect', method: pending.provider, userId })
    return startSession(deps, context, { ...signIn, grant })
  }

  return async (context: RequestContext, callback: Callback, profile: ProviderProfile): Promise<HttpResponse> => {
    const { flow, browserSecret, facts } = callback
    const { returnTo, pendingLink } = flow
    if (pendingLink) return requireStarted(await linkPending(context, callback, profile, pendingLink))
    const result = await oauth.signIn(profile, {
      limitSignup: (signUp) => limits.attempt([['signupOfAddress', { network: context.network }]], signUp),
      caller: context,
    })
    if ('grant' in result) {
      facts.event = result.event
      const { event, grant } = result
      const arrival =
        event === 'login'
          ? ({ browser: 'announced', returnTo } as const)
          : ({ browser: 'silent', returnTo: afterSignup(deps, returnTo) } as const)
      const signIn = { way: wayOf(profile), grant, facts, provesEmail: true, ...arrival }
      return requireStarted(await completeSignIn(deps, context, signIn))
    }
    const { account } = result
    Object.assign(facts, { userId: account.userId, reason: PROOF_REQUIRED })
    const request = { pendingLink: await oauth.createPendingLink(profile, account.userId, browserSecret), returnTo }
    return askForProof(context, { request, account, browserSecret })
  }
}

/** A missing response means that the account was disabled, deleted or disconnected after the grant was given. */
export const requireStarted = (response: HttpResponse | undefined): HttpResponse => {
  if (!response) throw signInProblem('disabled')
  return response
}
