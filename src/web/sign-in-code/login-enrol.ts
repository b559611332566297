import { createLoginEnrolPage } from './code-page.ts'
import type { ScreenServices } from '../site/frame.ts'
import type { OfferedWays, SessionServices } from '../../http/services.ts'
import { type ReturnTargets, returnToParameter } from '../../http/return-to.ts'
import { AppError } from '../../lib/errors.ts'
import type { PendingSignIn } from '../../sign-in/pending-sign-ins.ts'
import type { EventFacts } from '../../audit/account-log.ts'
import { speakToUser } from '../../http/page-language.ts'
import type { RequestContext } from '../../http/request-context.ts'
import { type HttpResponse, page } from '../../http/response.ts'
import type { FormAttempt, Refusal } from '../../http/route.ts'
import { stayAtLogin } from '../sign-in/offered-ways.ts'
import {
  beginAgain,
  countEndOf,
  endEnrolment,
  findWaiting,
  readPending,
  redirectTo,
  returnToAfter,
} from '../sign-in/pending.ts'
import { asFirstSetUp, requireFirstEnrolment } from '../sign-in/first-set-up.ts'
import { showRecoveryCodes } from '../sign-in/shown-codes.ts'

/** Handles `GET` and `POST /auth/login/enrol`: it sets up an app before the login goes on (CONTRACT.md 4.17). */
export const createLoginEnrol = (
  deps: SessionServices &
    OfferedWays &
    ReturnTargets &
    Pick<
      ScreenServices,
      | 'accountLog'
      | 'languages'
      | 'layout'
      | 'pendingSignIns'
      | 'links'
      | 'requestMetrics'
      | 'secondFactorMode'
      | 'secondFactors'
      | 'users'
    >,
) => {
  const { layout, languages, users, secondFactors, accountLog } = deps
  const loginEnrolPage = createLoginEnrolPage(layout)

  const offerSetUp = async ({ form }: RequestContext, { id, userId }: PendingSignIn, email: string) => {
    const owner = { userId, boundTo: id }
    const again = await secondFactors.continueSetUp(owner, email, form.get('set_up'))
    return again ?? secondFactors.beginSetUp(owner, email)
  }

  const render = async (
    context: RequestContext,
    pending: PendingSignIn,
    { errors, problem }: Refusal = { errors: {}, problem: undefined },
  ): Promise<string> => {
    // "Log in as someone else" must not lead straight back here.
    stayAtLogin(deps, context)
    const { email = '', language } = (await users.find(pending.userId)) ?? {}
    speakToUser(languages, language)
    return loginEnrolPage({
      csrfToken: context.csrfToken,
      returnTo: returnToParameter(returnToAfter(deps, context, pending), deps),
      email,
      setUp: { ...(await offerSetUp(context, pending, email)), error: errors.code },
      problem,
    })
  }

  const withEnrolling = async (
    context: RequestContext,
    action: (pending: PendingSignIn) => Promise<HttpResponse>,
  ): Promise<HttpResponse> => {
    const { pending, next } = await findWaiting(deps, context)
    if (!pending || next === 'start') return beginAgain(deps, context)
    if (next === 'ask') return redirectTo(deps, 'ask', returnToAfter(deps, context, pending))
    await requireFirstEnrolment(deps, context, pending)
    return action(pending)
  }

  const setUp = async (context: RequestContext, pending: PendingSignIn, facts: EventFacts): Promise<HttpResponse> => {
    const { form } = context
    const { userId, way, id: boundTo } = pending
    const first = { sealed: form.get('set_up'), code: form.get('code') ?? '' }
    const target = returnToAfter(deps, context, pending)
    const checked = await secondFactors.checkSetUp({ userId, boundTo }, first, context)
    const response = await endEnrolment(deps, context, pending, {
      facts,
      proof: 'one_time_code',
      store: asFirstSetUp(deps, context, { userId, way, apply: (transaction) => checked.apply(transaction, {}) }),
      returnTo: async () => {
        const { recoveryCodes: codes } = checked
        return codes
          ? showRecoveryCodes(deps, context, { userId, codes, returnTo: target, done: 'second_factor_set_up' })
          : target
      },
    })
    if (!response) return beginAgain(deps, context)
    accountLog.record(context, { event: 'second_factor_add', userId, sessionId: facts.sessionId })
    return response
  }

  return {
    show: (context: RequestContext): Promise<HttpResponse> =>
      withEnrolling(context, async (pending) => page(200, await render(context, pending))),

    async showAgain(context: RequestContext, refusal: Refusal): Promise<string> {
      const pending = readPending(deps, context)
      if (!pending) throw new AppError('invalid_request', 'There is no login in this browser that could go on.')
      return render(context, pending, refusal)
    },

    act: (context: RequestContext, attempt: FormAttempt): Promise<HttpResponse> =>
      withEnrolling(context, (pending) => {
        const { method, userId } = pending
        return attempt({ method, userId, outcome: countEndOf(deps, pending) }, (facts) =>
          setUp(context, pending, facts),
        )
      }),
  }
}
