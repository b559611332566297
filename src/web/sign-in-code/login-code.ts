import { createLoginCodePage } from './code-page.ts'
import type { ScreenServices } from '../site/frame.ts'
import type { OfferedWays, SessionServices } from '../../http/services.ts'
import { type ReturnTargets, returnToParameter } from '../../http/return-to.ts'
import { AppError } from '../../lib/errors.ts'
import type { PendingSignIn } from '../../sign-in/pending-sign-ins.ts'
import type { AccountFactors } from '../../second-factor/second-factors.ts'
import { speakToUser } from '../../http/page-language.ts'
import type { RequestContext } from '../../http/request-context.ts'
import { type HttpResponse, page } from '../../http/response.ts'
import type { FormAttempt, Refusal } from '../../http/route.ts'
import { stayAtLogin } from '../sign-in/offered-ways.ts'
import { createCodeEnd } from './code-end.ts'
import {
  beginAgain,
  countEndOf,
  findWaiting,
  offersTrust,
  readPending,
  redirectTo,
  returnToAfter,
} from '../sign-in/pending.ts'
import { enteredCode, takenCodes } from '../sign-in/codes.ts'

/** Handles `GET` and `POST /auth/login/code`: the second half of a sign-in (CONTRACT.md 4.2). */
export const createLoginCode = (
  deps: SessionServices &
    OfferedWays &
    ReturnTargets &
    Pick<
      ScreenServices,
      | 'accountLog'
      | 'findCurrentSession'
      | 'languages'
      | 'log'
      | 'oauth'
      | 'layout'
      | 'pendingSignIns'
      | 'requestMetrics'
      | 'secondFactorMode'
      | 'secondFactors'
      | 'signup'
      | 'users'
    >,
) => {
  const { layout, languages, users, providers, knownBrowsers } = deps
  const loginCodePage = createLoginCodePage(layout)
  const end = createCodeEnd(deps)

  const render = async (
    context: RequestContext,
    pending: PendingSignIn,
    factors: AccountFactors,
    refusal: Partial<Refusal> = {},
  ): Promise<string> => {
    // "Log in as someone else" must not lead straight back here.
    stayAtLogin(deps, context)
    const user = await users.find(pending.userId)
    speakToUser(languages, user?.language)
    const { connect } = pending
    return loginCodePage({
      csrfToken: context.csrfToken,
      returnTo: returnToParameter(returnToAfter(deps, context, pending), deps),
      email: user?.email ?? '',
      takes: takenCodes(factors),
      hasPasskeys: factors.passkeys > 0,
      trustMs: offersTrust(pending) && knownBrowsers.trustMs > 0 ? knownBrowsers.trustMs : undefined,
      trusts: readTrust(context),
      connects: connect && providers.find(({ name }) => name === connect.provider)?.label,
      confirms: pending.confirms !== undefined,
      errors: {},
      ...refusal,
    })
  }

  /**
   * Runs `action` with the sign-in that waits in this browser for a code; other browsers begin again, or set up a
   * factor.
   */
  const withWaiting = async (
    context: RequestContext,
    action: (pending: PendingSignIn, factors: AccountFactors) => Promise<HttpResponse>,
  ): Promise<HttpResponse> => {
    const { pending, factors, next } = await findWaiting(deps, context)
    if (!pending || next === 'start') return beginAgain(deps, context)
    if (next === 'enrol') return redirectTo(deps, 'enrol', returnToAfter(deps, context, pending))
    return action(pending, factors)
  }

  return {
    show: (context: RequestContext): Promise<HttpResponse> =>
      withWaiting(context, async (pending, factors) => page(200, await render(context, pending, factors))),

    async showAgain(context: RequestContext, refusal: Refusal): Promise<string> {
      const pending = readPending(deps, context)
      // Nothing of the account is shown to a form that another site may have sent.
      if (!pending) throw new AppError('invalid_request', 'There is no login that waits for a code in this browser.')
      return render(context, pending, await deps.secondFactors.find(pending.userId), refusal)
    },

    act: (context: RequestContext, attempt: FormAttempt): Promise<HttpResponse> =>
      withWaiting(context, (pending) => {
        const { confirms, method, userId } = pending
        const event = confirms === undefined ? 'login' : 'reauthentication'
        const entered = readEntered(context, pending)
        // An empty form tries nothing.
        const outcome = entered && countEndOf(deps, pending)
        return attempt(
          { event, method, userId, ...(outcome && { outcome }), check: () => entered ?? refuse() },
          (facts, filled) => end(context, pending, { ...filled, facts }),
        )
      }),
  }
}

const readEntered = (context: RequestContext, pending: PendingSignIn) => {
  const { form } = context
  const code = enteredCode(form) ?? ''
  const passkeyResponse = form.get('passkey_response') || undefined
  const trusts = readTrust(context) && offersTrust(pending)
  return code || passkeyResponse ? { code, passkeyResponse, trusts } : undefined
}

const refuse = (): never => {
  throw new AppError('unprocessable', 'Enter a code.', { field: 'code', reason: 'code_missing' })
}

const readTrust = ({ form }: RequestContext): boolean => {
  const text = form.get('trust_browser') ?? ''
  if (['1', 'on', 'true'].includes(text)) return true
  if (['', '0', 'off', 'false'].includes(text)) return false
  throw new AppError('invalid_request', 'The field "trust_browser" is 1, or left out.', { field: 'trust_browser' })
}
