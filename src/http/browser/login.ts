import { AppError, checkAll } from '../../lib/errors.ts'
import type { LoginView } from '../../pages/pages.ts'
import { readEmail } from '../../users/email.ts'
import type { EventInProgress } from '../account-log.ts'
import type { RouteParts } from '../deps.ts'
import { type Answer, page, type Visit } from '../request-context.ts'
import { loginFailure, watchOutcome } from '../request-metrics.ts'
import { returnToParameter } from '../return-to.ts'
import { orShowAgain } from './form-problems.ts'
import type { SendOnOr } from './redirect-signed-in.ts'
import { enter, targetOf } from './start-session.ts'

const NOTICES = { deleted: 'deleted', signed_out: 'signed_out' } as const

const noticeOf = (visit: Visit): LoginView['notice'] => {
  const done = visit.query.get('done')
  return done === 'deleted' || done === 'signed_out' ? NOTICES[done] : undefined
}

/** `GET` and `POST /auth/login` (specification section 4.2). */
export const createLogin = (parts: RouteParts & { sendOnOr: SendOnOr }) => {
  const { sendOnOr, users, pages, limits, meter, baseUrl, signupOpen, providers, clock, accountLog } = parts

  const view = (visit: Visit, target: string, email: string): LoginView => ({
    csrfToken: visit.csrfToken,
    returnTo: returnToParameter(target),
    email,
    errors: {},
    notice: noticeOf(visit),
    signupOpen,
    providers,
  })

  const startSession = async (visit: Visit, form: LoginForm, found: EventInProgress): Promise<Answer> => {
    const { email, password, target } = form
    const result = await users.authenticate(email, password, visit)
    if ('refusal' in result) {
      Object.assign(found, { userId: result.userId, reason: result.refusal })
      throw wrongCredentials()
    }
    const { user, holds } = result
    const answer = await enter(parts, visit, { userId: user.id, target, authenticatedAtMs: clock.now(), holds, found })
    if (!answer) throw wrongCredentials()
    return answer
  }

  const logIn = (visit: Visit, form: LoginForm, found: EventInProgress): Promise<Answer> => {
    const { email } = form
    const { network } = visit
    const account = `${readEmail(email)?.lower ?? ''} ${network}`
    return limits.attempt(
      [
        ['loginOfAddress', network],
        ['login', account],
      ],
      () => startSession(visit, form, found),
    )
  }

  const logInAndNote = async (visit: Visit, form: LoginForm): Promise<Answer> => {
    requireFilled(form)
    const event: EventInProgress = { event: 'login', method: 'password', email: form.email }
    return accountLog.watch(visit, event, (found) => logIn(visit, form, found))
  }

  return {
    show: (visit: Visit): Promise<Answer> =>
      sendOnOr(visit, (target) => page(200, pages.login(view(visit, target, '')))),

    async submit(visit: Visit): Promise<Answer> {
      const target = targetOf(visit, baseUrl)
      const email = visit.form.get('email') ?? ''
      const password = visit.form.get('password') ?? ''
      return orShowAgain(
        visit,
        () => watchOutcome(() => logInAndNote(visit, { email, password, target }), loginFailure, meter?.countLogin),
        (refusal) =>
          pages.login({
            ...view(visit, target, email),
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
  target: string
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
