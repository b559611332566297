/**
 * A terminal or an editor acts upon these in place of showing them: control characters (ESC, and CSI in one character),
 * separators of lines, and characters that are invisible or turn the direction of text.
 */
const CONTROLS = /[[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]--\n]/gv

/**
 * Writes a character as `\u009b`, as JSON and most languages read it, or as `\t` and the like if JSON has such a form.
 */
const escaped = (character: string): string => {
  const short = JSON.stringify(character).slice(1, -1)
  if (short !== character) return short
  return Array.from(character.split(''), (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`).join('')
}

/** Makes text of others safe for a terminal or a log: it moves no cursor, and hides nothing. Newlines stay. */
export const escapeControls = (text: string): string => text.replace(CONTROLS, escaped)

/** Makes JSON for a terminal or a log: the value is the same, and nothing in it moves a cursor or hides text. */
export const toJsonText = (value: unknown, indent?: number): string =>
  escapeControls(JSON.stringify(value, null, indent))
