import { AUDIT_TYPES } from '../../audit/audit-event.ts'
import type { AuditQuery } from '../../audit/audit.ts'
import type { Fields } from '../../http/body/form.ts'
import { canonicalAddress } from '../../lib/address.ts'
import { AppError } from '../../lib/errors.ts'
import { readTimestamp } from '../../lib/time.ts'
import type { AdminServices } from '../services.ts'

/** What was asked for, as it was entered. */
export interface EventFilter {
  type: string | undefined
  user: string | undefined
  actor: string | undefined
  address: string | undefined
  request: string | undefined
  since: string | undefined
  until: string | undefined
}

const NAMES = ['type', 'user', 'actor', 'address', 'request', 'since', 'until'] as const satisfies (keyof EventFilter)[]

/** Reads the filter from an address or a form; what is empty counts as left out. */
export const readFilter = (fields: Fields): EventFilter =>
  Object.fromEntries(NAMES.map((name) => [name, fields.get(name)?.trim() || undefined])) as unknown as EventFilter

export const isFiltered = (filter: EventFilter): boolean => NAMES.some((name) => filter[name] !== undefined)

/** Finds what a filter means. Throws `unprocessable` for what cannot be meant. */
export const toQuery = async ({ users }: Pick<AdminServices, 'users'>, filter: EventFilter): Promise<AuditQuery> => ({
  type: readType(filter.type),
  // Records keep the id of a deleted user.
  userId: filter.user && ((await users.find(filter.user))?.id ?? filter.user.toLowerCase()),
  actor: readActor(filter.actor),
  address: filter.address && (canonicalAddress(filter.address) ?? refuse('address', 'an address such as 198.51.100.7')),
  requestId: filter.request?.toLowerCase(),
  sinceMs: readTime('since', filter.since),
  untilMs: readTime('until', filter.until),
})

const refuse = (field: string, expected: string): never => {
  throw new AppError('unprocessable', `The field "${field}" must be ${expected}.`, { field })
}

const readType = (text: string | undefined) => {
  if (text === undefined) return undefined
  return AUDIT_TYPES.find((type) => type === text) ?? refuse('type', 'one of the types of records')
}

/** Most records are those of users, who are found in other ways. */
const readActor = (text: string | undefined): string | undefined =>
  text === 'user' ? refuse('actor', 'cli, system, admin:NAME or api:NAME') : text

/** A browser gives a time without a zone: it is UTC here, as the page says. */
const readTime = (field: string, text: string | undefined): number | undefined => {
  if (text === undefined) return undefined
  const whole = /^\d{4}-\d\d-\d\dT\d\d:\d\d$/.test(text) ? `${text}:00` : text
  return readTimestamp(whole) ?? readTimestamp(`${whole}Z`) ?? refuse(field, 'a time such as 2026-11-22T20:15')
}
