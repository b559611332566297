import { createLoginPage, keepFirstVisit, type LoginView } from './login-page.ts'
import type { OfferedWays, Services } from '../../http/services.ts'
import type { Awaitable } from '../../lib/awaitable.ts'
import { readUsername } from '../../accounts/fields.ts'
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
    Pick<Services, 'baseUrl' | 'findCurrentSession' | 'log' | 'loginWith' | 'pseudonymOf' | 'signup' | 'users'> & {
      redirectSignedIn: RedirectSignedIn
    },
) => {
  const { redirectSignedIn, users, layout, passwords, emailSignIn, passkeys, providers, loginWith, pseudonymOf } = deps
  const loginPage = keepFirstVisit(createLoginPage(layout, loginWith))
  const { isOpen: signupOpen } = signupWays(deps)
  const straightOn = createStraightOn(deps)
  const own = { password: passwords, email: emailSignIn, passkey: passkeys.isOn }
  const ways = [...Object.keys(own).filter((way) => own[way as keyof typeof own]), ...providers.map(({ name }) => name)]

  const view = (context: RequestContext, returnTo: string, email: string): LoginView => ({
    csrfToken: context.csrfToken,
    returnTo: returnToParameter(returnTo, deps),
    email,
    errors: {},
    notice: noticeOf(context),
    passwords,
    signupOpen,
    providers,
    lastWay: ways.length > 1 ? ways.find((way) => way === context.cookies.single.lastWay) : undefined,
  })

  /** Reads a username that was typed in place of the email: it has no `@`. */
  const usernameIn = (typed: string): string | undefined =>
    loginWith === 'both' ? readUsername(typed.trim()) : undefined

  /**
   * Finds the email of a username. An address that nobody has stands for a username that nobody has: the unknown name
   * then takes time and is recorded as an unknown email.
   */
  const findEmailOf = async (username: string): Promise<string> => {
    const nobody = `${pseudonymOf(username)}@username.invalid`
    return (await users.findEmailOf(username)) ?? nobody
  }

  const checkPassword = async (context: RequestContext, form: LoginForm, facts: EventFacts): Promise<HttpResponse> => {
    const result = await users.authenticate(facts.email ?? '', form.password, context)
    if ('refusal' in result) {
      Object.assign(facts, { userId: result.userId, reason: result.refusal })
      throw wrongCredentials(loginWith)
    }
    const signIn = { way: 'password', grant: result, returnTo: form.returnTo, facts, provesEmail: true } as const
    const response = await completeSignIn(deps, context, signIn)
    if (!response) throw wrongCredentials(loginWith)
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
      const username = usernameIn(email)
      const about = {
        method: 'password',
        check: () => requireFilled(form, loginWith),
        findEmail: () => (username === undefined ? email : findEmailOf(username)),
        username,
      }
      return attempt(about, (facts) => checkPassword(context, form, facts))
    },
  }
}

interface LoginForm {
  email: string
  password: string
  returnTo: string
}

const requireFilled = ({ email, password }: LoginForm, loginWith: Services['loginWith']): void => {
  checkAll({
    email() {
      if (email.trim() !== '') return
      const reason = loginWith === 'both' ? 'email_or_username_missing' : 'email_missing'
      throw new AppError('unprocessable', 'Enter your email address.', { field: 'email', reason })
    },
    password() {
      if (password !== '') return
      throw new AppError('unprocessable', 'Enter your password.', { field: 'password', reason: 'password_missing' })
    },
  })
}

const wrongCredentials = (loginWith: Services['loginWith']): AppError =>
  new AppError('unauthorized', 'The email address or the password is wrong.', {
    reason: 'credentials_wrong',
    values: [loginWith],
  })
