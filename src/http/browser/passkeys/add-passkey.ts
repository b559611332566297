import { AppError } from '../../../lib/errors.ts'
import { deviceName } from '../../../pages/device.ts'
import type { Passkey } from '../../../passkeys/passkeys.ts'
import type { AuthenticatedSession } from '../../../sessions/sessions.ts'
import type { EventFacts } from '../../account-log.ts'
import type { PageDeps } from '../../deps.ts'
import type { RequestContext } from '../../request-context.ts'
import { type HttpResponse, json } from '../../response.ts'
import { showRecoveryCodes } from '../second-factor/shown-codes.ts'
import { answerScript } from './passkey-answer.ts'
import { passkeyBrowser } from './passkey-browser.ts'

/** `/auth/passkeys/register`: adding a passkey. */
export const createAddPasskey = (deps: PageDeps) => {
  const { passkeys, accountLog, limits, sessions, findCurrentSession } = deps

  const requireSession = async (context: RequestContext): Promise<AuthenticatedSession> => {
    const session = await findCurrentSession(context)
    if (session) return session
    throw new AppError('unauthorized', 'You are not logged in.', { reason: 'logged_out' })
  }

  const register = async (
    context: RequestContext,
    session: AuthenticatedSession,
    facts: EventFacts,
  ): Promise<HttpResponse> => {
    await sessions.requireRecentAuthentication(session)
    const checked = await passkeys.checkRegistration({
      userId: session.userId,
      response: context.json,
      browserSecret: context.cookies.link,
      name: context.json.name,
      otherwise: deviceName(context.device.userAgent),
      caller: context,
    })
    const { passkey, recoveryCodes: codes } = await passkeys.add(session, checked)
    facts.passkeyId = passkey.id
    const path = codes && (await showRecoveryCodes(deps, context, { userId: session.userId, codes }))
    return added(passkey, path)
  }

  return {
    options: (context: RequestContext): Promise<HttpResponse> =>
      answerScript(context, async () => {
        const session = await requireSession(context)
        await sessions.requireRecentAuthentication(session)
        const options = await passkeys.registrationOptions(session.userId, passkeyBrowser(deps, context))
        return json(200, JSON.stringify(options))
      }),

    submit: (context: RequestContext): Promise<HttpResponse> =>
      answerScript(context, async () => {
        const session = await requireSession(context)
        const { userId, sessionId } = session
        return accountLog.recordOutcome(context, { event: 'passkey_add', userId, sessionId }, (facts) =>
          limits.attempt([['passkeyOfUser', userId]], () => register(context, session, facts)),
        )
      }),
  }
}

/** `path`: where the script sends the browser then; by default to the account page. */
const added = ({ id, name }: Passkey, path: string | undefined): HttpResponse => ({
  ...json(201, JSON.stringify({ id, name })),
  headers: path === undefined ? [] : ['location', path],
})
