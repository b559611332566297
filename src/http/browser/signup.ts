import { AppError } from '../../lib/errors.ts'
import type { SignupView } from '../../pages/pages.ts'
import type { EventInProgress } from '../account-log.ts'
import type { RouteParts } from '../deps.ts'
import { type Answer, page, type Visit } from '../request-context.ts'
import { signupFailure, watchOutcome } from '../request-metrics.ts'
import { returnToParameter } from '../return-to.ts'
import { orShowAgain } from './form-problems.ts'
import type { SendOnOr } from './redirect-signed-in.ts'
import { enter, targetOf } from './start-session.ts'

interface Typed {
  email: string
  username: string
}

interface SignupForm extends Typed {
  password: string
  target: string
}

/** `GET` and `POST /auth/signup` (specification section 4.2). */
export const createSignup = (parts: RouteParts & { sendOnOr: SendOnOr }) => {
  const { sendOnOr, users, pages, limits, meter, baseUrl, signupOpen, providers, clock, accountLog } = parts

  const view = (visit: Visit, target: string, typed: Typed): SignupView => ({
    csrfToken: visit.csrfToken,
    returnTo: returnToParameter(target),
    ...typed,
    errors: {},
    providers,
    closed: !signupOpen,
  })

  const showEmpty = (visit: Visit, target: string): Answer =>
    page(signupOpen ? 200 : 403, pages.signup(view(visit, target, { email: '', username: '' })))

  const signUp = async (visit: Visit, form: SignupForm, found: EventInProgress): Promise<Answer> => {
    const { email, username, password, target } = form
    const { network } = visit
    const user = await limits.attempt([['signupOfAddress', network]], () =>
      users.create({ email, username, password }, visit),
    )
    const answer = await enter(parts, visit, { userId: user.id, target, authenticatedAtMs: clock.now(), found })
    if (!answer) throw new AppError('internal_error', 'The session could not be started.')
    return answer
  }

  const signUpAndNote = (visit: Visit, form: SignupForm): Promise<Answer> => {
    const event: EventInProgress = { event: 'signup', method: 'password', email: form.email }
    return accountLog.watch(visit, event, (found) => signUp(visit, form, found))
  }

  return {
    show: (visit: Visit): Promise<Answer> => sendOnOr(visit, (target) => showEmpty(visit, target)),

    async submit(visit: Visit): Promise<Answer> {
      const target = targetOf(visit, baseUrl)
      const typed = { email: visit.form.get('email') ?? '', username: visit.form.get('username') ?? '' }
      const password = visit.form.get('password') ?? ''
      if (!signupOpen) {
        meter?.countSignup('closed')
        return showEmpty(visit, target)
      }
      return orShowAgain(
        visit,
        () =>
          watchOutcome(() => signUpAndNote(visit, { ...typed, password, target }), signupFailure, meter?.countSignup),
        (refusal) => pages.signup({ ...view(visit, target, typed), ...refusal }),
      )
    },
  }
}
