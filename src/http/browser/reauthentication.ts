import { AppError } from '../../lib/errors.ts'
import type { ConfirmView } from '../../pages/pages.ts'
import type { SignedIn } from '../../sessions/sessions.ts'
import type { EventInProgress } from '../account-log.ts'
import type { RouteParts } from '../deps.ts'
import { passwordFormLimits } from '../rate-limit.ts'
import { type Answer, page, type Visit } from '../request-context.ts'
import { orShowAgain } from './form-problems.ts'
import { createWaysToSignIn } from './sign-in-methods.ts'
import { enter } from './start-session.ts'

/** `/auth/account/confirm`: signing in anew, for what changes how one signs in (OWASP ASVS 5, 7.5.1). */
export const createConfirmation = (parts: RouteParts) => {
  const { users, pages, limits, clock, accountLog } = parts
  const waysToSignIn = createWaysToSignIn(parts)

  const view = async (visit: Visit, signedIn: SignedIn): Promise<ConfirmView> => ({
    csrfToken: visit.csrfToken,
    email: signedIn.email,
    ...(await waysToSignIn.proofs(signedIn)),
    errors: {},
  })

  const confirm = async (visit: Visit, { email }: SignedIn, password: string, found: EventInProgress) => {
    const result = await users.authenticate(email, password, visit)
    const isOwn = 'user' in result && result.user.id === found.userId
    const answer =
      isOwn &&
      (await enter(parts, visit, {
        userId: result.user.id,
        target: '/auth/account?done=confirmed',
        authenticatedAtMs: clock.now(),
        holds: result.holds,
        found,
      }))
    if (answer) return answer
    throw new AppError('unauthorized', 'This is not your password.', { field: 'password', reason: 'password_wrong' })
  }

  const confirmAndNote = (visit: Visit, signedIn: SignedIn, password: string): Promise<Answer> => {
    const { userId, sessionId } = signedIn
    const event: EventInProgress = { event: 'reauthentication', method: 'password', userId, sessionId }
    return accountLog.watch(visit, event, (found) =>
      limits.attempt(passwordFormLimits(userId), () => confirm(visit, signedIn, password, found)),
    )
  }

  return {
    show: async (visit: Visit, signedIn: SignedIn): Promise<Answer> =>
      page(200, pages.confirm(await view(visit, signedIn))),

    submit(visit: Visit, signedIn: SignedIn): Promise<Answer> {
      const password = visit.form.get('password') ?? ''
      return orShowAgain(
        visit,
        () => confirmAndNote(visit, signedIn, password),
        async (refusal) => pages.confirm({ ...(await view(visit, signedIn)), ...refusal }),
      )
    },
  }
}
