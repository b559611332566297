import type { AuditRow } from '../../audit/audit.ts'
import { type ActivityView, shownActivity } from '../../pages/account/account-activity.ts'
import type { AuthenticatedSession } from '../../sessions/sessions.ts'
import type { RouteDeps } from '../../http/deps.ts'

const SHOWN = 10

/** What the account page tells of the last records of a user, beginning where the account became theirs. */
export const findRecentActivity = async (
  { audit, providers }: Pick<RouteDeps, 'audit' | 'providers'>,
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

/** All others are operators: on the command line, or by the application's backend. */
const BY: Record<string, ActivityView['by']> = { user: 'user', system: 'service' }
