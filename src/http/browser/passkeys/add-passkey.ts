import { AppError } from '../../../lib/errors.ts'
import { deviceName } from '../../../pages/device.ts'
import type { CheckedRegistration } from '../../../passkeys/passkeys.ts'
import { emailOfLink } from '../../../recovery/email-changes.ts'
import type { AuthenticatedSession } from '../../../sessions/sessions.ts'
import type { EventFacts } from '../../account-log.ts'
import type { PageDeps } from '../../deps.ts'
import type { RequestContext } from '../../request-context.ts'
import { type HttpResponse, json } from '../../response.ts'
import { showRecoveryCodes } from '../second-factor/shown-codes.ts'
import { createEnterByPasskey } from './enter-by-passkey.ts'
import { findLinkToPasskey, type LinkToPasskey } from './named-link.ts'
import { added, answerScript } from './passkey-answer.ts'
import { passkeyBrowser } from './passkey-browser.ts'

/** `/auth/passkeys/register`: adding a passkey, which a session allows, or a link. */
export const createAddPasskey = (deps: PageDeps) => {
  const { passkeys, accountLog, limits, sessions, findCurrentSession } = deps
  const enterByPasskey = createEnterByPasskey(deps)

  const requireSession = async (context: RequestContext): Promise<AuthenticatedSession> => {
    const session = await findCurrentSession(context)
    if (!session) throw new AppError('unauthorized', 'You are not logged in.', { reason: 'logged_out' })
    await sessions.requireRecentAuthentication(session)
    return session
  }

  const check = (context: RequestContext, userId: string): Promise<CheckedRegistration> =>
    passkeys.checkRegistration({
      userId,
      response: context.json,
      browserSecret: context.cookies.link,
      name: context.json.name,
      otherwise: deviceName(context.device.userAgent),
      caller: context,
    })

  const addToAccount = async (
    context: RequestContext,
    session: AuthenticatedSession,
    facts: EventFacts,
  ): Promise<HttpResponse> => {
    const { userId } = session
    const { passkey, recoveryCodes: codes } = await passkeys.add(session, await check(context, userId))
    facts.passkeyId = passkey.id
    return added(passkey, codes && (await showRecoveryCodes(deps, context, { userId, codes })))
  }

  const submit = async (context: RequestContext): Promise<HttpResponse> => {
    const link = await findLinkToPasskey(deps, context)
    const session = link ? undefined : await requireSession(context)
    const userId = link?.userId ?? session?.userId ?? ''
    const event: EventFacts = { event: 'passkey_add', userId, sessionId: session?.sessionId }
    return accountLog.recordOutcome(context, event, (facts) =>
      limits.attempt([['passkeyOfUser', userId]], async () => {
        if (link) return enterByPasskey(context, { link, check: () => check(context, userId), facts })
        return addToAccount(context, session ?? (await requireSession(context)), facts)
      }),
    )
  }

  return {
    options: (context: RequestContext): Promise<HttpResponse> =>
      answerScript(context, async () => {
        const link = await findLinkToPasskey(deps, context)
        const userId = link?.userId ?? (await requireSession(context)).userId
        const email = link && shownEmailOf(link)
        const options = await passkeys.registrationOptions(userId, passkeyBrowser(deps, context), email)
        return json(200, JSON.stringify(options))
      }),

    submit: (context: RequestContext): Promise<HttpResponse> => answerScript(context, () => submit(context)),
  }
}

/** A link that puts an address back is about that address; the account has another one until then. */
const shownEmailOf = ({ purpose, link }: LinkToPasskey): string | undefined =>
  purpose === 'undo' ? emailOfLink(link).shown : undefined
