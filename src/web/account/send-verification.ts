import { AppError } from '../../lib/errors.ts'
import type { AuthenticatedSession } from '../../sessions/sessions.ts'
import type { PageDeps } from '../../http/deps.ts'
import type { RequestContext } from '../../http/request-context.ts'
import { type HttpResponse, redirect } from '../../http/response.ts'
import { doneOnAccount } from '../site/done.ts'
import { askingBrowserOf } from '../sign-in/check-mail.ts'

/**
 * `POST /auth/account/email/verify`: sends the message again. Past the limits nothing is sent, and the page says the
 * same.
 */
export const createSendVerification =
  (deps: PageDeps) =>
  async (context: RequestContext, { userId }: AuthenticatedSession): Promise<HttpResponse> => {
    const { verification } = deps.recovery
    if (verification.mode === 'off')
      throw new AppError('not_found', 'No messages are sent here that confirm an email address.')
    await deps.accountLog.recordOutcome(context, { event: 'email_verification_request', userId }, () =>
      verification.sendAgain(userId, askingBrowserOf(deps, context)),
    )
    return redirect(doneOnAccount(deps, context, userId, 'verification_sent'))
  }
