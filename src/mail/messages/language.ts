import { type MessageTextKey, messageTexts } from './texts.ts'

/** This language has the texts; the locale is that of dates and lists. */
export const LANGUAGE = 'en'
const LOCALE = 'en-GB'

/** A text has several plural forms if its key has this beginning. */
type PluralKey = MessageTextKey extends infer Key ? (Key extends `${infer Start}_other` ? Start : never) : never

/** A text differs where accounts have no passwords if its key has this beginning. */
export type PasswordKey = MessageTextKey extends infer Key
  ? Key extends `${infer Start}_passwordless`
    ? Start
    : never
  : never

export type TextValues = Readonly<Record<string, string | undefined>>

const PLACE = /\{(\w+)\}/g

/** Puts values into a text, once: what was put in is not read for places. Throws a `TypeError` if one is missing. */
export const textOf = (key: MessageTextKey, values: TextValues = {}): string =>
  messageTexts[key].replaceAll(PLACE, (_place, name: string) => {
    const value = values[name]
    if (value === undefined) throw new TypeError(`The text ${key} needs a value for ${name}`)
    return value
  })

const pluralRules = new Intl.PluralRules(LOCALE)
const numbers = new Intl.NumberFormat(LOCALE)
const lists = new Intl.ListFormat(LOCALE)
const moments = new Intl.DateTimeFormat(LOCALE, {
  day: 'numeric',
  month: 'long',
  year: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
  timeZone: 'UTC',
  timeZoneName: 'short',
})

/** Finds the plural form for a count; English has `_one` and `_other`. */
export const pluralOf = (key: PluralKey, count: number): MessageTextKey =>
  `${key}_${pluralRules.select(count) === 'one' ? 'one' : 'other'}`

export const numberText = (count: number): string => numbers.format(count)

/** Writes "one, two and three". */
export const listText = (items: readonly string[]): string => lists.format(items)

/** Writes a time with its zone, as "22 November 2026 at 16:53 UTC". */
export const momentText = (atMs: number): string => moments.format(atMs)

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
  return textOf(pluralOf(`mail.life.${unit}`, count), { count: numberText(count) })
}
