import { AppError } from '../lib/errors.ts'
import { LIMITS, type LimitName } from '../limits/limit-table.ts'
import type { LimitedBy } from '../limits/limits.ts'
import { statusOf } from './errors.ts'
import { findRefusal, outdated } from './form-problems.ts'
import { limitLogin } from './login-limits.ts'
import { prefersJson } from './negotiation.ts'
import type { RequestContext } from './request-context.ts'
import { type CountEnd, countOutcome, loginOutcome, signupOutcome } from './request-metrics.ts'
import { type HttpResponse, isFinished, page } from './response.ts'
import {
  type FormAttempt,
  type Attempted,
  type RunAttempt,
  type FormColumns,
  type FormModule,
  type FormRoute,
  type KeylessRoute,
  type Refusal,
  type Route,
  returnAfterLogin,
} from './route.ts'
import type { RouteDeps } from './services.ts'

type FormRunnerDeps = Pick<
  RouteDeps,
  'accountLog' | 'findCurrentSession' | 'frame' | 'limits' | 'links' | 'requestMetrics' | 'users'
>

type RowOf<Credential extends unknown[]> = FormRoute<Credential> & Pick<Route, 'guard'>

/**
 * This is THE way of every form whose body was read. Its handler runs, with a `FormAttempt`, or the form is shown
 * again at once.
 */
export interface FormRunner {
  run<Credential extends unknown[]>(
    row: RowOf<Credential>,
    context: RequestContext,
    module: FormModule<Credential>,
    ...credential: Credential
  ): Promise<HttpResponse>
  /**
   * Answers a form that was refused for its CSRF token alone, as after a login in another tab. It shows the form again
   * with what was typed and a new token, or says that the user was logged out since then. It throws the refusal if the
   * form has no such page.
   */
  refuse(row: KeylessRoute, context: RequestContext, refused: AppError): Promise<HttpResponse>
}

export const createFormRunner = (deps: FormRunnerDeps): FormRunner => {
  const { accountLog, findCurrentSession, frame, limits, requestMetrics } = deps

  const counts: Record<NonNullable<FormColumns['outcome']>, CountEnd> = {
    // A sign-in that waits for a second factor is counted at its end.
    login: (ended) => {
      if ('thrown' in ended || isFinished(ended.response)) requestMetrics?.countLogin(loginOutcome(ended))
    },
    signup: (ended) => requestMetrics?.countSignup(signupOutcome(ended)),
  }

  const createAttempt =
    (row: FormColumns & Pick<Route, 'guard'>, context: RequestContext, showAgain: ShowRefused): FormAttempt =>
    <Checked>(about: Attempted<Checked>, action: RunAttempt<Checked>) => {
      const {
        check,
        findEmail,
        limits: names = row.limits,
        loginOf,
        username,
        outcome,
        event = row.event,
        instead,
        ...facts
      } = about
      const { userId, sessionId } = { ...(row.guard === 'session' ? context.session : undefined), ...facts }

      const limit = (email: string | undefined, run: () => Promise<HttpResponse>): Promise<HttpResponse> => {
        if (names === undefined) return run()
        if (names === 'login') return limitLogin(deps, context, { entered: loginOf ?? email ?? '', username }, run)
        const limitedBy = names.map((name) => limitOf(name, userId ?? '', context.network))
        return limits.attempt(limitedBy, run)
      }

      const attempt = async (): Promise<HttpResponse> => {
        if (event === undefined) throw new Error('Neither the row of the form nor its handler names an event.')
        const checked = (await check?.()) as Checked
        const email = findEmail ? await findEmail() : facts.email
        return accountLog.recordOutcome(context, { ...facts, email, event, userId, sessionId }, (completed) =>
          limit(email, () => action(completed, checked)),
        )
      }

      const count = outcome ?? (row.outcome && counts[row.outcome])
      return orShowAgain(context, () => (count ? countOutcome(attempt, count) : attempt()), showAgain, instead)
    }

  const showOutdated = async (row: KeylessRoute, context: RequestContext, refused: AppError): Promise<string> => {
    const refusal = outdated(context, refused)
    const form = row.responseKind === 'html' && row.method === 'POST' ? row : undefined
    if (form?.answersScripts && prefersJson(context.headers)) throw refused
    if (form?.guard === 'none') {
      const { showAgain } = await form.module()
      if (showAgain) return showAgain(context, refusal)
    }
    if (!isForSignedIn(row, context)) throw refused
    const session = await findCurrentSession(context)
    // Cookies that came more than once hide whether the user is signed in.
    if (!session && context.cookies.repeated.length === 0)
      return frame.wasLoggedOut({ returnTo: returnAfterLogin(row, context), requestId: context.requestId })
    if (!session || form?.guard !== 'session') throw refused
    const { showAgain } = await form.module()
    if (showAgain) return showAgain(context, refusal, session)
    throw refused
  }

  return {
    run: async (row, context, { act, showAgain }, ...credential) =>
      act(
        context,
        ...credential,
        createAttempt(row, context, showAgain && ((refusal) => showAgain(context, refusal, ...credential))),
      ),

    async refuse(row, context, refused) {
      try {
        return { ...page(statusOf(refused.code), await showOutdated(row, context, refused)), refused }
      } catch (error) {
        // Something else is wrong with the form too.
        throw error instanceof AppError && statusOf(error.code) < 500 ? refused : error
      }
    },
  }
}

type ShowRefused = ((refusal: Refusal) => string | Promise<string>) | undefined

/** Runs `action`; shows the form again for a refusal that the user can correct, with the status of the refusal. */
export const orShowAgain = async (
  context: RequestContext,
  action: () => Promise<HttpResponse>,
  showAgain: ShowRefused,
  instead?: Attempted<unknown>['instead'],
): Promise<HttpResponse> => {
  try {
    return await action()
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    const otherwise = await instead?.(error)
    if (otherwise) return otherwise
    const refusal = findRefusal(error, context)
    if (!refusal || !showAgain) throw error
    return page(statusOf(error.code), await showAgain(refusal), error.retryAfterSeconds)
  }
}

/** Tells whether a form stands on a page for users who are signed in. The form of a provider says so itself. */
const isForSignedIn = ({ guard }: Route, { form }: RequestContext): boolean =>
  guard === 'session' || ['link', 'confirm'].includes(form.get('intent') ?? '')

/** Gives a limit with the key that the table names for its count. */
const limitOf = (name: LimitName, userId: string, network: string): LimitedBy => {
  const { key } = LIMITS[name]
  return [name, { ...(key !== 'network' && { userId }), ...(key !== 'user' && { network }) }]
}
