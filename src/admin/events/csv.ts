import { escapeControls } from '../../lib/control-characters.ts'

/** A spreadsheet takes a cell that begins with one of these, or their full-width forms, for a formula (OWASP, CSV injection). */
const BEGINS_FORMULA = /^[\s"']*[=+\-@|%＝＋－＠]/u

/**
 * Writes a line of CSV (RFC 4180). A spreadsheet shows each cell as text: one that it could take for a formula begins with
 * an apostrophe, and no control character is left, such as a tab or the end of a line.
 */
export const toCsvLine = (cells: readonly string[]): string => `${cells.map(toCell).join(',')}\r\n`

const toCell = (text: string): string => {
  const plain = escapeControls(text).replaceAll('\n', String.raw`\n`)
  const safe = BEGINS_FORMULA.test(plain) ? `'${plain}` : plain
  return /[",]/.test(safe) || safe !== safe.trim() ? `"${safe.replaceAll('"', '""')}"` : safe
}
