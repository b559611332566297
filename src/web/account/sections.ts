import type { AuditRow } from '../../audit/audit.ts'
import { type ActivityView, shownActivity } from './account-activity.ts'
import type { PasskeysView, SecondFactorSectionView } from './account-view.ts'
import type { AuthenticatedSession } from '../../sessions/sessions.ts'
import type { Services } from '../../http/services.ts'
import type { RequestContext } from '../../http/request-context.ts'

const SHOWN = 10

/** Finds the last records of a user for the account page. They begin where the account became that user's. */
export const findRecentActivity = async (
  { audit, providers }: Pick<Services, 'audit' | 'providers'>,
  { userId, sessionId }: AuthenticatedSession,
): Promise<ActivityView[]> => {
  const labelOf = (name: string): string => providers.find((each) => each.name === name)?.label ?? name

  const toView = ({ type, atMs, actor, userAgent, address, details, ...row }: AuditRow): ActivityView => {
    const { method, provider, reason, count = 1 } = JSON.parse(details) as Details
    const how = provider ?? method
    return {
      type,
      atMs,
      by: BY[actor] ?? 'operator',
      userAgent,
      address,
      method: how === undefined ? undefined : labelOf(how),
      reason,
      count,
      isCurrent: row.sessionId === sessionId,
    }
  }

  const rows = await audit.latestOf(userId, { types: shownActivity, limit: SHOWN })
  return rows.map(toView)
}

interface Details {
  method?: string
  provider?: string
  reason?: string
  count?: number
}

/** All others are operators: they act on the command line, or through the application's backend. */
const BY: Record<string, ActivityView['by']> = { user: 'user', system: 'service' }

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

/** Finds what the account page shows of passkeys. The result is undefined if passkeys are off. */
export const findPasskeySection = async (
  { passkeys, sessions }: Pick<Services, 'passkeys' | 'sessions'>,
  session: AuthenticatedSession,
): Promise<PasskeysView | undefined> => {
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
    isOffered: list.length === 0 && isRecentlyAuthenticated && session.amr.includes('pwd'),
    accepted: await passkeys.accepted(session.userId),
  }
}
