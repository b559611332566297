import type { PendingLink } from '../../oauth/oauth.ts'
import { decideEntry, type EntryOutcome, type WayIn } from '../../sign-in/entry-policy.ts'
import type { PendingConnection, PendingSignIn } from '../../sign-in/pending-sign-ins.ts'
import type { SignInGrant, StartOptions } from '../../sessions/sessions.ts'
import type { PageDeps } from '../../http/deps.ts'
import type { RequestContext } from '../../http/request-context.ts'
import type { HttpResponse } from '../../http/response.ts'
import { type NewSession, resolveReturnTo } from './start-session.ts'
import { BY_MAIL } from './first-set-up.ts'
import { factorsOf, goOnAt, type NextPage } from './pending.ts'

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

export const createGate = (deps: PageDeps, context: RequestContext, signIn: GatedSignIn): Gate => {
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
