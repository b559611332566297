import { createAccountPage } from './account-page.ts'
import type { ScreenServices } from '../site/frame.ts'
import type { OfferedWays, SessionServices } from '../../http/services.ts'
import { readReturnTo, type ReturnTargets } from '../../http/return-to.ts'
import { AppError } from '../../lib/errors.ts'
import { type AccountDone, isAccountDone } from '../site/account-done.ts'
import { type AccountView, placeOfForm } from './account-view.ts'
import { type AuthenticatedSession, currentTimeMs } from '../../sessions/sessions.ts'
import type { EventFacts } from '../../audit/account-log.ts'
import type { RequestContext } from '../../http/request-context.ts'
import { type HttpResponse, page, redirect } from '../../http/response.ts'
import type { FormModule, Refusal } from '../../http/route.ts'
import { ACCOUNT_PATH } from '../../http/step-up.ts'
import { createAccountEmail } from './account-email.ts'
import { doneAtLogin, doneOnAccount, isDone } from '../site/done.ts'
import { orProblemPage } from '../sign-in/provider-flow.ts'
import { findPasskeySection, findRecentActivity, findSecondFactorSection } from './sections.ts'
import { DEVICES_PATH } from './list-pages.ts'
import { disconnect, findApplications } from './applications.ts'
import { createOwnData } from './own-data.ts'
import { changePasskey, refusedName } from './change-passkey.ts'
import { createSignInMethods } from '../sign-in/ways-in.ts'
import { accountGone, startSession } from '../sign-in/start-session.ts'
import { stayAtLogin } from '../sign-in/offered-ways.ts'
import { nameView, requireTypedName } from '../site/person-name.ts'

/** The account page shows so many devices, and a page of its own shows all. */
const SHOWN_SESSIONS = 3

