import type { AccountEventName } from '../../lib/account-event.ts'
import { AppError } from '../../lib/errors.ts'
import type { AccountView } from '../../pages/pages.ts'
import { currentTimeMs, type SignedIn } from '../../sessions/sessions.ts'
import type { EventInProgress } from '../account-log.ts'
import type { RouteParts } from '../deps.ts'
import { passwordFormLimits } from '../rate-limit.ts'
import { type Answer, page, redirect, type Visit } from '../request-context.ts'
import { orShowAgain, type Refusal } from './form-problems.ts'
import { orConfirm, orExplain } from './oauth/problem-page.ts'
import { createWaysToSignIn } from './sign-in-methods.ts'
import { enter } from './start-session.ts'

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
const done = (what: Done): Answer => redirect(pathAfter(what))

/** `/auth/account`: what a person can see and change of his own account. */
export const createAccount = (parts: RouteParts) => {
  const { users, sessions, oauth, pages, limits, clock, accountLog } = parts
  const waysToSignIn = createWaysToSignIn(parts)

  const listSessions = async (signedIn: SignedIn) => {
    const { sessions: shown, count } = await sessions.list(signedIn.userId, SHOWN_SESSIONS, signedIn)
    const views = shown.map((session) => ({ ...session, current: session.id === signedIn.sessionId }))
    return { sessions: views, moreSessions: count - shown.length }
  }

  const view = async (visit: Visit, signedIn: SignedIn): Promise<AccountView> => ({
    csrfToken: visit.csrfToken,
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
    (visit: Visit, signedIn: SignedIn, form: (refusal: Refusal) => Partial<AccountView>) => async (refusal: Refusal) =>
      pages.account({ ...(await view(visit, signedIn)), problem: refusal.problem, ...form(refusal) })

  /** Does something to the own account and writes down how it ended. */
  const noting = <T>(
    visit: Visit,
    { userId, sessionId }: SignedIn,
    event: AccountEventName,
    action: (found: EventInProgress) => Promise<T>,
  ): Promise<T> => accountLog.watch(visit, { event, userId, sessionId }, action)

  const guardingPassword = <T>(userId: string, action: () => Promise<T>): Promise<T> =>
    limits.attempt(passwordFormLimits(userId), action)

  /**
   * Changes a password. The user has just given the current one: as after a confirmation, a session that is fresh takes
   * the place of the one before (OWASP ASVS 5, 7.2.4), so that what was connected can be disconnected at once.
   */
  const replacePassword = async (
    visit: Visit,
    { userId, sessionId }: SignedIn,
    next: string,
    found: EventInProgress,
  ): Promise<Answer> => {
    const current = visit.form.get('current_password') ?? ''
    const change = await users.checkPasswordChange(userId, { current, next, sessionId }, visit)
    const target = pathAfter('password')
    const now = { authenticatedAtMs: clock.now(), also: change.makeIn }
    const answer = await enter(parts, visit, { userId, target, found, ...now })
    if (!answer) throw new AppError('unauthorized', 'This account is gone. Nothing was changed.')
    return answer
  }

  /** Changes the password of a user who has one, and sets the first one of a user who has none. */
  const savePassword = async (visit: Visit, signedIn: SignedIn, found: EventInProgress): Promise<Answer> => {
    const { userId, sessionId } = signedIn
    const next = visit.form.get('new_password') ?? ''
    if (await users.hasPassword(userId)) {
      return guardingPassword(userId, () => replacePassword(visit, signedIn, next, found))
    }
    await guardingPassword(userId, () => users.setFirstPassword(userId, { password: next, sessionId }, visit))
    return done('password_set')
  }

  return {
    async show(visit: Visit, signedIn: SignedIn): Promise<Answer> {
      const what = visit.query.get('done')
      const shown = { ...(await view(visit, signedIn)), done: isDone(what) ? what : undefined }
      return page(200, pages.account(shown))
    },

    changeUsername(visit: Visit, signedIn: SignedIn): Promise<Answer> {
      const value = visit.form.get('username') ?? ''
      const { userId, sessionId } = signedIn
      return orShowAgain(
        visit,
        async () => {
          await noting(visit, signedIn, 'username_change', () =>
            limits.attempt([['usernameOfUser', userId]], () => users.changeUsername(userId, value, sessionId)),
          )
          return done('username')
        },
        showAgain(visit, signedIn, (refusal) => ({ username: { value, error: refusal.errors.username } })),
      )
    },

    changePassword(visit: Visit, signedIn: SignedIn): Promise<Answer> {
      return orShowAgain(
        visit,
        () =>
          orConfirm(() => noting(visit, signedIn, 'password_change', (found) => savePassword(visit, signedIn, found))),
        showAgain(visit, signedIn, (refusal) => ({ password: { errors: refusal.errors } })),
      )
    },

    /** Ends one session, or all but this one. */
    async endSessions(visit: Visit, signedIn: SignedIn): Promise<Answer> {
      if (visit.form.get('all_others') === '1') {
        await noting(visit, signedIn, 'session_end', async (found) => {
          found.count = await sessions.endOthers(signedIn.userId, signedIn.sessionId)
        })
        return done('sessions')
      }
      const id = visit.form.get('session_id')
      if (!id) throw new AppError('invalid_request', 'Say which session: session_id, or all_others=1.')
      await noting(visit, signedIn, 'session_end', async (found) => {
        await sessions.endOwn(signedIn.userId, id, signedIn.sessionId)
        found.endedSessionId = id
      })
      return done('session')
    },

    /** Disconnects a provider. */
    unlink(visit: Visit, signedIn: SignedIn): Promise<Answer> {
      const id = visit.form.get('identity_id')
      const wish = { provider: undefined, target: '/auth/account' }
      return orExplain(parts, visit, wish, async () => {
        if (!id) throw new AppError('invalid_request', 'Say which connection: identity_id.', { field: 'identity_id' })
        await noting(visit, signedIn, 'provider_disconnect', async (found) => {
          found.method = await oauth.unlink(id, signedIn)
        })
        return done('unlinked')
      })
    },

    delete(visit: Visit, signedIn: SignedIn): Promise<Answer> {
      const { sessionId, userId } = signedIn
      const password = visit.form.get('password') ?? ''
      return orShowAgain(
        visit,
        () =>
          orConfirm(async () => {
            await noting(visit, signedIn, 'account_delete', () =>
              guardingPassword(userId, () => users.deleteOwn(userId, { password, sessionId }, visit)),
            )
            visit.leaveSession()
            return redirect('/auth/login?done=deleted')
          }),
        showAgain(visit, signedIn, (refusal) => ({ deletion: { error: refusal.errors.password } })),
      )
    },
  }
}
