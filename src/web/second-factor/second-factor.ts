import { createSecondFactorPage, type SecondFactorView } from './second-factor-page.ts'
import type { ScreenServices } from '../site/frame.ts'
import { authenticatedBy } from '../../sign-in/amr.ts'
import type { SessionServices } from '../../http/services.ts'
import { readReturnTo, type ReturnTargets } from '../../http/return-to.ts'
import { AppError } from '../../lib/errors.ts'
import type { SetUpView } from '../sign-in/set-up-steps.ts'
import type { AccountFactors } from '../../second-factor/second-factors.ts'
import { type AuthenticatedSession, currentTimeMs, type SignInGrant } from '../../sessions/sessions.ts'
import type { EventFacts } from '../../audit/account-log.ts'
import type { RequestContext } from '../../http/request-context.ts'
import { type HttpResponse, page, redirect } from '../../http/response.ts'
import { doneOnAccount } from '../site/done.ts'
import type { FormAttempt, Refusal } from '../../http/route.ts'
import { accountGone, startSession } from '../sign-in/start-session.ts'
import { asFirstSetUp, requireFirstSetUp } from '../sign-in/first-set-up.ts'
import { createRecoveryCodesView, showRecoveryCodes } from '../sign-in/shown-codes.ts'
import type { Clock } from '../../lib/time.ts'

/**
 * Handles `/auth/account/second-factor`: it sets up or removes an app, makes recovery codes, shows them once and saves
 * them to a file.
 */
