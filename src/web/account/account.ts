import { AppError } from '../../lib/errors.ts'
import type { LimitedBy } from '../../limits/limits.ts'
import type { AccountView } from '../../pages/account/account-view.ts'
import { type AccountDone, type SectionId, isAccountDone } from '../../pages/site/account-done.ts'
import { type AuthenticatedSession, currentTimeMs } from '../../sessions/sessions.ts'
import type { EventFacts } from '../../audit/account-log.ts'
import type { PageDeps } from '../../http/deps.ts'
import { passwordFormLimits } from '../../limits/password-form-limits.ts'
import type { RequestContext } from '../../http/request-context.ts'
import { type HttpResponse, page, redirect } from '../../http/response.ts'
import { readReturnTo } from '../../http/return-to.ts'
import type { ShowAgain } from '../../http/route.ts'
import { createAccountEmail } from './account-email.ts'
import { doneAtLogin, doneOnAccount, isDone } from '../site/done.ts'
import { orShowAgain, type Refusal } from '../../http/form-problems.ts'
import { orProblemPage } from '../sign-in/problem-page.ts'
import { findSecondFactorSection } from './account-section.ts'
import { createChangePasskey, refusedName } from './change-passkey.ts'
import { findPasskeySection } from './passkey-section.ts'
import { findRecentActivity } from './recent-activity.ts'
import { createSignInMethods } from '../sign-in/sign-in-methods.ts'
import { startSession } from '../sign-in/start-session.ts'
import { stayAtLogin } from '../sign-in/stay-at-login.ts'

const SHOWN_SESSIONS = 100

/** A form of the account page. */
interface AccountForm {
  event: EventFacts['event']
  limits: LimitedBy[]
  action: (facts: EventFacts) => Promise<HttpResponse>
  showAgain: ShowAgain<[AuthenticatedSession]>
}

