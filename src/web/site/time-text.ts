import { agoText, dayText, shortMomentText, unitText } from '../../languages/formats.ts'
import { t } from '../../languages/texts.ts'
import { type HtmlFragment, html } from '../../lib/html.ts'
import { toTimestamp } from '../../lib/time.ts'

const SECOND_MS = 1000
const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS

const isLongAgo = (passedMs: number): boolean => passedMs >= 30 * DAY_MS

const passedText = (atMs: number, nowMs: number): string => {
  const passedMs = nowMs - atMs
  if (passedMs < MINUTE_MS) return t('common.just_now')
  if (passedMs < HOUR_MS) return agoText(Math.floor(passedMs / MINUTE_MS), 'minute')
  if (passedMs < DAY_MS) return agoText(Math.floor(passedMs / HOUR_MS), 'hour')
  if (isLongAgo(passedMs)) return dayText(atMs)
  return agoText(Math.floor(passedMs / DAY_MS), 'day')
}

// If scripts are off, the times are in UTC. The script of the pages writes them again in the browser's language and
// zone, by `data-time`, which says what an element shows, or else only its title.

/** Writes a day as "2 Nov 2026", in UTC. */
export const dayOf = (atMs: number): HtmlFragment =>
  html`<time datetime="${toTimestamp(atMs)}" data-time="day">${dayText(atMs)}</time>`

/** Writes a time as "2 Nov 2026, 08:13 UTC". */
export const momentOf = (atMs: number): HtmlFragment =>
  html`<time datetime="${toTimestamp(atMs)}" data-time="moment">${shortMomentText(atMs)}</time>`

/** Writes "3 minutes ago", with the exact time as its title; a date if the time is more than 30 days ago. */
export const agoOf = (atMs: number, nowMs: number): HtmlFragment => {
  const shows = isLongAgo(nowMs - atMs) ? 'day' : 'ago'
  return html`<time datetime="${toTimestamp(atMs)}" title="${shortMomentText(atMs)}" data-time="${shows}">${passedText(atMs, nowMs)}</time>`
}

const UNITS = [
  ['day', DAY_MS],
  ['hour', HOUR_MS],
  ['minute', MINUTE_MS],
] as const

/** Writes "30 days", "36 hours": in the largest unit of which it is a whole number. */
export const durationOf = (ms: number): string => {
  const [unit, unitMs] = UNITS.find(([, one]) => ms % one === 0) ?? ['second', SECOND_MS]
  return unitText(Math.floor(ms / unitMs), unit)
}
