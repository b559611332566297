import { AppError } from '../../../lib/errors.ts'
import { emailProblem } from '../../../oauth/errors.ts'
import type { Pending, TakenEmail } from '../../../oauth/oauth.ts'
import type { ProofView, ProviderView } from '../../../pages/pages.ts'
import type { EventInProgress } from '../../account-log.ts'
import type { RouteParts } from '../../deps.ts'
import { type Answer, page, type Visit } from '../../request-context.ts'
import { returnToParameter } from '../../return-to.ts'
import { orShowAgain, type Refusal } from '../form-problems.ts'
import { enter } from '../start-session.ts'
import { letIn, orExplain } from './problem-page.ts'

/**
 * Somebody comes by a provider for the first time, and his email belongs to an account: he is asked to prove that it is
 * his before the two are linked. Linking them by the email alone would let whoever made the account first share it.
 */
export const createProof = (parts: RouteParts, provider: ProviderView) => {
  const { oauth, users, limits, pages, providers, cookieWriter, clock, accountLog } = parts

  const view = (visit: Visit, pending: Pending, taken: TakenEmail, binding: string): ProofView => {
    // The browser must be known for as long as the page is good.
    visit.setCookies([cookieWriter.oauth(binding)])
    return {
      csrfToken: visit.csrfToken,
      returnTo: returnToParameter(pending.target),
      provider,
      email: taken.email,
      pending: oauth.closePending(pending, binding),
      hasPassword: taken.hasPassword,
      providers: providers.filter(({ name }) => taken.providers.includes(name)),
      canClaim: taken.isUnproven,
      errors: {},
    }
  }

  /** Answers a form of the page; `pending` is what it is about. */
  const answerForm = (
    visit: Visit,
    action: (pending: Pending, binding: string) => Promise<Answer>,
  ): Promise<Answer> => {
    const binding = visit.cookies.oauth
    return orExplain(parts, visit, { provider, target: '/' }, async () => {
      const pending = oauth.openPending(visit.form.get('pending'), binding, provider.name)
      return orExplain(parts, visit, { provider, target: pending.target }, () => action(pending, binding ?? ''))
    })
  }

  const linkAndSignIn = async (visit: Visit, pending: Pending, email: string, found: EventInProgress) => {
    const { userId, target } = pending
    const result = await users.authenticate(email, visit.form.get('password') ?? '', visit)
    const owner = 'user' in result &&
      result.user.id === userId && { userId, authenticatedAtMs: clock.now(), holds: result.holds }
    const entrance = owner && (await oauth.linkProven(pending, visit.cookies.oauth ?? '', owner))
    if (!entrance) throw wrongPassword()
    accountLog.note(visit, { event: 'provider_connect', method: provider.name, userId })
    const answer = await enter(parts, visit, { ...entrance, target, found })
    if (!answer) throw wrongPassword()
    return answer
  }

  const linkByPassword = (visit: Visit, pending: Pending, taken: TakenEmail, found: EventInProgress) => {
    const { network } = visit
    return limits.attempt(
      [
        ['loginOfAddress', network],
        ['login', `${taken.email.toLowerCase()} ${network}`],
      ],
      () => linkAndSignIn(visit, pending, taken.email, found),
    )
  }

  return {
    /** The page; `conflict` when nothing could prove the account. */
    ask(visit: Visit, pending: Pending, taken: TakenEmail, binding: string): Answer {
      const shown = view(visit, pending, taken, binding)
      if (!shown.hasPassword && shown.providers.length === 0 && !shown.canClaim)
        throw emailProblem('no_proof', taken.email)
      return page(409, pages.proof(shown))
    },

    byPassword: (visit: Visit): Promise<Answer> =>
      answerForm(visit, async (pending, binding) => {
        const taken = await oauth.requireTaken(pending.userId)
        const showAgain = ({ errors, problem }: Refusal) =>
          pages.proof({ ...view(visit, pending, taken, binding), errors, problem })
        const event: EventInProgress = { event: 'login', method: 'password', userId: pending.userId }
        return orShowAgain(
          visit,
          () => accountLog.watch(visit, event, (found) => linkByPassword(visit, pending, taken, found)),
          showAgain,
        )
      }),

    claim: (visit: Visit): Promise<Answer> =>
      answerForm(visit, async (pending, binding) => {
        const { userId, target } = pending
        const by = { method: provider.name, userId }
        const entrance = await accountLog.watch(visit, { event: 'account_reclaim', ...by }, () =>
          oauth.claim(pending, binding),
        )
        return accountLog.watch(visit, { event: 'login', ...by }, (found) =>
          letIn(parts, visit, entrance, { target, found }),
        )
      }),
  }
}

const wrongPassword = (): AppError =>
  new AppError('unauthorized', 'This is not the password of the account.', {
    field: 'password',
    reason: 'password_wrong',
  })
