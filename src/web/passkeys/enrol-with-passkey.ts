import type { OfferedWays, Services, SessionServices } from '../../http/services.ts'
import type { ReturnTargets } from '../../http/return-to.ts'
import { AppError } from '../../lib/errors.ts'
import type { AddedPasskey, CheckedRegistration } from '../../passkeys/passkeys.ts'
import type { PendingSignIn } from '../../sign-in/pending-sign-ins.ts'
import type { RequestContext } from '../../http/request-context.ts'
import { countOutcome } from '../../http/request-metrics.ts'
import type { HttpResponse } from '../../http/response.ts'
import { countEndOf, endEnrolment, findWaiting, returnToAfter } from '../sign-in/pending.ts'
import { showRecoveryCodes } from '../sign-in/shown-codes.ts'
import { added } from './passkey-answer.ts'

/** Finds the sign-in of this browser that goes on once a second factor or a passkey is set up. */
export const findEnrolling = async (
  deps: Pick<Services, 'pendingSignIns' | 'secondFactorMode' | 'secondFactors' | 'sessions'>,
  context: RequestContext,
): Promise<PendingSignIn | undefined> => {
  const { pending, next } = await findWaiting(deps, context)
  return next === 'enrol' ? pending : undefined
}

/** Ends a sign-in with a session, after a user who must set something up on the way in has made a passkey. */
export const enrolWithPasskey = (
  deps: SessionServices &
    OfferedWays &
    ReturnTargets &
    Pick<Services, 'accountLog' | 'pendingSignIns' | 'requestMetrics' | 'secondFactors'>,
  context: RequestContext,
  pending: PendingSignIn,
  check: () => Promise<CheckedRegistration>,
): Promise<HttpResponse> => {
  const { passkeys, accountLog } = deps
  const { userId, method } = pending
  return countOutcome(
    () =>
      accountLog.recordOutcome(context, { event: 'login', method, userId }, async (facts) => {
        const checked = await check()
        const target = returnToAfter(deps, context, pending)
        let stored: AddedPasskey | undefined
        const response = await endEnrolment(deps, context, pending, {
          facts,
          proof: checked.proof,
          async store(transaction) {
            stored = await passkeys.addAtSignIn(transaction, userId, checked, context)
          },
          async returnTo() {
            const codes = stored?.recoveryCodes
            return codes
              ? showRecoveryCodes(deps, context, { userId, codes, returnTo: target, done: 'passkey_added' })
              : target
          },
        })
        if (!response || !stored || !('redirect' in response)) throw noLongerHolds()
        const { passkey } = stored
        const { sessionId } = facts
        accountLog.record(context, { event: 'passkey_add', userId, sessionId, passkeyId: passkey.id })
        return added(passkey, response.redirect)
      }),
    countEndOf(deps, pending),
  )
}

const noLongerHolds = (): AppError =>
  new AppError('unauthorized', 'The login has ended. Log in again.', { reason: 'logged_out' })
