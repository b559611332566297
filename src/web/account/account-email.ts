import type { AccountView } from './account-view.ts'
import type { AuthenticatedSession } from '../../sessions/sessions.ts'
import type { Services } from '../../http/services.ts'
import type { RequestContext } from '../../http/request-context.ts'
import type { Refusal } from '../../http/route.ts'
import { AppError } from '../../lib/errors.ts'
import { askingBrowserOf, markAskingBrowser } from '../sign-in/asking-browser.ts'

/** Handles the email on the account page, and the form that asks for another one. */
export const createAccountEmail = (
  deps: Pick<Services, 'cookieWriter' | 'emailDomains' | 'mail' | 'links' | 'sessions'>,
) => {
  const { mail, links, sessions, emailDomains } = deps
  const requests = links.emailChanges

  return {
    async forAccountPage(session: AuthenticatedSession): Promise<Pick<AccountView, 'email' | 'newEmail'>> {
      const email = {
        isVerified: session.emailVerified,
        requested: await requests.findRequested(session.userId),
        mailIsOn: mail.isOn,
        canConfirm: mail.isOn && links.verification.mode !== 'off' && !session.emailVerified,
        isRecentlyAuthenticated: await sessions.isRecentlyAuthenticated(session),
      }
      return { email, newEmail: { value: '' } }
    },

    /** Shows the form as it was refused. */
    shownAgain: ({ form }: RequestContext, { errors }: Refusal): Pick<AccountView, 'newEmail'> => ({
      newEmail: { value: form.get('email') ?? '', error: errors.email },
    }),

    /** Sends the message that confirms the address once more. It throws `not_found` if there are no such messages. */
    confirmationOf(context: RequestContext, { userId }: AuthenticatedSession): () => Promise<void> {
      const { verification } = links
      if (verification.mode === 'off')
        throw new AppError('not_found', 'No messages are sent here that confirm an email address.', {
          reason: 'no_verification',
        })
      return async () => verification.sendAgain(userId, askingBrowserOf(deps, context))
    },

    /** The form asks for another address, or to keep the current one. */
    actionOf(context: RequestContext, session: AuthenticatedSession) {
      if (context.form.get('cancel') === '1')
        return {
          event: 'email_change_cancel',
          done: 'email_cancelled',
          run: () => requests.cancel(session, context),
        } as const
      return {
        event: 'email_change_request',
        done: 'email_requested',
        run: () => {
          const email = emailDomains.requireEmail(context.form.get('email') ?? '')
          return requests.ask(session, { email, browser: markAskingBrowser(deps, context) }, context)
        },
      } as const
    },
  }
}
