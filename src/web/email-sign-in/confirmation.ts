import { AppError } from '../../lib/errors.ts'
import type { Services } from '../../http/services.ts'
import type { RequestContext } from '../../http/request-context.ts'
import type { AuthenticatedSession } from '../../sessions/sessions.ts'

/** Tells whether a form is about a session whose user signs in again, and not about a new one. */
export const isConfirmation = ({ form }: Pick<RequestContext, 'form'>): boolean => form.get('intent') === 'confirm'

/** Finds the session that is confirmed; throws `unauthorized` if there is none any more. */
export const requireSessionToConfirm = async (
  { findCurrentSession }: Pick<Services, 'findCurrentSession'>,
  context: RequestContext,
): Promise<AuthenticatedSession> => {
  const session = await findCurrentSession(context)
  if (session) return session
  throw new AppError('unauthorized', 'You were logged out meanwhile, and nothing was changed. Log in again.', {
    reason: 'logged_out',
  })
}
