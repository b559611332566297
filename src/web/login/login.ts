import { createLoginPage, type LoginView } from './login-page.ts'
import type { OfferedWays, Services } from '../../http/services.ts'
import type { Awaitable } from '../../lib/awaitable.ts'
import { AppError, checkAll } from '../../lib/errors.ts'
import type { EventFacts } from '../../audit/account-log.ts'
import type { RequestContext } from '../../http/request-context.ts'
import { type HttpResponse, page } from '../../http/response.ts'
import { returnToParameter } from '../../http/return-to.ts'
import { signupWays } from '../sign-in/offered-ways.ts'
import { carriedEmail } from '../site/carried-email.ts'
import { isDone, type LoginDone } from '../site/done.ts'
import type { FormAttempt, Refusal } from '../../http/route.ts'
import type { RedirectSignedIn } from '../sign-in/redirect-signed-in.ts'
import { completeSignIn, type SignInServices } from '../sign-in/complete-sign-in.ts'
import { requestedReturnTo } from '../sign-in/start-session.ts'
import { createStraightOn } from './straight-on.ts'

const DONE = ['deleted', 'sign_in_ended', 'check_mail'] as const satisfies LoginDone[]

const noticeOf = (context: RequestContext): LoginView['notice'] => {
  const done = context.query.get('done')
  // This is true for everybody who sees the page.
  if (done === 'signed_out') return done
  return DONE.find((one) => one === done && isDone(context, one))
}

/** Handles `GET` and `POST /auth/login` (CONTRACT.md 4.2). */
export const createLogin = (
  deps: SignInServices &
    OfferedWays &
    Pick<Services, 'baseUrl' | 'findCurrentSession' | 'log' | 'signup' | 'users'> & {
      redirectSignedIn: RedirectSignedIn
    },
) => {
  const { redirectSignedIn, users, layout, passwords, providers } = deps
  const loginPage = createLoginPage(layout)
  const { isOpen: signupOpen } = signupWays(deps)
  const straightOn = createStraightOn(deps)

  const view = (context: RequestContext, returnTo: string, email: string): LoginView => ({
    csrfToken: context.csrfToken,
    returnTo: returnToParameter(returnTo, deps),
    email,
    errors: {},
    notice: noticeOf(context),
    passwords,
    signupOpen,
    providers,
  })

  const checkPassword = async (context: RequestContext, form: LoginForm, facts: EventFacts): Promise<HttpResponse> => {
    const result = await users.authenticate(form.email, form.password, context)
    if ('refusal' in result) {
      Object.assign(facts, { userId: result.userId, reason: result.refusal })
      throw wrongCredentials()
    }
    const signIn = { way: 'password', grant: result, returnTo: form.returnTo, facts, provesEmail: true } as const
    const response = await completeSignIn(deps, context, signIn)
    if (!response) throw wrongCredentials()
    return response
  }

  return {
    show: (context: RequestContext): Awaitable<HttpResponse> =>
      redirectSignedIn(
        context,
        (returnTo) =>
          straightOn(context, returnTo) ?? page(200, loginPage(view(context, returnTo, carriedEmail(context)))),
      ),

    showAgain(context: RequestContext, refusal: Refusal): string {
      const email = context.form.get('email') ?? ''
      return loginPage({ ...view(context, requestedReturnTo(context, deps), email), notice: undefined, ...refusal })
    },

    async act(context: RequestContext, attempt: FormAttempt): Promise<HttpResponse> {
      const returnTo = requestedReturnTo(context, deps)
      const email = context.form.get('email') ?? ''
      const form = { email, password: context.form.get('password') ?? '', returnTo }
      return attempt({ method: 'password', email, loginOf: email, check: () => requireFilled(form) }, (facts) =>
        checkPassword(context, form, facts),
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