/** `/auth/account`: what users can see and change of their own account. */
export const createAccount = (deps: PageDeps) => {
  const { users, sessions, oauth, pages, limits, clock, accountLog, usernames, passwords, mail } = deps
  const accountEmail = createAccountEmail(deps)
  const signInMethods = createSignInMethods(deps)

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
    password: passwords ? { errors: {} } : undefined,
    deletion: { isBehindConfirmation: await sessions.lacksMfa(session) },
    signIn: await signInMethods.forAccountPage(session),
    secondFactor: await findSecondFactorSection(deps, context, session),
    passkeys: await findPasskeySection(deps, session),
    activity: await findRecentActivity(deps, session),
  })

  /** To the account page, which then says what was done. */
  const done = (context: RequestContext, { userId }: AuthenticatedSession, what: AccountDone): HttpResponse =>
    redirect(doneOnAccount(deps, context, userId, what))

  const recordOutcome = <T>(
    context: RequestContext,
    { userId, sessionId }: AuthenticatedSession,
    event: EventFacts['event'],
    action: (facts: EventFacts) => Promise<T>,
  ): Promise<T> => accountLog.recordOutcome(context, { event, userId, sessionId }, action)

  /** Runs the action of a form within its limits, and logs its outcome. A refused form is shown again. */
  const submit = (context: RequestContext, session: AuthenticatedSession, form: AccountForm): Promise<HttpResponse> => {
    const attempt = (facts: EventFacts) => limits.attempt(form.limits, () => form.action(facts))
    return orShowAgain(
      context,
      () => recordOutcome(context, session, form.event, attempt),
      (refusal) => form.showAgain(context, refusal, session),
    )
  }

  /** What the page shows of a refused form. */
  const shown =
    (ofForm: (context: RequestContext, refusal: Refusal) => Partial<AccountView>): ShowAgain<[AuthenticatedSession]> =>
    async (context, refusal, session) =>
      pages.account({
        ...(await view(context, session)),
        problem: refusal.problem,
        at: sectionOfForm(context),
        ...ofForm(context, refusal),
      })

  /** The page again, by the form that was refused. */
  const showAgain = {
    email: shown(accountEmail.shownAgain),
    username: shown((context, { errors }) => ({
      username: usernames ? { value: context.form.get('username') ?? '', error: errors.username } : undefined,
    })),
    password: shown((_context, { errors }) => ({ password: { errors } })),
    deletion: shown((_context, { errors }) => ({ deletion: { error: errors.password, isOpen: true } })),
    passkey: shown(refusedName),
    button: shown(() => ({})),
  }

  /**
   * The user has just given the current password: as after re-authentication, a fresh session replaces the one of the
   * request (OWASP ASVS 5, 7.2.4), so that the user can disconnect providers at once.
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
    if (!response) throw new AppError('unauthorized', 'This account is gone. Nothing was changed.')
    return response
  }

  return {
    showAgain,

    async show(context: RequestContext, session: AuthenticatedSession): Promise<HttpResponse> {
      const what = context.query.get('done')
      const done = isAccountDone(what) && isDone(context, what, session.userId) ? what : undefined
      return page(200, pages.account({ ...(await view(context, session)), done, at: context.query.get('at') }))
    },

    /** Asks for another address, or cancels that. While mail is off, the page says whom to ask instead. */
    async changeEmail(context: RequestContext, session: AuthenticatedSession): Promise<HttpResponse> {
      if (!mail.isOn) return page(404, pages.account(await view(context, session)))
      const { event, done: what, run } = accountEmail.actionOf(context, session)
      return submit(context, session, {
        event,
        limits: [],
        async action() {
          await run()
          return done(context, session, what)
        },
        showAgain: showAgain.email,
      })
    },

    changeUsername(context: RequestContext, session: AuthenticatedSession): Promise<HttpResponse> {
      const value = context.form.get('username') ?? ''
      return submit(context, session, {
        event: 'username_change',
        limits: [['usernameOfUser', { userId: session.userId }]],
        async action() {
          await users.changeUsername(session.userId, value, session.sessionId, context)
          return done(context, session, 'username')
        },
        showAgain: showAgain.username,
      })
    },

    changePassword(context: RequestContext, session: AuthenticatedSession): Promise<HttpResponse> {
      return submit(context, session, {
        event: 'password_change',
        limits: passwordFormLimits(session.userId),
        action: (facts) => changePassword(context, session, facts),
        showAgain: showAgain.password,
      })
    },

    changePasskey: createChangePasskey(deps, showAgain.passkey),

    /** Ends one session, or all but this one. */
    async endSessions(context: RequestContext, session: AuthenticatedSession): Promise<HttpResponse> {
      const { userId, sessionId } = session
      if (context.form.get('all_others') === '1') {
        await recordOutcome(context, session, 'session_end', async (facts) => {
          facts.count = await sessions.endOthers(userId, sessionId, context)
        })
        return done(context, session, 'sessions')
      }
      const id = context.form.get('session_id')
      if (!id) throw new AppError('invalid_request', 'Say which session: session_id, or all_others=1.')
      await recordOutcome(context, session, 'session_end', async (facts) => {
        await sessions.endOwn(userId, id, { ownId: sessionId, caller: context })
        facts.endedSessionId = id
      })
      return done(context, session, 'session')
    },

    /** From now on every browser is asked for a code again. */
    async forgetTrustedBrowsers(context: RequestContext, session: AuthenticatedSession): Promise<HttpResponse> {
      if (context.form.get('forget_trusted') !== '1')
        throw new AppError('invalid_request', 'Say what to do: forget_trusted=1.', { field: 'forget_trusted' })
      await recordOutcome(context, session, 'trusted_browsers_forget', async (facts) => {
        facts.count = await deps.knownBrowsers.endTrust(session.userId, context)
      })
      return done(context, session, 'trusted_browsers_forgotten')
    },

    /** Disconnects a provider. */
    unlink(context: RequestContext, session: AuthenticatedSession): Promise<HttpResponse> {
      const id = context.form.get('identity_id')
      return orProblemPage(deps, context, { provider: undefined, returnTo: '/auth/account' }, async () => {
        if (!id) throw new AppError('invalid_request', 'Say which connection: identity_id.', { field: 'identity_id' })
        const returnTo = readReturnTo(context, deps, undefined)
        await recordOutcome(context, session, 'provider_disconnect', async (facts) => {
          facts.method = await oauth.unlink(id, session, context)
        })
        const path = doneOnAccount(deps, context, session.userId, 'unlinked')
        return redirect(returnTo ?? path)
      })
    },

    delete(context: RequestContext, session: AuthenticatedSession): Promise<HttpResponse> {
      const { sessionId, userId } = session
      const password = context.form.get('password') ?? ''
      return submit(context, session, {
        event: 'account_delete',
        limits: passwordFormLimits(userId),
        async action() {
          await users.deleteOwn(userId, { password, sessionId }, context)
          context.signOut()
          stayAtLogin(deps, context)
          return redirect(doneAtLogin(deps, context, 'deleted'))
        },
        showAgain: showAgain.deletion,
      })
    },
  }
}

/** Where the account page has the form of a request. */
const sectionOfForm = ({ target }: RequestContext): AccountView['at'] =>
  FORM_SECTIONS[/^\/auth\/account\/(\w+)/.exec(target)?.[1] ?? '']

const FORM_SECTIONS: Readonly<Record<string, SectionId>> = {
  email: 'email-section',
  username: 'username-section',
  password: 'change-password',
  sessions: 'sessions',
  browsers: 'second-factor',
  identities: 'ways-in',
  passkeys: 'passkeys',
  delete: 'delete-account',
}