export const createSecondFactorHandlers = (
  deps: SessionServices & ReturnTargets & Pick<ScreenServices, 'clock' | 'layout' | 'links' | 'secondFactors'>,
) => {
  const { secondFactors, sessions, layout, clock } = deps
  const secondFactorPage = createSecondFactorPage(layout)
  const returnToOf = (context: RequestContext) => readReturnTo(context, deps, undefined)
  const { show: showCodes, download } = createRecoveryCodesView(deps)

  const offerSetUp = async ({ form }: RequestContext, session: AuthenticatedSession): Promise<SetUpView> => {
    const owner = { userId: session.userId, boundTo: session.sessionId }
    const again = await secondFactors.continueSetUp(owner, session.email, form.get('set_up'))
    return again ?? secondFactors.beginSetUp(owner, session.email)
  }

  /** Throws `not_found` if nothing is set up and nothing can be. */
  const requireFactors = async (userId: string): Promise<AccountFactors> => {
    const factors = await secondFactors.find(userId)
    if (secondFactors.acceptsCodes || factors.passkeys > 0) return factors
    throw nothingHere()
  }

  const view = async (
    context: RequestContext,
    session: AuthenticatedSession,
    { errors, problem }: Refusal = { errors: {}, problem: undefined },
  ): Promise<SecondFactorView> => {
    const { codes, passkeys, recoveryCodes } = await requireFactors(session.userId)
    const hasFactor = codes || passkeys > 0
    const asksForSetUp = !codes || context.query.get('replace') === '1' || context.form.get('set_up') !== undefined
    const setUp = secondFactors.acceptsCodes && asksForSetUp ? await offerSetUp(context, session) : undefined
    return {
      csrfToken: context.csrfToken,
      email: session.email,
      problem,
      setUp: setUp && { ...setUp, error: errors.code },
      hasApp: codes,
      recoveryCodes: hasFactor ? recoveryCodes : undefined,
      isRequired: secondFactors.isRequired,
      returnTo: returnToOf(context),
    }
  }

  /**
   * The user has just shown a code, after a recent sign-in. A fresh session that says so replaces the session of the
   * request, so that tokens stolen from it are no stronger than before (OWASP ASVS 5, 7.2.4).
   */
  const setUp = async (
    context: RequestContext,
    session: AuthenticatedSession,
    facts: EventFacts,
  ): Promise<HttpResponse> => {
    const { form } = context
    const first = { sealed: form.get('set_up'), code: form.get('code') ?? '' }
    const returnTo = returnToOf(context)
    const { recoveryCodes: codes, apply } = await secondFactors.checkOwnSetUp(session, first, context)
    const also = asFirstSetUp(deps, context, { userId: session.userId, apply })
    const grant = grantAfterSetUp(session, clock)
    const { userId } = session
    const done = 'second_factor_set_up'
    const response = await startSession(deps, context, {
      grant,
      facts,
      also,
      returnTo: async () =>
        codes
          ? showRecoveryCodes(deps, context, { userId, codes, returnTo, done })
          : (returnTo ?? doneOnAccount(deps, context, userId, done)),
    })
    if (!response) throw accountGone()
    return response
  }

  const remove = async (context: RequestContext, session: AuthenticatedSession): Promise<HttpResponse> => {
    await secondFactors.remove(session, context)
    return redirect(doneOnAccount(deps, context, session.userId, 'second_factor_removed'))
  }

  const renew = async (context: RequestContext, session: AuthenticatedSession): Promise<HttpResponse> => {
    const returnTo = returnToOf(context)
    const codes = await secondFactors.renewRecoveryCodes(session, context)
    const shown = { userId: session.userId, codes, returnTo, done: 'recovery_codes_renewed' } as const
    return redirect(await showRecoveryCodes(deps, context, shown))
  }

  /** Finds what the form asks for, by its field. */
  const actionOf = ({ form }: RequestContext) => {
    if (form.get('remove') === '1') return { event: 'second_factor_remove', run: remove } as const
    if (form.get('recovery_codes') === 'new') return { event: 'recovery_codes_renew', run: renew } as const
    if (form.get('code') !== undefined) return { event: 'second_factor_add', run: setUp } as const
    throw new AppError('invalid_request', 'Say what to do: code with set_up, remove=1, or recovery_codes=new.')
  }

  return {
    showAgain: async (context: RequestContext, refusal: Refusal, session: AuthenticatedSession): Promise<string> =>
      secondFactorPage(await view(context, session, refusal)),

    async show(context: RequestContext, session: AuthenticatedSession): Promise<HttpResponse> {
      const shown = await showCodes(context, session)
      if (shown) return shown
      await requireFactors(session.userId)
      await sessions.requireRecentAuthentication(session)
      await requireFirstSetUp(deps, context, session.userId)
      return page(200, secondFactorPage(await view(context, session)))
    },

    async act(context: RequestContext, session: AuthenticatedSession, attempt: FormAttempt): Promise<HttpResponse> {
      const sealed = context.form.get('download')
      if (sealed !== undefined) return download(sealed, session)
      const { event, run } = actionOf(context)
      const { userId } = session
      await requireFactors(userId)
      // A factor that is switched off stays as it is: a user who would be asked for it later must not remove it.
      if (run !== renew && !secondFactors.acceptsCodes) throw nothingHere()
      // This comes before any hash: the transactions that follow refuse the same.
      await sessions.requireRecentAuthentication(session)
      if (run === setUp) await requireFirstSetUp(deps, context, userId)
      return attempt({ event }, (facts) => run(context, session, facts))
    },
  }
}

const nothingHere = (): AppError => new AppError('not_found', 'There is nothing here.')

/** Makes the grant of the session that follows the setup of an app. The caller's transaction checks the session. */
const grantAfterSetUp = (session: AuthenticatedSession, clock: Clock): SignInGrant => {
  const { userId, amr, authenticatedAtMs, provider } = session
  const ageMs = authenticatedAtMs === undefined ? undefined : currentTimeMs(session, clock) - authenticatedAtMs
  const first = { amr, authenticatedAtMs: ageMs === undefined ? undefined : clock.now() - ageMs }
  return {
    userId,
    ...authenticatedBy(first, { proof: 'one_time_code' }, 'set_up'),
    provider,
    isStillValid: async () => true,
  }
}
