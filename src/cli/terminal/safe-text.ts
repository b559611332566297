const MAX_LENGTH = 1000

/** Text that others have chosen: it must not move the cursor of a terminal, nor fill its screen. */
export const safeText = (text: string): string => {
  const safe = text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '?')
  return safe.length > MAX_LENGTH ? `${safe.slice(0, MAX_LENGTH)}…` : safe
}
