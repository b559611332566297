import { type HtmlFragment, html } from '../lib/html.ts'

/** Pages, messages and dates have this language and its conventions. */
export const LANGUAGE = 'en'
const LOCALE = 'en-GB'

/** Creates a format at its first use, since they would slow down the start. */
const lazy = <Format>(create: () => Format): (() => Format) => {
  let format: Format | undefined
  return () => (format ??= create())
}

const numbers = lazy(() => new Intl.NumberFormat(LOCALE))
const alternatives = lazy(() => new Intl.ListFormat(LOCALE, { type: 'disjunction' }))
const lists = lazy(() => new Intl.ListFormat(LOCALE))
const moments = lazy(
  () =>
    new Intl.DateTimeFormat(LOCALE, {
      day: 'numeric',
      month: 'long',
      year: 'numeric',
      hour: '2-digit',
      minute: '2-digit',
      timeZone: 'UTC',
      timeZoneName: 'short',
    }),
)

const days = lazy(() => new Intl.DateTimeFormat(LOCALE, { dateStyle: 'medium', timeZone: 'UTC' }))
const shortMoments = lazy(
  () =>
    new Intl.DateTimeFormat(LOCALE, {
      day: 'numeric',
      month: 'short',
      year: 'numeric',
      hour: '2-digit',
      minute: '2-digit',
      timeZone: 'UTC',
      timeZoneName: 'short',
    }),
)
const past = lazy(() => new Intl.RelativeTimeFormat(LOCALE, { numeric: 'auto' }))
const future = lazy(() => new Intl.RelativeTimeFormat(LOCALE))

export const numberText = (count: number): string => numbers().format(count)

/** Writes "one, two and three". */
export const listText = (items: readonly string[]): string => lists().format(items)

/** Writes the same, with HTML as items. */
export const listOfHtml = (items: readonly HtmlFragment[]): HtmlFragment =>
  html`${lists()
    .formatToParts(items.map((_, index) => String(index)))
    .map(({ type, value }) => (type === 'element' ? items[Number(value)] : value))}`

/** Writes "one, two or three". */
export const anyOfText = (items: readonly string[]): string => alternatives().format(items)

/** Writes a time with its zone, as "22 November 2026 at 16:53 UTC". */
export const momentText = (atMs: number): string => moments().format(atMs)

/** Writes a day as "2 Nov 2026", in UTC. */
export const dayText = (atMs: number): string => days().format(atMs)

/** Writes a time with its zone, as "2 Nov 2026, 08:13 UTC". */
export const shortMomentText = (atMs: number): string => shortMoments().format(atMs)

/** Writes "3 minutes ago" and "yesterday". */
export const agoText = (count: number, unit: Intl.RelativeTimeFormatUnit): string => past().format(-count, unit)

/** Counts a wait in the unit that fits. A wait is never said to be shorter than it is: 90 seconds are 2 minutes. */
const waitOf = (seconds: number): readonly [count: number, unit: 'second' | 'minute' | 'hour'] => {
  if (seconds < 60) return [Math.max(1, Math.ceil(seconds)), 'second']
  return seconds < 3600 ? [Math.ceil(seconds / 60), 'minute'] : [Math.ceil(seconds / 3600), 'hour']
}

/** Writes "2 minutes" for 90 seconds. */
export const waitText = (seconds: number): string => unitText(...waitOf(seconds))

/** Writes "in 2 minutes" for 90 seconds. */
export const afterWaitText = (seconds: number): string => future().format(...waitOf(seconds))

/** Writes "30 days". */
export const unitText = (count: number, unit: 'second' | 'minute' | 'hour' | 'day'): string =>
  new Intl.NumberFormat(LOCALE, { style: 'unit', unit, unitDisplay: 'long' }).format(count)
