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

/** What the end of every way to sign in needs. */
export type SignInServices = SessionServices &
  Pick<
    Services,
    | 'homeUrl'
    | 'oauth'
    | 'pages'
    | 'pendingSignIns'
    | 'recovery'
    | 'requestMetrics'
    | 'secondFactorMode'
    | 'secondFactors'
  >

/** A sign-in whose user has proved what the grant says. */
export interface SignIn extends Omit<NewSession, 'mayStart' | 'trusts'>, Omit<GatedSignIn, 'connect'> {
  /** Whether an account whose address must be verified, and is not, gets a message in place of a session. */
  provesEmail?: boolean
}

/**
 * THE end of every way to sign in, but for those that prove everything at once, as a passkey does. Answers with what the
 * user must do first, or starts the session. What `also` does is done in both cases. Undefined when the grant is no
 * longer valid; `rate_limited` as `startSession`.
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

/** What the gate knows of a sign-in. */
export interface GatedSignIn extends Pick<NewSession, 'grant' | 'returnTo' | 'facts' | 'browser'> {
  way: WayIn
  /** The provider that is connected at the end. */
  connect?: { pendingLink: PendingLink; browserSecret: string } | undefined
}

const DONE = async (): Promise<void> => {}

/** Asks what a sign-in needs before its session starts. */
export interface Gate {
  /** In the transaction that starts the session, once the grant has turned out to hold. */
  mayStart: MayStart
  /** The grant, which holds only where nothing else is asked for. */
  guard: (grant: SignInGrant) => SignInGrant
  /** Where `mayStart` has said no: the page that asks for the rest. No session has started. `rate_limited` past the limit. */
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
    | 'recovery'
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
      // Apart from logins that end, which a thief of the password could use up for the owner. A link is good once anyway.
      if (!BY_MAIL.has(way))
        await deps.limits.attempt([['unfinishedLogin', { userId: grant.userId, network: context.network }]], DONE)
      deps.requestMetrics?.countAskedFactor(next === 'ask' ? 'code' : 'set_up')
      // One line in the log for this half; the event itself comes at the end.
      if (facts.event === 'login') facts.event = 'second_factor_request'
      return goOnAt(deps, context, next, { ...pending, returnTo: await resolveReturnTo(signIn.returnTo) })
    },
  }
}
