import { toTimestamp } from '../../lib/time.ts'

const MAX_LENGTH = 1000

/** Replaces every character that a terminal acts upon by a question mark, in text that others have chosen. */
export const withoutControls = (text: string): string => text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '?')

/** Also shortens the text, which must not fill the screen. */
export const safeText = (text: string): string => {
  const safe = withoutControls(text)
  return safe.length > MAX_LENGTH ? `${safe.slice(0, MAX_LENGTH)}…` : safe
}

export const countText = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`

/** `2026-11-21 10:47:31`, UTC. */
export const toSecond = (epochMs: number): string => toTimestamp(epochMs).slice(0, 19).replace('T', ' ')

/** `2026-11-21 10:47`, UTC. */
export const toMinute = (epochMs: number): string => toTimestamp(epochMs).slice(0, 16).replace('T', ' ')

/** Databases have null where there is no time, and most of the domain has undefined. */
export const timestampOrNull = (epochMs: number | null | undefined): string | null =>
  epochMs === null || epochMs === undefined ? null : toTimestamp(epochMs)

export type Tone = 'bold' | 'cyan' | 'dim' | 'green' | 'red' | 'yellow'

/** Colours a text if standard output is a terminal with colours. */
export type Paint = (tone: Tone | undefined, text: string) => string

// An import reads all exports of the module, which loads many others: 4 ms for each command.
const { styleText } = process.getBuiltinModule('node:util')

// `hasColors` respects NO_COLOR and TERM.
const isColoured = (): boolean => process.stdout.isTTY && process.stdout.hasColors()

export const createPaint = (): Paint =>
  isColoured()
    ? (tone, text) => (tone ? styleText(tone, text, { validateStream: false }) : text)
    : (_tone, text) => text
