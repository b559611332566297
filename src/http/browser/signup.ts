import { AppError } from '../../lib/errors.ts'
import type { SignupView } from '../../pages/pages.ts'
import type { EventInProgress } from '../account-log.ts'
import type { RouteDeps } from '../deps.ts'
import { type HttpResponse, page, type RequestContext } from '../request-context.ts'
import { signupFailure, watchOutcome } from '../request-metrics.ts'
import { returnToParameter } from '../return-to.ts'
import { orShowAgain } from './form-problems.ts'
import type { RedirectSignedIn } from './redirect-signed-in.ts'
import { requestedReturnTo, startSession } from './start-session.ts'

interface Typed {
  email: string
  username: string
}

interface SignupForm extends Typed {
  password: string
  returnTo: string
}

/** `GET` and `POST /auth/signup` (CONTRACT.md 4.2). */
export const createSignup = (deps: RouteDeps & { redirectSignedIn: RedirectSignedIn }) => {
  const { redirectSignedIn, users, pages, limits, requestMetrics, baseUrl, signupOpen, providers, accountLog } = deps

  const view = (context: RequestContext, target: string, typed: Typed): SignupView => ({
    csrfToken: context.csrfToken,
    returnTo: returnToParameter(target),
    ...typed,
    errors: {},
    providers,
    closed: !signupOpen,
  })

  const showEmpty = (context: RequestContext, target: string): HttpResponse =>
    page(signupOpen ? 200 : 403, pages.signup(view(context, target, { email: '', username: '' })))

  const signUp = async (context: RequestContext, form: SignupForm, found: EventInProgress): Promise<HttpResponse> => {
    const { email, username, password, returnTo: target } = form
    const { network } = context
    const grant = await limits.attempt([['signupOfAddress', network]], () =>
      users.signUp({ email, username, password }, context),
    )
    const answer = await startSession(deps, context, { grant, returnTo: target, found })
    if (!answer) throw new AppError('internal_error', 'The session could not be started.')
    return answer
  }

  const signUpAndNote = (context: RequestContext, form: SignupForm): Promise<HttpResponse> => {
    const event: EventInProgress = { event: 'signup', method: 'password', email: form.email }
    return accountLog.watch(context, event, (found) => signUp(context, form, found))
  }

  return {
    show: (context: RequestContext): Promise<HttpResponse> =>
      redirectSignedIn(context, (target) => showEmpty(context, target)),

    async submit(context: RequestContext): Promise<HttpResponse> {
      const target = requestedReturnTo(context, baseUrl)
      const typed = { email: context.form.get('email') ?? '', username: context.form.get('username') ?? '' }
      const password = context.form.get('password') ?? ''
      if (!signupOpen) {
        requestMetrics?.countSignup('closed')
        return showEmpty(context, target)
      }
      return orShowAgain(
        context,
        () =>
          watchOutcome(
            () => signUpAndNote(context, { ...typed, password, returnTo: target }),
            signupFailure,
            requestMetrics?.countSignup,
          ),
        (refusal) => pages.signup({ ...view(context, target, typed), ...refusal }),
      )
    },
  }
}
