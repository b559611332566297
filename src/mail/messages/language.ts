import { t, type TextKey } from '../../languages/texts.ts'

/** A text differs where accounts have no passwords if its key has this beginning. */
export type PasswordKey = TextKey extends infer Key
  ? Key extends `${infer Start}_passwordless`
    ? Start
    : never
  : never

const SECOND_MS = 1000
const MINUTE_MS = 60 * SECOND_MS
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS

/** Chooses a unit in which a duration is a short number: 90 minutes, 72 hours, 7 days. */
const unitOf = (ms: number): readonly [name: 'days' | 'hours' | 'minutes' | 'seconds', ms: number] => {
  if (ms >= 4 * DAY_MS) return ['days', DAY_MS]
  if (ms >= 3 * HOUR_MS || (ms > 0 && ms % HOUR_MS === 0)) return ['hours', HOUR_MS]
  return ms >= MINUTE_MS ? ['minutes', MINUTE_MS] : ['seconds', SECOND_MS]
}

/** Writes "This link works for one hour." It rounds down, so that no link is promised for longer than it is good. */
export const lifeText = (lifetimeMs: number): string => {
  const [unit, unitMs] = unitOf(lifetimeMs)
  const count = Math.max(1, Math.floor(lifetimeMs / unitMs))
  return t.plural(`mail.life.${unit}`, count)
}
