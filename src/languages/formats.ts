import { type HtmlFragment, html } from '../lib/html.ts'
import { currentLanguage, type Formats, type Unit } from './language.ts'

const formats = (): Formats => currentLanguage().formats

export const numberText = (count: number): string => formats().numbers().format(count)

/** Writes "one, two and three". */
export const listText = (items: readonly string[]): string => formats().lists().format(items)

/** Writes the same, with HTML as items. */
export const listOfHtml = (items: readonly HtmlFragment[]): HtmlFragment =>
  html`${formats()
    .lists()
    .formatToParts(items.map((_, index) => String(index)))
    .map(({ type, value }) => (type === 'element' ? items[Number(value)] : value))}`

/** Writes "one, two or three". */
export const anyOfText = (items: readonly string[]): string => formats().alternatives().format(items)

/** Writes a time with its zone, as "22 November 2026 at 16:53 UTC". */
export const momentText = (atMs: number): string => formats().moments().format(atMs)

/** Writes a day as "2 Nov 2026", in UTC. */
export const dayText = (atMs: number): string => formats().days().format(atMs)

/** Writes a time with its zone, as "2 Nov 2026, 08:13 UTC". */
export const shortMomentText = (atMs: number): string => formats().shortMoments().format(atMs)

/** Writes "3 minutes ago" and "yesterday". */
export const agoText = (count: number, unit: Intl.RelativeTimeFormatUnit): string =>
  formats().past().format(-count, unit)

/** Counts a wait in the unit that fits. A wait is never said to be shorter than it is: 90 seconds are 2 minutes. */
const waitOf = (seconds: number): readonly [count: number, unit: 'second' | 'minute' | 'hour'] => {
  if (seconds < 60) return [Math.max(1, Math.ceil(seconds)), 'second']
  return seconds < 3600 ? [Math.ceil(seconds / 60), 'minute'] : [Math.ceil(seconds / 3600), 'hour']
}

/** Writes "2 minutes" for 90 seconds. */
export const waitText = (seconds: number): string => unitText(...waitOf(seconds))

/** Writes "in 2 minutes" for 90 seconds. */
export const afterWaitText = (seconds: number): string =>
  formats()
    .future()
    .format(...waitOf(seconds))

/** Writes "30 days". */
export const unitText = (count: number, unit: Unit): string => formats().units(unit).format(count)
