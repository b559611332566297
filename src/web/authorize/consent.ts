import type { ShownConsent } from '../../clients/authorization.ts'
import type { GoodRequest } from '../../clients/authorize-request.ts'
import type { RequestContext } from '../../http/request-context.ts'
import { type HttpResponse, redirect } from '../../http/response.ts'
import type { FormAttempt, Refusal } from '../../http/route.ts'
import { AppError } from '../../lib/errors.ts'
import type { AuthenticatedSession } from '../../sessions/sessions.ts'
import { type AuthorizeServices, createAuthorizeSteps, type Step } from './authorize.ts'

const OUTDATED: ReadonlySet<string> = new Set(['logged_out', 'consent_used'])

/** Handles `POST /auth/oauth2/consent`, the form of the consent page. */
export const createConsent = (deps: AuthorizeServices) => {
  const steps = createAuthorizeSteps(deps)
  const { authorization, answerClient, problemPage } = steps

  /** What the user has seen must be what is allowed now, and the same user must have seen it. */
  const findAllowed = async (
    shown: ShownConsent,
    step: Step,
    good: GoodRequest,
  ): Promise<AuthenticatedSession | undefined> => {
    const { session } = step
    const { scopes, resource } = good.request
    if (!session || session.userId !== shown.userId) return undefined
    if (scopes.join(' ') !== shown.scopes.join(' ') || resource !== shown.resource) return undefined
    const outcome = await steps.decide(good, step)
    return outcome === 'consent' || outcome === 'continue' || outcome === 'code' ? session : undefined
  }

  const open = (context: RequestContext) => authorization.openConsent(context.form.get('request'), context.cookies.link)

  const stepOf = async (context: RequestContext, { held }: ShownConsent): Promise<Step> => ({
    held,
    session: await deps.findCurrentSession(context),
    came: 'pages',
  })

  return {
    /** Shows the same question again, as after too many answers. */
    async showAgain(context: RequestContext, { problem }: Refusal): Promise<string> {
      const opened = open(context)
      const step = opened && !opened.problem ? await stepOf(context, opened.content) : undefined
      const looked = step && (await steps.look(step))
      if (!step?.session || !looked || !('good' in looked))
        throw new AppError('invalid_request', 'The field "request" is not good any longer. Begin at the app again.')
      const outcome = await steps.decide(looked.good, step)
      const kind = outcome === 'continue' ? 'continue' : 'consent'
      return steps.consentPage({
        ...steps.consentView(context, looked.good, step, { session: step.session, kind }),
        problem,
      })
    },

    async act(context: RequestContext, attempt: FormAttempt): Promise<HttpResponse> {
      const opened = open(context)
      if (!opened) return problemPage('request_unreadable', context.requestId)
      if (opened.problem === 'other_browser') return problemPage('request_other_browser', context.requestId)
      const shown = opened.content
      const step = await stepOf(context, shown)
      // The user is asked again, as long as the request itself is good.
      const again = (): HttpResponse => redirect(steps.pathOf(context, shown.held))
      const looked = await steps.look(step)
      if (!('good' in looked)) return steps.refuse(context, looked, step) ?? again()
      const { good } = looked
      if (context.form.get('allow') !== '1')
        return answerClient(good, { error: 'access_denied', error_description: 'The user said no.' }, 'pages')
      const session = opened.problem ? undefined : await findAllowed(shown, step, good)
      if (!session) return again()
      const { userId, sessionId } = session
      // The session may have ended since it was found, and the form may be used up: then the user is asked again.
      const instead = ({ reason = '' }: AppError) => (OUTDATED.has(reason) ? again() : undefined)
      return attempt({ userId, sessionId, instead }, async (facts) => {
        facts.clientId = good.client.id
        const code = await authorization.issue({ good, session }, shown)
        // It is thrown, so that it does not count among the consents of the user.
        if (code === undefined) throw new AppError('conflict', 'The consent was used up.', { reason: 'consent_used' })
        return answerClient(good, { code }, 'pages')
      })
    },
  }
}
