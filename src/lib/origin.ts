/** The origin of an absolute http(s) URL that has nothing behind the host, as it was written; else undefined. */
export const readOrigin = (text: string): string | undefined => {
  if (!/^https?:\/\/[^/?#\\@\s]+\/?$/i.test(text)) return undefined
  return URL.canParse(text) ? new URL(text).origin : undefined
}
