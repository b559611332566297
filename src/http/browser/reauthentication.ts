import { AppError } from '../../lib/errors.ts'
import type { ReauthenticationView } from '../../pages/pages.ts'
import type { AuthenticatedSession } from '../../sessions/sessions.ts'
import type { EventFacts } from '../account-log.ts'
import type { PageDeps } from '../deps.ts'
import { passwordFormLimits } from '../rate-limit.ts'
import type { RequestContext } from '../request-context.ts'
import { type HttpResponse, page } from '../response.ts'
import { orShowAgain, type Refusal } from './form-problems.ts'
import { createSignInMethods } from './sign-in-methods.ts'
import { startSession } from './start-session.ts'

/** `/auth/account/confirm`: signing in again before a change of the ways to sign in (OWASP ASVS 5, 7.5.1). */
export const createReauthentication = (deps: PageDeps) => {
  const { users, pages, limits, accountLog } = deps
  const signInMethods = createSignInMethods(deps)

  const view = async (context: RequestContext, session: AuthenticatedSession): Promise<ReauthenticationView> => ({
    csrfToken: context.csrfToken,
    email: session.email,
    ...(await signInMethods.forReauthentication(session)),
    errors: {},
  })

  const reauthenticate = async (
    context: RequestContext,
    { email, userId }: AuthenticatedSession,
    password: string,
    facts: EventFacts,
  ): Promise<HttpResponse> => {
    const result = await users.authenticate(email, password, context)
    const grant = 'refusal' in result || result.userId !== userId ? undefined : result
    const returnTo = '/auth/account?done=confirmed'
    const response = grant && (await startSession(deps, context, { grant, returnTo, facts }))
    if (response) return response
    throw new AppError('unauthorized', 'This is not your password.', { field: 'password', reason: 'password_wrong' })
  }

  const attempt = (context: RequestContext, session: AuthenticatedSession, password: string): Promise<HttpResponse> => {
    const { userId, sessionId } = session
    const event: EventFacts = { event: 'reauthentication', method: 'password', userId, sessionId }
    return accountLog.recordOutcome(context, event, (facts) =>
      limits.attempt(passwordFormLimits(userId), () => reauthenticate(context, session, password, facts)),
    )
  }

  const showAgain = async (context: RequestContext, refusal: Refusal, session: AuthenticatedSession): Promise<string> =>
    pages.reauthentication({ ...(await view(context, session)), ...refusal })

  return {
    showAgain,

    show: async (context: RequestContext, session: AuthenticatedSession): Promise<HttpResponse> =>
      page(200, pages.reauthentication(await view(context, session))),

    submit(context: RequestContext, session: AuthenticatedSession): Promise<HttpResponse> {
      const password = context.form.get('password') ?? ''
      return orShowAgain(
        context,
        () => attempt(context, session, password),
        (refusal) => showAgain(context, refusal, session),
      )
    },
  }
}
