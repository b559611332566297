import type { ScreenServices } from '../site/frame.ts'
import type { SessionServices } from '../../http/services.ts'
import { readReturnTo, type ReturnTargets, returnToParameter } from '../../http/return-to.ts'
import { AppError } from '../../lib/errors.ts'
import type { LimitedCheck, PasskeyProof } from '../../passkeys/passkeys.ts'
import type { EventFacts } from '../../audit/account-log.ts'
import type { RequestContext } from '../../http/request-context.ts'
import { countOutcome, passkeyOutcome } from '../../http/request-metrics.ts'
import { type HttpResponse, json } from '../../http/response.ts'
import { targetOf } from '../../http/step-up.ts'
import { doneAtLogin } from '../site/done.ts'
import { askToProveEmail, holdBrowserSecret } from '../sign-in/asking-browser.ts'
import { startSession } from '../sign-in/start-session.ts'
import { answerScript } from './passkey-answer.ts'
import { LOGIN_OPTIONS, LOGIN } from './documentation.ts'

/** Handles `/auth/passkeys/login`: it signs in with a passkey, or confirms a session (`confirm=1`). */
export const createPasskeyLogin = (
  deps: SessionServices &
    ReturnTargets &
    Pick<ScreenServices, 'accountLog' | 'findCurrentSession' | 'layout' | 'passkeys' | 'links' | 'requestMetrics'>,
) => {
  const { passkeys, accountLog, limits, knownBrowsers, findCurrentSession, requestMetrics } = deps

  /** Finds the user of the session that is to be confirmed. */
  const requireConfirming = async (context: RequestContext): Promise<string> => {
    const session = await findCurrentSession(context)
    if (session) return session.userId
    throw new AppError('unauthorized', 'You are not logged in.', { reason: 'logged_out' })
  }

  /** A browser that the account knows has a count of its own, which nobody else in its network can use up. */
  const limitedIn =
    ({ cookies, network }: RequestContext): LimitedCheck =>
    async (userId, check) => {
      const known = await knownBrowsers.find(userId, cookies.device)
      const own = known && `${userId}/${known.countedAs}`
      return limits.attempt(
        [own ? ['passkeyInKnownBrowser', { userId: own }] : ['passkeyOfAddress', { network }]],
        check,
      )
    }

  const prove = async (context: RequestContext, isConfirmation: boolean): Promise<PasskeyProof> => {
    const check = { response: context.json, browserSecret: context.cookies.link, limited: limitedIn(context) }
    if (!isConfirmation) return passkeys.signIn(check, context)
    return passkeys.checkAssertion({ ...check, userId: await requireConfirming(context) }, context)
  }

  const recordCounter = (context: RequestContext, { passkey, counterWentBack }: PasskeyProof): void => {
    if (!counterWentBack) return
    accountLog.record(context, { event: 'passkey_counter', userId: passkey.userId, passkeyId: passkey.id })
  }

  const signIn = async (
    context: RequestContext,
    { returnTo, isConfirmation }: Destination,
    facts: EventFacts,
  ): Promise<HttpResponse> => {
    const proof = await prove(context, isConfirmation)
    const { grant, apply: also, passkey } = proof
    Object.assign(facts, { userId: grant.userId, passkeyId: passkey.id })
    const start = { grant, returnTo, facts, also }
    if (!isConfirmation && (await askToProveEmail(deps, context, start)))
      return redirectTo(doneAtLogin(deps, context, 'check_mail', returnToParameter(returnTo, deps)))
    const started = await startSession(deps, context, start)
    if (!started) throw new AppError('unauthorized', 'This passkey is no longer good.', { reason: 'passkey_wrong' })
    recordCounter(context, proof)
    return redirectTo(returnTo)
  }

  const destinationOf = (context: RequestContext): Destination => {
    const isConfirmation = context.query.get('confirm') === '1'
    const otherwise = isConfirmation ? targetOf(NOTHING_ELSE) : deps.homeUrl
    return { isConfirmation, returnTo: readReturnTo(context, deps, otherwise) }
  }

  return {
    options: {
      documentation: LOGIN_OPTIONS,
      handle: async (context: RequestContext): Promise<HttpResponse> =>
        json(200, JSON.stringify(await passkeys.loginOptions(holdBrowserSecret(deps, context)))),
    },

    submit: {
      documentation: LOGIN,
      handle: (context: RequestContext): Promise<HttpResponse> =>
        answerScript(context, () => {
          const destination = destinationOf(context)
          const event = destination.isConfirmation ? 'reauthentication' : 'login'
          return accountLog.recordOutcome(context, { event, method: 'passkey' }, (facts) =>
            countOutcome(
              () => signIn(context, destination, facts),
              (ended) => requestMetrics?.countPasskey(passkeyOutcome(ended)),
            ),
          )
        }),
    },
  }
}

const NOTHING_ELSE = { returnTo: undefined, acr: undefined }

interface Destination {
  returnTo: string
  isConfirmation: boolean
}

const redirectTo = (path: string): HttpResponse => json(200, JSON.stringify({ redirect_to: path }))
