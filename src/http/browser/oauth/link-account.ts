import { AppError } from '../../../lib/errors.ts'
import { emailProblem } from '../../../oauth/errors.ts'
import type { PendingLink, TakenEmail } from '../../../oauth/oauth.ts'
import type { LinkAccountView, ProviderView } from '../../../pages/pages.ts'
import type { EventInProgress } from '../../account-log.ts'
import type { RouteDeps } from '../../deps.ts'
import { type HttpResponse, page, type RequestContext } from '../../request-context.ts'
import { returnToParameter } from '../../return-to.ts'
import { orShowAgain, type Refusal } from '../form-problems.ts'
import { startSession } from '../start-session.ts'
import { orExplain, signInAs } from './problem-page.ts'

/**
 * Somebody comes by a provider for the first time, and his email belongs to an account: he is asked to prove that it is
 * his before the two are linked. Linking them by the email alone would let whoever made the account first share it.
 */
export const createLinkAccount = (deps: RouteDeps, provider: ProviderView) => {
  const { oauth, users, limits, pages, providers, cookieWriter, accountLog } = deps

  const view = (context: RequestContext, pending: PendingLink, taken: TakenEmail, binding: string): LinkAccountView => {
    // The browser must be known for as long as the page is good.
    context.setCookies([cookieWriter.oauth(binding)])
    return {
      csrfToken: context.csrfToken,
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
    context: RequestContext,
    action: (pending: PendingLink, binding: string) => Promise<HttpResponse>,
  ): Promise<HttpResponse> => {
    const binding = context.cookies.oauth
    return orExplain(deps, context, { provider, target: '/' }, async () => {
      const pending = oauth.openPending(context.form.get('pending'), binding, provider.name)
      return orExplain(deps, context, { provider, target: pending.target }, () => action(pending, binding ?? ''))
    })
  }

  const linkAndSignIn = async (
    context: RequestContext,
    pending: PendingLink,
    email: string,
    found: EventInProgress,
  ) => {
    const { userId, target } = pending
    const result = await users.authenticate(email, context.form.get('password') ?? '', context)
    const isOwner = !('refusal' in result) && result.userId === userId
    const grant = isOwner && (await oauth.linkProven(pending, context.cookies.oauth ?? '', result))
    if (!grant) throw wrongPassword()
    accountLog.note(context, { event: 'provider_connect', method: provider.name, userId })
    const answer = await startSession(deps, context, { grant, returnTo: target, found })
    if (!answer) throw wrongPassword()
    return answer
  }

  const linkByPassword = (context: RequestContext, pending: PendingLink, taken: TakenEmail, found: EventInProgress) => {
    const { network } = context
    return limits.attempt(
      [
        ['loginOfAddress', network],
        ['login', `${taken.email.toLowerCase()} ${network}`],
      ],
      () => linkAndSignIn(context, pending, taken.email, found),
    )
  }

  return {
    /** The page; `conflict` when nothing could prove the account. */
    ask(context: RequestContext, pending: PendingLink, taken: TakenEmail, binding: string): HttpResponse {
      const shown = view(context, pending, taken, binding)
      if (!shown.hasPassword && shown.providers.length === 0 && !shown.canClaim)
        throw emailProblem('no_proof', taken.email)
      return page(409, pages.linkAccount(shown))
    },

    byPassword: (context: RequestContext): Promise<HttpResponse> =>
      answerForm(context, async (pending, binding) => {
        const taken = await oauth.requireTaken(pending.userId)
        const showAgain = ({ errors, problem }: Refusal) =>
          pages.linkAccount({ ...view(context, pending, taken, binding), errors, problem })
        const event: EventInProgress = { event: 'login', method: 'password', userId: pending.userId }
        return orShowAgain(
          context,
          () => accountLog.watch(context, event, (found) => linkByPassword(context, pending, taken, found)),
          showAgain,
        )
      }),

    claim: (context: RequestContext): Promise<HttpResponse> =>
      answerForm(context, async (pending, binding) => {
        const { userId, target } = pending
        const by = { method: provider.name, userId }
        const grant = await accountLog.watch(context, { event: 'account_reclaim', ...by }, () =>
          oauth.reclaim(pending, binding),
        )
        return accountLog.watch(context, { event: 'login', ...by }, (found) =>
          signInAs(deps, context, grant, { target, found }),
        )
      }),
  }
}

const wrongPassword = (): AppError =>
  new AppError('unauthorized', 'This is not the password of the account.', {
    field: 'password',
    reason: 'password_wrong',
  })
