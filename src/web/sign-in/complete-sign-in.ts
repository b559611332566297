import type { ScreenServices } from '../site/frame.ts'
import type { Services, SessionServices } from '../../http/services.ts'
import type { RequestContext } from '../../http/request-context.ts'
import type { HttpResponse } from '../../http/response.ts'
import { askToProveEmail } from './asking-browser.ts'
import { type NewSession, resolveReturnTo, startSession } from './start-session.ts'
import type { PendingLink } from '../../oauth/oauth.ts'
import { decideEntry, type EntryOutcome, type WayIn } from '../../sign-in/entry-policy.ts'
import type { PendingConnection, PendingSignIn } from '../../sign-in/pending-sign-ins.ts'
import type { SignInGrant, StartOptions } from '../../sessions/sessions.ts'
import { BY_MAIL } from './first-set-up.ts'
import { factorsOf, goOnAt, type NextPage } from './pending.ts'

/** The end of every way to sign in needs these services. */
export type SignInServices = SessionServices &
  Pick<
    ScreenServices,
    | 'afterSignupUrl'
    | 'homeUrl'
    | 'languages'
    | 'oauth'
    | 'layout'
    | 'pendingSignIns'
    | 'links'
    | 'requestMetrics'
    | 'secondFactorMode'
    | 'secondFactors'
  >

/** This is a sign-in whose user has proved what the grant says. */
export interface SignIn extends Omit<NewSession, 'mayStart' | 'trusts'>, Omit<GatedSignIn, 'connect'> {
  /** This tells whether an account whose address must be verified, and is not, gets a message in place of a session. */
  provesEmail?: boolean
}

/**
 * This is THE end of every way to sign in, except for ways that prove everything at once, as a passkey does. It answers
 * with what the user must do first, or starts the session. It does what `also` says in both cases. The result is
 * undefined when the grant is no longer valid; `rate_limited` is thrown as by `startSession`.
 */
export const completeSignIn = async (
  deps: SignInServices,
  context: RequestContext,
  { provesEmail = false, ...signIn }: SignIn,
): Promise<HttpResponse | undefined> => {
  const mailed = provesEmail ? await askToProveEmail(deps, context, signIn) : undefined
  if (mailed) return mailed
  const { mayStart, findNextPage } = createGate(deps, context, signIn)
  return (await startSession(deps, context, { ...signIn, mayStart })) ?? findNextPage()
}

type MayStart = NonNullable<StartOptions['mayStart']>

/** The gate knows this of a sign-in. */
export interface GatedSignIn extends Pick<NewSession, 'grant' | 'returnTo' | 'facts' | 'browser'> {
  way: WayIn
  /** This provider is connected at the end. */
  connect?: { pendingLink: PendingLink; browserSecret: string } | undefined
}

const DONE = async (): Promise<void> => {}

/** A gate asks for what a sign-in needs before its session starts. */
export interface Gate {
  /** This runs in the transaction that starts the session, after the grant has turned out to hold. */
  mayStart: MayStart
  /** Makes a grant that holds only if nothing else is asked for. */
  guard: (grant: SignInGrant) => SignInGrant
  /**
   * Gives the page that asks for the rest, when `mayStart` has said no. No session has started. It throws
   * `rate_limited` past the limit.
   */
  findNextPage: () => Promise<HttpResponse | undefined>
}

export const createGate = (
  deps: Pick<
    Services,
    | 'cookieWriter'
    | 'homeUrl'
    | 'knownBrowsers'
    | 'limits'
    | 'oauth'
    | 'pendingSignIns'
    | 'links'
    | 'requestMetrics'
    | 'secondFactorMode'
    | 'secondFactors'
  >,
  context: RequestContext,
  signIn: GatedSignIn,
): Gate => {
  const { secondFactors, secondFactorMode: mode, knownBrowsers, pendingSignIns } = deps
  const { grant, way, facts, connect, browser = 'announced' } = signIn
  let waiting: { next: NextPage; pending: PendingSignIn } | undefined

  const decide = async (queries: Parameters<MayStart>[0]): Promise<EntryOutcome> => {
    if (mode === 'off') return 'start'
    const factors = factorsOf(await secondFactors.find(grant.userId, queries))
    const known =
      factors === 'none' ? undefined : await knownBrowsers.find(grant.userId, context.cookies.device, queries)
    const purpose = connect ? 'connect' : 'sign_in'
    return decideEntry({ way, purpose, factors, browser: known?.isTrusted ? 'trusted' : 'other', mode })
  }

  const sealConnection = (): PendingConnection | undefined => {
    if (!connect) return undefined
    const { pendingLink, browserSecret } = connect
    // The sign-in itself knows where it ends.
    const linkRequest = deps.oauth.sealLinkRequest({ pendingLink, returnTo: deps.homeUrl }, browserSecret)
    return { provider: pendingLink.profile.provider, linkRequest, browserSecret }
  }

  const mayStart: MayStart = async (transaction) => {
    const next = await decide(transaction)
    if (next === 'start') return true
    const { userId, amr, authenticatedAtMs, provider, identityId } = grant
    const proved = { userId, amr, authenticatedAtMs, provider, identityId, way, browser, connect: sealConnection() }
    const about = { method: facts.method, returnTo: '', confirms: undefined }
    waiting = { next, pending: await pendingSignIns.begin(transaction, { ...proved, ...about }) }
    return false
  }

  return {
    mayStart,

    guard: (granted) => ({
      ...granted,
      isStillValid: async (transaction) => (await granted.isStillValid(transaction)) && mayStart(transaction),
    }),

    async findNextPage() {
      if (!waiting) return undefined
      const { next, pending } = waiting
      // This limit is apart from the limit of logins that end, so that a thief of the password cannot use that up. A
      // link works only once anyway.
      if (!BY_MAIL.has(way))
        await deps.limits.attempt([['unfinishedLogin', { userId: grant.userId, network: context.network }]], DONE)
      deps.requestMetrics?.countAskedFactor(next === 'ask' ? 'code' : 'set_up')
      // The log has one line for this half; the event itself comes at the end.
      if (facts.event === 'login') facts.event = 'second_factor_request'
      return goOnAt(deps, context, next, { ...pending, returnTo: await resolveReturnTo(signIn.returnTo) })
    },
  }
}
