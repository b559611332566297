import { AppError } from '../../lib/errors.ts'
import { deviceName } from '../site/device.ts'
import type { CheckedRegistration } from '../../passkeys/passkeys.ts'
import { emailOfLink } from '../../links/link.ts'
import type { PendingSignIn } from '../../sign-in/pending-sign-ins.ts'
import type { AuthenticatedSession } from '../../sessions/sessions.ts'
import type { OfferedWays, Services } from '../../http/services.ts'
import type { RequestContext } from '../../http/request-context.ts'
import { type HttpResponse, json } from '../../http/response.ts'
import { asFirstSetUp, requireFirstEnrolment, requireFirstSetUp } from '../sign-in/first-set-up.ts'
import { showRecoveryCodes } from '../sign-in/shown-codes.ts'
import { doneOnAccount } from '../site/done.ts'
import { enrolWithPasskey, findEnrolling } from './enrol-with-passkey.ts'
import { createEnterByPasskey, findLinkToPasskey, type LinkToPasskey } from './enter-by-passkey.ts'
import { added, answerScript } from './passkey-answer.ts'
import { holdBrowserSecret } from '../sign-in/asking-browser.ts'
import { REGISTER_OPTIONS, REGISTER } from './documentation.ts'
import type { SignInServices } from '../sign-in/complete-sign-in.ts'

/**
 * Handles `/auth/passkeys/register`: it adds a passkey. A session allows that, or a link, or a sign-in that must go on
 * with one.
 */
export const createAddPasskey = (
  deps: SignInServices & OfferedWays & Pick<Services, 'accountLog' | 'baseUrl' | 'findCurrentSession'>,
) => {
  const { passkeys, accountLog, limits, sessions, findCurrentSession } = deps
  const enterByPasskey = createEnterByPasskey(deps)

  const findAuthority = async (context: RequestContext): Promise<Authority> => {
    const link = await findLinkToPasskey(deps, context)
    if (link) return { link, userId: link.userId }
    const session = await findCurrentSession(context)
    const pending = session ? undefined : await findEnrolling(deps, context)
    if (pending) {
      await requireFirstEnrolment(deps, context, pending)
      return { pending, userId: pending.userId }
    }
    if (!session) throw new AppError('unauthorized', 'You are not logged in.', { reason: 'logged_out' })
    await sessions.requireRecentAuthentication(session)
    await requireFirstSetUp(deps, context, session.userId)
    return { session, userId: session.userId }
  }

  const check = (context: RequestContext, userId: string): Promise<CheckedRegistration> =>
    passkeys.checkRegistration({
      userId,
      response: context.json,
      browserSecret: context.cookies.link,
      name: context.json.name,
      otherwise: onItsOwn(deviceName(context.device.userAgent)),
      caller: context,
    })

  /** This is not asked for a link, whose user reads the mail of the account. */
  const checkFirst = async (
    context: RequestContext,
    by: AuthenticatedSession | PendingSignIn,
  ): Promise<CheckedRegistration> => {
    const { apply, ...registration } = await check(context, by.userId)
    return { ...registration, apply: asFirstSetUp(deps, context, { ...by, apply }) }
  }

  const addToAccount = (context: RequestContext, session: AuthenticatedSession): Promise<HttpResponse> => {
    const { userId, sessionId } = session
    return accountLog.recordOutcome(context, { event: 'passkey_add', userId, sessionId }, async (facts) => {
      const { passkey, recoveryCodes: codes } = await passkeys.add(session, await checkFirst(context, session), context)
      facts.passkeyId = passkey.id
      const path = doneOnAccount(deps, context, userId, 'passkey_added')
      return added(
        passkey,
        codes ? await showRecoveryCodes(deps, context, { userId, codes, done: 'passkey_added' }) : path,
      )
    })
  }

  const addBy = (context: RequestContext, authority: Authority): Promise<HttpResponse> => {
    if ('link' in authority) return enterByPasskey(context, authority.link, () => check(context, authority.userId))
    if ('pending' in authority) {
      const { pending } = authority
      return enrolWithPasskey(deps, context, pending, () => checkFirst(context, pending))
    }
    return addToAccount(context, authority.session)
  }

  return {
    options: {
      documentation: REGISTER_OPTIONS,
      handle: (context: RequestContext): Promise<HttpResponse> =>
        answerScript(context, async () => {
          const authority = await findAuthority(context)
          const email = 'link' in authority ? shownEmailOf(authority.link) : undefined
          const options = await passkeys.registrationOptions(authority.userId, holdBrowserSecret(deps, context), email)
          return json(200, JSON.stringify(options))
        }),
    },

    submit: {
      documentation: REGISTER,
      handle: (context: RequestContext): Promise<HttpResponse> =>
        answerScript(context, async () => {
          const authority = await findAuthority(context)
          return limits.attempt([['passkeyOfUser', { userId: authority.userId }]], () => addBy(context, authority))
        }),
    },
  }
}

/** An authority allows a user to add a passkey. */
type Authority = { userId: string } & (
  | { link: LinkToPasskey }
  | { session: AuthenticatedSession }
  | { pending: PendingSignIn }
)

/** A link that puts an address back is about that address; the account has another one until then. */
const shownEmailOf = ({ purpose, link }: LinkToPasskey): string | undefined =>
  purpose === 'undo' ? emailOfLink(link).shown : undefined

/** The name is stored: nothing isolates its parts from words around it. */
const onItsOwn = (name: string): string => name.replaceAll(/[\u2068\u2069]/g, '')
