import { AppError, checkAll } from '../../lib/errors.ts'
import type { LoginView } from '../../pages/pages.ts'
import { readEmail } from '../../users/email.ts'
import type { EventInProgress } from '../account-log.ts'
import type { RouteDeps } from '../deps.ts'
import { type HttpResponse, page, type RequestContext } from '../request-context.ts'
import { loginFailure, watchOutcome } from '../request-metrics.ts'
import { returnToParameter } from '../return-to.ts'
import { orShowAgain } from './form-problems.ts'
import type { RedirectSignedIn } from './redirect-signed-in.ts'
import { requestedReturnTo, startSession } from './start-session.ts'

const NOTICES = { deleted: 'deleted', signed_out: 'signed_out' } as const

const noticeOf = (context: RequestContext): LoginView['notice'] => {
  const done = context.query.get('done')
  return done === 'deleted' || done === 'signed_out' ? NOTICES[done] : undefined
}

/** `GET` and `POST /auth/login` (CONTRACT.md 4.2). */
export const createLogin = (deps: RouteDeps & { redirectSignedIn: RedirectSignedIn }) => {
  const { redirectSignedIn, users, pages, limits, requestMetrics, baseUrl, signupOpen, providers, accountLog } = deps

  const view = (context: RequestContext, target: string, email: string): LoginView => ({
    csrfToken: context.csrfToken,
    returnTo: returnToParameter(target),
    email,
    errors: {},
    notice: noticeOf(context),
    signupOpen,
    providers,
  })

  const checkAndSignIn = async (
    context: RequestContext,
    form: LoginForm,
    found: EventInProgress,
  ): Promise<HttpResponse> => {
    const { email, password, returnTo: target } = form
    const result = await users.authenticate(email, password, context)
    if ('refusal' in result) {
      Object.assign(found, { userId: result.userId, reason: result.refusal })
      throw wrongCredentials()
    }
    const answer = await startSession(deps, context, { grant: result, returnTo: target, found })
    if (!answer) throw wrongCredentials()
    return answer
  }

  const logIn = (context: RequestContext, form: LoginForm, found: EventInProgress): Promise<HttpResponse> => {
    const { email } = form
    const { network } = context
    const account = `${readEmail(email)?.lower ?? ''} ${network}`
    return limits.attempt(
      [
        ['loginOfAddress', network],
        ['login', account],
      ],
      () => checkAndSignIn(context, form, found),
    )
  }

  const logInAndNote = async (context: RequestContext, form: LoginForm): Promise<HttpResponse> => {
    requireFilled(form)
    const event: EventInProgress = { event: 'login', method: 'password', email: form.email }
    return accountLog.watch(context, event, (found) => logIn(context, form, found))
  }

  return {
    show: (context: RequestContext): Promise<HttpResponse> =>
      redirectSignedIn(context, (target) => page(200, pages.login(view(context, target, '')))),

    async submit(context: RequestContext): Promise<HttpResponse> {
      const target = requestedReturnTo(context, baseUrl)
      const email = context.form.get('email') ?? ''
      const password = context.form.get('password') ?? ''
      return orShowAgain(
        context,
        () =>
          watchOutcome(
            () => logInAndNote(context, { email, password, returnTo: target }),
            loginFailure,
            requestMetrics?.countLogin,
          ),
        (refusal) =>
          pages.login({
            ...view(context, target, email),
            notice: undefined,
            ...refusal,
          }),
      )
    },
  }
}

interface LoginForm {
  email: string
  password: string
  returnTo: string
}

const requireFilled = ({ email, password }: LoginForm): void => {
  checkAll({
    email() {
      if (email.trim() !== '') return
      throw new AppError('unprocessable', 'Enter your email address.', { field: 'email', reason: 'email_missing' })
    },
    password() {
      if (password !== '') return
      throw new AppError('unprocessable', 'Enter your password.', { field: 'password', reason: 'password_missing' })
    },
  })
}

const wrongCredentials = (): AppError =>
  new AppError('unauthorized', 'The email address or the password is wrong.', { reason: 'credentials_wrong' })
