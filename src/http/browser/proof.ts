import { AppError } from '../../lib/errors.ts'
import type { Pending, TakenEmail } from '../../oauth/oauth.ts'
import { emailProblem } from '../../oauth/problems.ts'
import type { ProofView, ProviderView } from '../../pages/pages.ts'
import type { RouteParts } from '../parts.ts'
import { returnToParameter } from '../return-to.ts'
import { type Answer, page, type Visit } from '../visit.ts'
import { enter } from './entry.ts'
import { orShowAgain, type Refusal } from './problems.ts'
import { letIn, orExplain } from './provider-visit.ts'

/**
 * Somebody comes by a provider for the first time, and his email belongs to an account: he is asked to prove that it is
 * his before the two are linked. Linking them by the email alone would let whoever made the account first share it.
 */
export const createProof = (parts: RouteParts, provider: ProviderView) => {
  const { oauth, users, limits, pages, providers, cookieWriter, clock } = parts

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

  const linkByPassword = async (visit: Visit, pending: Pending, taken: TakenEmail): Promise<Answer> => {
    const password = visit.form.get('password') ?? ''
    const { network } = visit
    return limits.attempt(
      [
        ['loginOfAddress', network],
        ['login', `${taken.email.toLowerCase()} ${network}`],
      ],
      async () => {
        const proof = await users.authenticate(taken.email, password, visit)
        const isOwner = proof?.user.id === pending.userId
        const { userId, vouched } = pending
        const owner = isOwner && { userId, authenticatedAtMs: clock.now(), holds: proof.holds }
        const entrance = owner && (await oauth.linkProven(vouched, owner))
        const answer = entrance && (await enter(parts, visit, { ...entrance, target: pending.target }))
        if (!answer) throw wrongPassword()
        return answer
      },
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
        return orShowAgain(visit, () => linkByPassword(visit, pending, taken), showAgain)
      }),

    claim: (visit: Visit): Promise<Answer> =>
      answerForm(visit, async (pending) => {
        const entrance = await oauth.claim(pending.vouched, pending.userId)
        return letIn(parts, visit, entrance, pending.target)
      }),
  }
}

const wrongPassword = (): AppError =>
  new AppError('unauthorized', 'This is not the password of the account.', {
    field: 'password',
    reason: 'password_wrong',
  })
