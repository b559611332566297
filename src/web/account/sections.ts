import type { AuditRow } from '../../audit/audit.ts'
import type { ActivityView, PasskeysView, SecondFactorSectionView } from './account-view.ts'
import { shownActivity } from './activity-texts.ts'
import type { AuthenticatedSession } from '../../sessions/sessions.ts'
import { isByMailAlone } from '../../sessions/sign-in-grant.ts'
import type { Services } from '../../http/services.ts'
import type { RequestContext } from '../../http/request-context.ts'

/** The account page shows so many events, and a page of its own shows all. */
const SHOWN = 4

/** Makes the view of a record of the user. */
const toView = (
  { type, atMs, actor, userAgent, address, details, ...row }: AuditRow,
  providers: Services['providers'],
  sessionId: string,
): ActivityView => {
  const { method, provider, client_name: application, reason, count = 1 } = JSON.parse(details) as Details
  const how = provider ?? method
  return {
    type,
    atMs,
    by: actorOf(actor),
    userAgent,
    address,
    method: how === undefined ? undefined : (providers.find(({ name }) => name === how)?.label ?? how),
    application,
    reason,
    count,
    isCurrent: row.sessionId === sessionId,
  }
}

type ActivityServices = Pick<Services, 'audit' | 'providers'>

/** Finds the last records of a user for the account page. They begin where the account became that user's. */
export const findRecentActivity = async (
  { audit, providers }: ActivityServices,
  { userId, sessionId }: AuthenticatedSession,
): Promise<ActivityView[]> => {
  const rows = await audit.latestOf(userId, { types: shownActivity, limit: SHOWN })
  return rows.map((row) => toView(row, providers, sessionId))
}

/** Finds a page of all of them. It throws `invalid_request` for a cursor that is none of this list. */
export const findActivityPage = async (
  { audit, providers }: ActivityServices,
  { userId, sessionId }: AuthenticatedSession,
  page: { limit: number; cursor: string | undefined },
): Promise<{ activity: ActivityView[]; nextCursor: string | undefined }> => {
  const { events, nextCursor } = await audit.ownPage({ userId, ...page })
  return { activity: events.map((row) => toView(row, providers, sessionId)), nextCursor }
}

interface Details {
  method?: string
  provider?: string
  client_name?: string
  reason?: string
  count?: number
}

const BY: Record<string, ActivityView['by']> = { user: 'user', system: 'service' }

/** All others are operators: they act on the command line, or through the application's backend. */
export const actorOf = (actor: string): ActivityView['by'] => BY[actor] ?? 'operator'

/** Finds what the account page says about codes of an app and recovery codes. */
export const findSecondFactorSection = async (
  { secondFactors, knownBrowsers }: Pick<Services, 'secondFactors' | 'knownBrowsers'>,
  { csrfToken }: RequestContext,
  { userId }: { userId: string },
): Promise<SecondFactorSectionView | undefined> => {
  const { codes, passkeys, recoveryCodes } = await secondFactors.find(userId)
  const hasFactor = codes || passkeys > 0
  if (!secondFactors.acceptsCodes && !hasFactor) return undefined
  return {
    csrfToken,
    trustedBrowsers: hasFactor ? await knownBrowsers.countTrusted(userId) : 0,
    hasApp: secondFactors.acceptsCodes ? codes : undefined,
    recoveryCodes: hasFactor ? recoveryCodes : undefined,
  }
}

const MONTH_MS = 30 * 86_400_000

/** Tells whether this browser has shown the offer of a passkey after a sign-in by mail within the last month. */
const wasOffered = ({ single: { offered } }: RequestContext['cookies'], nowMs: number): boolean => {
  const offeredAtMs = Number(offered ?? Number.NaN) * 1000
  return offeredAtMs <= nowMs && nowMs - offeredAtMs < MONTH_MS
}

/** Decides whether a first passkey is offered, and remembers it in the browser. */
const offerPasskey = (
  { clock, cookieWriter }: Pick<Services, 'clock' | 'cookieWriter'>,
  context: RequestContext,
  { amr }: AuthenticatedSession,
  isRecentlyAuthenticated: boolean,
): PasskeysView['offer'] => {
  if (isRecentlyAuthenticated && amr.includes('pwd')) return 'after_password'
  const nowMs = clock.now()
  if (!isByMailAlone(amr) || wasOffered(context.cookies, nowMs)) return undefined
  context.setCookies([cookieWriter.offered(nowMs, MONTH_MS)])
  return 'after_mail'
}

/** Finds what the account page shows of passkeys. The result is undefined if passkeys are off. */
export const findPasskeySection = async (
  deps: Pick<Services, 'clock' | 'cookieWriter' | 'passkeys' | 'sessions'>,
  context: RequestContext,
  session: AuthenticatedSession,
): Promise<PasskeysView | undefined> => {
  const { passkeys, sessions } = deps
  if (!passkeys.isOn) return undefined
  const list = await passkeys.list(session.userId)
  const isRecentlyAuthenticated = await sessions.isRecentlyAuthenticated(session)
  return {
    list: list.map(({ createdAtMs: addedAtMs, isBackupEligible: isSynced, ...passkey }) => ({
      ...passkey,
      addedAtMs,
      isSynced,
    })),
    isRecentlyAuthenticated,
    offer: list.length === 0 ? offerPasskey(deps, context, session, isRecentlyAuthenticated) : undefined,
    accepted: await passkeys.accepted(session.userId),
  }
}
