import type { AccountEventName } from '../../lib/account-event.ts'
import { AppError } from '../../lib/errors.ts'
import type { AccountView } from '../../pages/pages.ts'
import { type AuthenticatedSession, currentTimeMs } from '../../sessions/sessions.ts'
import type { EventInProgress } from '../account-log.ts'
import type { RouteDeps } from '../deps.ts'
import { passwordFormLimits } from '../rate-limit.ts'
import { type HttpResponse, page, type RequestContext, redirect } from '../request-context.ts'
import { orShowAgain, type Refusal } from './form-problems.ts'
import { orConfirm, orProblemPage } from './oauth/problem-page.ts'
import { createWaysToSignIn } from './sign-in-methods.ts'
import { startSession } from './start-session.ts'

type Done = NonNullable<AccountView['done']>
const DONE: readonly string[] = [
  'username',
  'password',
  'password_set',
  'session',
  'sessions',
  'linked',
  'unlinked',
  'confirmed',
] satisfies Done[]
const isDone = (text: string | undefined): text is Done => text !== undefined && DONE.includes(text)

const SHOWN_SESSIONS = 100

/** Back to the page, which says what was done. */
const pathAfter = (what: Done): string => `/auth/account?done=${what}`
const done = (what: Done): HttpResponse => redirect(pathAfter(what))

/** `/auth/account`: what a person can see and change of his own account. */
export const createAccount = (deps: RouteDeps) => {
  const { users, sessions, oauth, pages, limits, clock, accountLog } = deps
  const waysToSignIn = createWaysToSignIn(deps)

  const listSessions = async (signedIn: AuthenticatedSession) => {
    const { sessions: shown, count } = await sessions.list(signedIn.userId, SHOWN_SESSIONS, signedIn)
    const views = shown.map((session) => ({ ...session, current: session.id === signedIn.sessionId }))
    return { sessions: views, moreSessions: count - shown.length }
  }

  const view = async (context: RequestContext, signedIn: AuthenticatedSession): Promise<AccountView> => ({
    csrfToken: context.csrfToken,
    user: signedIn,
    nowMs: currentTimeMs(signedIn, clock),
    ...(await listSessions(signedIn)),
    username: { value: signedIn.username },
    password: { errors: {} },
    deletion: {},
    signIn: await waysToSignIn.view(signedIn),
  })

  /** Shows the page with what was wrong in one of its forms. */
  const showAgain =
    (context: RequestContext, signedIn: AuthenticatedSession, form: (refusal: Refusal) => Partial<AccountView>) =>
    async (refusal: Refusal) =>
      pages.account({ ...(await view(context, signedIn)), problem: refusal.problem, ...form(refusal) })

  /** Does something to the own account and writes down how it ended. */
  const noting = <T>(
    context: RequestContext,
    { userId, sessionId }: AuthenticatedSession,
    event: AccountEventName,
    action: (found: EventInProgress) => Promise<T>,
  ): Promise<T> => accountLog.watch(context, { event, userId, sessionId }, action)

  const guardingPassword = <T>(userId: string, action: () => Promise<T>): Promise<T> =>
    limits.attempt(passwordFormLimits(userId), action)

  /**
   * The user has just given the current password: as after re-authentication, a fresh session replaces the one of the
   * request (OWASP ASVS 5, 7.2.4), so that the user can disconnect providers at once.
   */
  const changePassword = async (
    context: RequestContext,
    { userId, sessionId }: AuthenticatedSession,
    found: EventInProgress,
  ): Promise<HttpResponse> => {
    const current = context.form.get('current_password') ?? ''
    const next = context.form.get('new_password') ?? ''
    const password = await users.changeOrSetPassword(userId, { current, next, sessionId }, context)
    if (password.outcome === 'first_set') return done('password_set')
    const target = pathAfter('password')
    const { grant, changeIn: also } = password
    const answer = await startSession(deps, context, { grant, returnTo: target, found, also })
    if (!answer) throw new AppError('unauthorized', 'This account is gone. Nothing was changed.')
    return answer
  }

  return {
    async show(context: RequestContext, signedIn: AuthenticatedSession): Promise<HttpResponse> {
      const what = context.query.get('done')
      const shown = { ...(await view(context, signedIn)), done: isDone(what) ? what : undefined }
      return page(200, pages.account(shown))
    },

    changeUsername(context: RequestContext, signedIn: AuthenticatedSession): Promise<HttpResponse> {
      const value = context.form.get('username') ?? ''
      const { userId, sessionId } = signedIn
      return orShowAgain(
        context,
        async () => {
          await noting(context, signedIn, 'username_change', () =>
            limits.attempt([['usernameOfUser', userId]], () => users.changeUsername(userId, value, sessionId)),
          )
          return done('username')
        },
        showAgain(context, signedIn, (refusal) => ({ username: { value, error: refusal.errors.username } })),
      )
    },

    changePassword(context: RequestContext, signedIn: AuthenticatedSession): Promise<HttpResponse> {
      return orShowAgain(
        context,
        () =>
          orConfirm(() =>
            noting(context, signedIn, 'password_change', (found) =>
              guardingPassword(signedIn.userId, () => changePassword(context, signedIn, found)),
            ),
          ),
        showAgain(context, signedIn, (refusal) => ({ password: { errors: refusal.errors } })),
      )
    },

    /** Ends one session, or all but this one. */
    async endSessions(context: RequestContext, signedIn: AuthenticatedSession): Promise<HttpResponse> {
      if (context.form.get('all_others') === '1') {
        await noting(context, signedIn, 'session_end', async (found) => {
          found.count = await sessions.endOthers(signedIn.userId, signedIn.sessionId)
        })
        return done('sessions')
      }
      const id = context.form.get('session_id')
      if (!id) throw new AppError('invalid_request', 'Say which session: session_id, or all_others=1.')
      await noting(context, signedIn, 'session_end', async (found) => {
        await sessions.endOwn(signedIn.userId, id, signedIn.sessionId)
        found.endedSessionId = id
      })
      return done('session')
    },

    /** Disconnects a provider. */
    unlink(context: RequestContext, signedIn: AuthenticatedSession): Promise<HttpResponse> {
      const id = context.form.get('identity_id')
      const retryParams = { provider: undefined, returnTo: '/auth/account' }
      return orProblemPage(deps, context, retryParams, async () => {
        if (!id) throw new AppError('invalid_request', 'Say which connection: identity_id.', { field: 'identity_id' })
        await noting(context, signedIn, 'provider_disconnect', async (found) => {
          found.method = await oauth.unlink(id, signedIn)
        })
        return done('unlinked')
      })
    },

    delete(context: RequestContext, signedIn: AuthenticatedSession): Promise<HttpResponse> {
      const { sessionId, userId } = signedIn
      const password = context.form.get('password') ?? ''
      return orShowAgain(
        context,
        () =>
          orConfirm(async () => {
            await noting(context, signedIn, 'account_delete', () =>
              guardingPassword(userId, () => users.deleteOwn(userId, { password, sessionId }, context)),
            )
            context.signOut()
            return redirect('/auth/login?done=deleted')
          }),
        showAgain(context, signedIn, (refusal) => ({ deletion: { error: refusal.errors.password } })),
      )
    },
  }
}
