import { AppError } from '../../lib/errors.ts'
import type { SignupView } from '../../pages/pages.ts'
import { signupFailure, watchOutcome } from '../meter.ts'
import type { RouteParts } from '../parts.ts'
import { returnToParameter } from '../return-to.ts'
import { type Answer, page, type Visit } from '../visit.ts'
import { enter, sendOnOr, targetOf } from './entry.ts'
import { orShowAgain } from './problems.ts'

interface Typed {
  email: string
  username: string
}

/** `GET` and `POST /auth/signup` (specification section 4.2). */
export const createSignup = (parts: RouteParts) => {
  const { users, pages, limits, meter, baseUrl, signupOpen, providers, clock } = parts

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

  const signUp = async (visit: Visit, typed: Typed, password: string, target: string): Promise<Answer> => {
    const user = await limits.attempt([['signupOfAddress', visit.network]], () =>
      users.create({ ...typed, password }, visit),
    )
    const answer = await enter(parts, visit, { userId: user.id, target, authenticatedAtMs: clock.now() })
    if (!answer) throw new AppError('internal_error', 'The session could not be started.')
    return answer
  }

  return {
    show: (visit: Visit): Promise<Answer> => sendOnOr(parts, visit, (target) => showEmpty(visit, target)),

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
        () => watchOutcome(() => signUp(visit, typed, password, target), signupFailure, meter?.countSignup),
        (refusal) => pages.signup({ ...view(visit, target, typed), ...refusal }),
      )
    },
  }
}
