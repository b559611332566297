import { AppError } from '../../lib/errors.ts'
import type { ReauthenticationView } from '../../pages/pages.ts'
import type { AuthenticatedSession } from '../../sessions/sessions.ts'
import type { EventInProgress } from '../account-log.ts'
import type { RouteDeps } from '../deps.ts'
import { passwordFormLimits } from '../rate-limit.ts'
import { type HttpResponse, page, type RequestContext } from '../request-context.ts'
import { orShowAgain } from './form-problems.ts'
import { createWaysToSignIn } from './sign-in-methods.ts'
import { startSession } from './start-session.ts'

/** `/auth/account/confirm`: signing in anew, for what changes how one signs in (OWASP ASVS 5, 7.5.1). */
export const createReauthentication = (deps: RouteDeps) => {
  const { users, pages, limits, accountLog } = deps
  const waysToSignIn = createWaysToSignIn(deps)

  const view = async (context: RequestContext, signedIn: AuthenticatedSession): Promise<ReauthenticationView> => ({
    csrfToken: context.csrfToken,
    email: signedIn.email,
    ...(await waysToSignIn.proofs(signedIn)),
    errors: {},
  })

  const confirm = async (
    context: RequestContext,
    { email }: AuthenticatedSession,
    password: string,
    found: EventInProgress,
  ) => {
    const result = await users.authenticate(email, password, context)
    const isOwn = !('refusal' in result) && result.userId === found.userId
    const target = '/auth/account?done=confirmed'
    const answer = isOwn && (await startSession(deps, context, { grant: result, returnTo: target, found }))
    if (answer) return answer
    throw new AppError('unauthorized', 'This is not your password.', { field: 'password', reason: 'password_wrong' })
  }

  const confirmAndNote = (
    context: RequestContext,
    signedIn: AuthenticatedSession,
    password: string,
  ): Promise<HttpResponse> => {
    const { userId, sessionId } = signedIn
    const event: EventInProgress = { event: 'reauthentication', method: 'password', userId, sessionId }
    return accountLog.watch(context, event, (found) =>
      limits.attempt(passwordFormLimits(userId), () => confirm(context, signedIn, password, found)),
    )
  }

  return {
    show: async (context: RequestContext, signedIn: AuthenticatedSession): Promise<HttpResponse> =>
      page(200, pages.reauthentication(await view(context, signedIn))),

    submit(context: RequestContext, signedIn: AuthenticatedSession): Promise<HttpResponse> {
      const password = context.form.get('password') ?? ''
      return orShowAgain(
        context,
        () => confirmAndNote(context, signedIn, password),
        async (refusal) => pages.reauthentication({ ...(await view(context, signedIn)), ...refusal }),
      )
    },
  }
}