/** Handles `/auth/account`: users see and change their own account there. */
export const createAccount = (
  deps: SessionServices &
    OfferedWays &
    ReturnTargets &
    Pick<
      ScreenServices,
      | 'audit'
      | 'clock'
      | 'emailDomains'
      | 'findCurrentSession'
      | 'hasClients'
      | 'loadClients'
      | 'log'
      | 'mail'
      | 'oauth'
      | 'layout'
      | 'iconOf'
      | 'links'
      | 'secondFactors'
      | 'signup'
      | 'names'
      | 'usernames'
      | 'users'
    >,
) => {
  const { users, sessions, oauth, layout, clock, names, usernames, passwords, mail } = deps
  const accountPage = createAccountPage(layout)
  const accountEmail = createAccountEmail(deps)
  const signInMethods = createSignInMethods(deps)
  const sendOwnData = createOwnData(deps)

  const listSessions = async (current: AuthenticatedSession) => {
    const { sessions: shown, count } = await sessions.list(current.userId, SHOWN_SESSIONS, current)
    const views = shown.map((session) => ({ ...session, current: session.id === current.sessionId }))
    return { sessions: views, moreSessions: count - shown.length }
  }

  const view = async (context: RequestContext, session: AuthenticatedSession): Promise<AccountView> => ({
    csrfToken: context.csrfToken,
    user: session,
    nowMs: currentTimeMs(session, clock),
    ...(await listSessions(session)),
    ...(await accountEmail.forAccountPage(session)),
    username: usernames ? { value: session.username } : undefined,
    name: nameView(names, session.name),
    password: passwords ? { errors: {} } : undefined,
    data: { isRecentlyAuthenticated: await sessions.isRecentlyAuthenticated(session) },
    deletion: { isBehindConfirmation: await sessions.lacksMfa(session) },
    signIn: await signInMethods.forAccountPage(session),
    secondFactor: await findSecondFactorSection(deps, context, session),
    passkeys: await findPasskeySection(deps, context, session),
    applications: await findApplications(deps, session.userId, layout.appName),
    activity: await findRecentActivity(deps, session),
  })

  /** Redirects to the account page, which then says what was done. */
  const done = (
    context: RequestContext,
    { userId }: AuthenticatedSession,
    what: AccountDone,
    returnTo?: string,
  ): HttpResponse => {
    const path = doneOnAccount(deps, context, userId, what)
    return redirect(returnTo === DEVICES_PATH ? `${DEVICES_PATH}?done=${what}#done` : (returnTo ?? path))
  }

  /** Makes the handler of a form of the page. The page shows `ofForm` when the form was refused. */
  const form = (
    act: FormModule<[AuthenticatedSession]>['act'],
    ofForm: (context: RequestContext, refusal: Refusal) => Partial<AccountView> = () => ({}),
  ): FormModule<[AuthenticatedSession]> => ({
    act,
    showAgain: async (context, refusal, session) =>
      accountPage({
        ...(await view(context, session)),
        problem: refusal.problem,
        at: placeOfForm(context.target),
        ...ofForm(context, refusal),
      }),
  })

  /**
   * The user has just given the current password. A fresh session replaces the session of the request, as after
   * re-authentication (OWASP ASVS 5, 7.2.4), so that the user can disconnect providers at once.
   */
  const changePassword = async (
    context: RequestContext,
    session: AuthenticatedSession,
    facts: EventFacts,
  ): Promise<HttpResponse> => {
    const { userId, sessionId } = session
    const current = context.form.get('current_password') ?? ''
    const next = context.form.get('new_password') ?? ''
    const password = await users.changeOrSetPassword(userId, { current, next, sessionId }, context)
    if (password.outcome === 'first_set') return done(context, session, 'password_set')
    const { grant, apply: also } = password
    const returnTo = async () => doneOnAccount(deps, context, userId, 'password')
    const change = { grant, returnTo, facts, also, keepsMfaOf: sessionId }
    const response = await startSession(deps, context, change)
    if (!response) throw accountGone()
    return response
  }

  return {
    page: {
      async show(context: RequestContext, session: AuthenticatedSession): Promise<HttpResponse> {
        const what = context.query.get('done')
        const done = isAccountDone(what) && isDone(context, what, session.userId) ? what : undefined
        return page(200, accountPage({ ...(await view(context, session)), done, at: context.query.get('at') }))
      },
    },

    /** Asks for another address, or cancels such a request. While mail is off, the page says whom to ask instead. */
    email: form(async (context, session, attempt) => {
      if (!mail.isOn) return page(404, accountPage(await view(context, session)))
      const { event, done: what, run } = accountEmail.actionOf(context, session)
      return attempt({ event }, async () => {
        await run()
        return done(context, session, what)
      })
    }, accountEmail.shownAgain),

    username: form(
      (context, session, attempt) =>
        attempt({}, async () => {
          await users.changeUsername(session.userId, context.form.get('username') ?? '', session.sessionId, context)
          return done(context, session, 'username')
        }),
      (context, { errors }) => ({
        username: usernames ? { value: context.form.get('username') ?? '', error: errors.username } : undefined,
      }),
    ),

    name: form(
      (context, session, attempt) =>
        attempt({}, async () => {
          await users.changeName(session.userId, requireTypedName(context, names), session.sessionId, context)
          return done(context, session, 'name')
        }),
      (context, { errors }) => ({ name: nameView(names, context.form.get('name'), errors.name) }),
    ),

    password: form(
      (context, session, attempt) => attempt({}, (facts) => changePassword(context, session, facts)),
      (_context, { errors }) => ({ password: { errors } }),
    ),

    passkeys: form((context, session, attempt) => changePasskey(deps, context, session, attempt), refusedName),

    /** Ends one session, or all except the current one. */
    sessions: form((context, session, attempt) => {
      const { userId, sessionId } = session
      const returnTo = readReturnTo(context, deps, undefined)
      if (context.form.get('all_others') === '1')
        return attempt({}, async (facts) => {
          facts.count = await sessions.endOthers(userId, sessionId, context)
          return done(context, session, 'sessions', returnTo)
        })
      const id = context.form.get('session_id')
      if (!id) throw new AppError('invalid_request', 'Say which session: session_id, or all_others=1.')
      return attempt({}, async (facts) => {
        await sessions.endOwn(userId, id, { ownId: sessionId, caller: context })
        facts.endedSessionId = id
        return done(context, session, 'session', returnTo)
      })
    }),

    /** Makes every browser ask for a code again. */
    browsers: form((context, session, attempt) => {
      if (context.form.get('forget_trusted') !== '1')
        throw new AppError('invalid_request', 'Say what to do: forget_trusted=1.', { field: 'forget_trusted' })
      return attempt({}, async (facts) => {
        facts.count = await deps.knownBrowsers.endTrust(session.userId, context)
        return done(context, session, 'trusted_browsers_forgotten')
      })
    }),

    applications: form((context, session, attempt) =>
      attempt({}, async (facts) => done(context, session, await disconnect(deps, context, session.userId, facts))),
    ),

    identities: form((context, session, attempt) =>
      orProblemPage(deps, context, { provider: undefined, returnTo: ACCOUNT_PATH }, async () => {
        const id = context.form.get('identity_id')
        if (!id) throw new AppError('invalid_request', 'Say which connection: identity_id.', { field: 'identity_id' })
        const returnTo = readReturnTo(context, deps, undefined)
        return attempt({}, async (facts) => {
          facts.method = await oauth.unlink(id, session, context)
          const path = doneOnAccount(deps, context, session.userId, 'unlinked')
          return redirect(returnTo ?? path)
        })
      }),
    ),

    /**
     * Sends the message that confirms the address again. Past the limits nothing is sent, and the page says the same.
     */
    verification: form((context, session, attempt) => {
      const sendAgain = accountEmail.confirmationOf(context, session)
      return attempt({ sessionId: undefined }, async () => {
        await sendAgain()
        return done(context, session, 'verification_sent')
      })
    }),

    /** Sends what svc keeps about the user, as a file. The record and the notice of it are written first. */
    data: form((context, session, attempt) =>
      attempt({}, async () => {
        await users.recordExport(session, context)
        return sendOwnData(session)
      }),
    ),

    deletion: form(
      (context, { userId, sessionId }, attempt) =>
        attempt({}, async () => {
          await users.deleteOwn(userId, { password: context.form.get('password') ?? '', sessionId }, context)
          context.signOut()
          stayAtLogin(deps, context)
          return redirect(doneAtLogin(deps, context, 'deleted'))
        }),
      (_context, { errors }) => ({ deletion: { error: errors.password, isOpen: true } }),
    ),
  }
}
