import type { AuditRow } from '../../audit/audit.ts'
import { deviceName } from '../../web/site/device.ts'
import { plural } from '../site/parts.ts'

/** Says what happened by the type of the record: "Password reset link created". The documents have the types. */
export const happened = (type: string): string => {
  const words = type.replaceAll(/[._]/g, ' ')
  return words.slice(0, 1).toUpperCase() + words.slice(1)
}

/** These details are said in words; all others by their names. */
const said: Record<string, (value: unknown, type: string) => string> = {
  count: (value, type) => (type.startsWith('login.') ? plural(Number(value), 'time') : `${String(value)} of them`),
  method: (value) => `by ${String(value).replaceAll('_', ' ')}`,
  reason: (value) => `reason: ${String(value)}`,
}

const textOf = (value: unknown): string => (Array.isArray(value) ? value.join(' ') || 'none' : String(value))

export const detailsText = (type: string, details: Record<string, unknown>): string =>
  Object.entries(details)
    .filter(([name, value]) => name !== 'count' || value !== 1)
    // Ids are for those who look for them.
    .toSorted(([one], [other]) => Number(one.endsWith('_id')) - Number(other.endsWith('_id')))
    .map(([name, value]) => said[name]?.(value, type) ?? `${name.replaceAll('_', ' ')} ${textOf(value)}`)
    .join(', ')

/** Says who did it, and from where. */
export const originText = ({ actor, userAgent, address }: AuditRow): string => {
  const from = [userAgent === undefined ? undefined : deviceName(userAgent), address].filter(Boolean).join(', ')
  const by = actor === 'user' ? undefined : `by ${actor}`
  return [by, from].filter(Boolean).join(' · ')
}
