import { AppError } from '../../lib/errors.ts'
import type { ConfirmView } from '../../pages/pages.ts'
import type { SignedIn } from '../../sessions/sessions.ts'
import type { RouteParts } from '../parts.ts'
import { passwordFormLimits } from '../rate-limit.ts'
import { type Answer, page, type Visit } from '../visit.ts'
import { enter } from './entry.ts'
import { orShowAgain } from './problems.ts'
import { createWaysToSignIn } from './ways-to-sign-in.ts'

/** `/auth/account/confirm`: signing in anew, for what changes how one signs in (OWASP ASVS 5, 7.5.1). */
export const createConfirmation = (parts: RouteParts) => {
  const { users, pages, limits, clock } = parts
  const waysToSignIn = createWaysToSignIn(parts)

  const view = async (visit: Visit, signedIn: SignedIn): Promise<ConfirmView> => ({
    csrfToken: visit.csrfToken,
    email: signedIn.email,
    ...(await waysToSignIn.proofs(signedIn)),
    errors: {},
  })

  const confirm = async (visit: Visit, { userId, email }: SignedIn, password: string): Promise<Answer> => {
    const proof = await users.authenticate(email, password, visit)
    const entrance = proof?.user.id === userId && {
      userId,
      target: '/auth/account?done=confirmed',
      authenticatedAtMs: clock.now(),
      holds: proof.holds,
    }
    const answer = entrance && (await enter(parts, visit, entrance))
    if (answer) return answer
    throw new AppError('unauthorized', 'This is not your password.', { field: 'password', reason: 'password_wrong' })
  }

  return {
    show: async (visit: Visit, signedIn: SignedIn): Promise<Answer> =>
      page(200, pages.confirm(await view(visit, signedIn))),

    submit(visit: Visit, signedIn: SignedIn): Promise<Answer> {
      const password = visit.form.get('password') ?? ''
      return orShowAgain(
        visit,
        () => limits.attempt(passwordFormLimits(signedIn.userId), () => confirm(visit, signedIn, password)),
        async (refusal) => pages.confirm({ ...(await view(visit, signedIn)), ...refusal }),
      )
    },
  }
}
