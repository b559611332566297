import type { AuditRow } from '../audit/audit.ts'
import { toSecond } from './terminal/output.ts'
import type { Column } from './terminal/table.ts'

const RED: readonly string[] = ['login.failed', 'login.limited', 'session.refreshed_reuse', 'webhook.given_up']

/** `count=3 reason=credentials_wrong` */
const detailsText = ({ details }: AuditRow): string =>
  Object.entries(JSON.parse(details) as Record<string, unknown>)
    .map(([name, value]) => `${name}=${Array.isArray(value) ? value.join(',') : String(value)}`)
    .join(' ')

/** A record with the address of its user, who may be gone. */
export type ShownRecord = AuditRow & { email?: string | undefined }

export const AUDIT_COLUMNS: Column<ShownRecord>[] = [
  { title: 'at (UTC)', value: ({ atMs }) => toSecond(atMs) },
  { title: 'type', value: ({ type }) => type, tone: ({ type }) => (RED.includes(type) ? 'red' : undefined) },
  { title: 'actor', value: ({ actor }) => actor, minWidth: 6 },
  { title: 'user', value: ({ email, userId }) => email ?? userId ?? '', minWidth: 16 },
  { title: 'address', value: ({ address }) => address ?? '', minWidth: 9 },
  { title: 'details', value: detailsText, minWidth: 12, optional: true },
]
