import { type HtmlFragment, html } from '../../lib/html.ts'
import { toTimestamp } from '../../lib/time.ts'
import { texts } from './texts.ts'

const SECOND_MS = 1000
const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS

interface Formats {
  day: Intl.DateTimeFormat
  moment: Intl.DateTimeFormat
  ago: Intl.RelativeTimeFormat
}

let formats: Formats | undefined

// The formats are created at the first use, since they would slow down the start.
const localFormats = (): Formats => {
  formats ??= {
    day: new Intl.DateTimeFormat(texts.locale, { dateStyle: 'medium', timeZone: 'UTC' }),
    moment: new Intl.DateTimeFormat(texts.locale, { dateStyle: 'medium', timeStyle: 'short', timeZone: 'UTC' }),
    ago: new Intl.RelativeTimeFormat(texts.locale, { numeric: 'auto' }),
  }
  return formats
}

const momentText = (atMs: number): string => texts.inUtc(localFormats().moment.format(atMs))

const isLongAgo = (passedMs: number): boolean => passedMs >= 30 * DAY_MS

const agoText = (atMs: number, nowMs: number): string => {
  const { ago, day } = localFormats()
  const passedMs = nowMs - atMs
  if (passedMs < MINUTE_MS) return texts.justNow
  if (passedMs < HOUR_MS) return ago.format(-Math.floor(passedMs / MINUTE_MS), 'minute')
  if (passedMs < DAY_MS) return ago.format(-Math.floor(passedMs / HOUR_MS), 'hour')
  if (isLongAgo(passedMs)) return day.format(atMs)
  return ago.format(-Math.floor(passedMs / DAY_MS), 'day')
}

// If scripts are off, the times are in UTC. The script of the pages writes them again in the browser's language and
// zone, by `data-time`, which says what an element shows, or else only its title.

/** Writes a day as "2 Nov 2026", in UTC. */
export const dayOf = (atMs: number): HtmlFragment =>
  html`<time datetime="${toTimestamp(atMs)}" data-time="day">${localFormats().day.format(atMs)}</time>`

/** Writes a time as "2 Nov 2026, 08:13 UTC". */
export const momentOf = (atMs: number): HtmlFragment =>
  html`<time datetime="${toTimestamp(atMs)}" data-time="moment">${momentText(atMs)}</time>`

/** Writes "3 minutes ago", with the exact time as its title; a date if the time is more than 30 days ago. */
export const agoOf = (atMs: number, nowMs: number): HtmlFragment => {
  const shows = isLongAgo(nowMs - atMs) ? 'day' : 'ago'
  return html`<time datetime="${toTimestamp(atMs)}" title="${momentText(atMs)}" data-time="${shows}">${agoText(atMs, nowMs)}</time>`
}

const UNITS = [
  ['day', DAY_MS],
  ['hour', HOUR_MS],
  ['minute', MINUTE_MS],
] as const

/** Writes "30 days", "36 hours": in the largest unit of which it is a whole number. */
export const durationOf = (ms: number): string => {
  const [unit, unitMs] = UNITS.find(([, one]) => ms % one === 0) ?? ['second', SECOND_MS]
  return new Intl.NumberFormat(texts.locale, { style: 'unit', unit, unitDisplay: 'long' }).format(
    Math.floor(ms / unitMs),
  )
}
