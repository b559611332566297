const MAX_LENGTH = 1000

/** Text that others have chosen, for a line of a table: with a question mark for all that a terminal acts upon. */
export const withoutControls = (text: string): string => text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '?')

/** Text that others have chosen: it must not move the cursor of a terminal, nor fill its screen. */
export const safeText = (text: string): string => {
  const safe = withoutControls(text)
  return safe.length > MAX_LENGTH ? `${safe.slice(0, MAX_LENGTH)}…` : safe
}
