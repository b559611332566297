import {
  createStepUpImpossiblePage,
  createReauthenticationPage,
  type ReauthenticationView,
} from './reauthentication-page.ts'
import type { ScreenServices } from '../site/frame.ts'
import type { OfferedWays, SessionServices } from '../../http/services.ts'
import { type ReturnTargets, withReturnTo } from '../../http/return-to.ts'
import { monotonicClock } from '../../lib/time.ts'
import { hasFactor } from '../../sign-in/asked-factor.ts'
import type { AuthenticatedSession } from '../../sessions/sessions.ts'
import type { RequestContext } from '../../http/request-context.ts'
import { type HttpResponse, page, redirect } from '../../http/response.ts'
import { confirmPath, isForAccount, isForAccountPage, readStepUp, type StepUp, targetOf } from '../../http/step-up.ts'
import type { FormAttempt, Refusal } from '../../http/route.ts'
import { createRedirectLoops } from '../sign-in/redirect-loops.ts'
import { enteredCode, takenCodes } from '../sign-in/codes.ts'
import { confirmByPassword } from './confirm-by-password.ts'
import { canConfirmByMail, createSignInMethods } from '../sign-in/ways-in.ts'

/** The second factor is set up on that page, and then asked for on this one. */
const setUpPath = (stepUp: StepUp): string => withReturnTo('/auth/account/second-factor', confirmPath(stepUp))

/**
 * Handles `/auth/account/confirm`. A user signs in again there before a change of the ways to sign in (OWASP ASVS 5,
 * 7.5.1), and whenever the application asks for a fresh or stronger sign-in.
 */
export const createReauthentication = (
  deps: SessionServices &
    OfferedWays &
    ReturnTargets &
    Pick<ScreenServices, 'finishRefresh' | 'oauth' | 'layout' | 'iconOf' | 'secondFactors' | 'users'>,
) => {
  const { sessions, secondFactors, passkeys, layout } = deps
  const stepUpImpossiblePage = createStepUpImpossiblePage(layout)
  const reauthenticationPage = createReauthenticationPage(layout)
  const signInMethods = createSignInMethods(deps)
  const countReturn = createRedirectLoops(monotonicClock)

  const view = async (
    context: RequestContext,
    session: AuthenticatedSession,
    stepUp: StepUp,
  ): Promise<ReauthenticationView> => {
    const factors = await secondFactors.find(session.userId)
    // Changes on the account page need both.
    const asksForBoth = stepUp.acr === 'mfa' || isForAccountPage(stepUp)
    return {
      csrfToken: context.csrfToken,
      email: session.email,
      ...stepUp,
      target: targetOf(stepUp),
      ...(await signInMethods.forReauthentication(session)),
      byMail: await canConfirmByMail(deps, session.userId),
      code: asksForBoth ? takenCodes(factors) : undefined,
      hasPasskeys: factors.passkeys > 0,
      setsUpNext: stepUp.acr === 'mfa' && !hasFactor(factors),
      errors: {},
    }
  }

  /**
   * Tells whether the session is enough. A page of the account takes a trusted provider in place of `mfa`, and no
   * sign-in by mail where there is a password.
   */
  const isEnough = async (session: AuthenticatedSession, stepUp: StepUp): Promise<boolean> => {
    if ((session.authenticatedAtMs ?? 0) < (stepUp.since ?? 0)) return false
    if (stepUp.acr !== 'mfa')
      return isForAccount(stepUp) ? sessions.isRecentForChanges(session) : sessions.isRecent(session)
    return sessions.hasRecentMfa(session) || (isForAccount(stepUp) && sessions.isRecentlyTrusted(session))
  }

  /** Finds the next page for a user who has nothing to prove here. It is undefined if the user must use this page. */
  const findWayOn = async (session: AuthenticatedSession, stepUp: StepUp): Promise<string | undefined> => {
    const { returnTo, acr } = stepUp
    if (await isEnough(session, stepUp)) {
      if (returnTo === undefined || isForAccountPage(stepUp)) return acr && targetOf(stepUp)
      // An application that wants an even newer sign-in sends the browser back at once: then the page asks for one.
      const outcome = countReturn(session.sessionId, returnTo, monotonicClock.elapsedMs())
      return outcome === 'return' ? returnTo : undefined
    }
    const needsFirst =
      acr === 'mfa' &&
      (await sessions.isRecentForChanges(session)) &&
      !hasFactor(await secondFactors.find(session.userId))
    return needsFirst ? setUpPath(stepUp) : undefined
  }

  /**
   * The token may be older than the proof, as after a passkey was added. An application that reads it would ask again.
   */
  const renewToken = async (context: RequestContext): Promise<void> => {
    const { refresh } = context.cookies
    if (!refresh || context.isRenewed || context.method === 'HEAD') return
    deps.finishRefresh(context, await sessions.refresh(refresh, context))
  }

  /** Answers 403 if no user can prove more than a password or a provider. */
  const requirePossible = ({ acr }: StepUp): HttpResponse | undefined =>
    acr === 'mfa' && !secondFactors.acceptsCodes && !passkeys.isOn ? page(403, stepUpImpossiblePage()) : undefined

  return {
    showAgain: async (context: RequestContext, refusal: Refusal, session: AuthenticatedSession): Promise<string> =>
      reauthenticationPage({
        ...(await view(context, session, readStepUp(context, deps))),
        ...refusal,
        // A code that was refused is of no further use.
        codeValue: refusal.errors.code || refusal.errors.recovery_code ? undefined : enteredCode(context.form),
      }),

    async show(context: RequestContext, session: AuthenticatedSession): Promise<HttpResponse> {
      const stepUp = readStepUp(context, deps)
      const impossible = requirePossible(stepUp)
      if (impossible) return impossible
      const wayOn = await findWayOn(session, stepUp)
      if (wayOn === undefined) return page(200, reauthenticationPage(await view(context, session, stepUp)))
      if (wayOn === stepUp.returnTo) await renewToken(context)
      return redirect(wayOn)
    },

    async act(context: RequestContext, session: AuthenticatedSession, attempt: FormAttempt): Promise<HttpResponse> {
      const stepUp = readStepUp(context, deps)
      return (
        requirePossible(stepUp) ??
        attempt({ method: 'password' }, (facts) => confirmByPassword(deps, context, { session, stepUp, facts }))
      )
    },
  }
}
