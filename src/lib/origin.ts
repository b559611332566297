/** The origin of an absolute http(s) URL that has nothing behind the host, as it was written; else undefined. */
export const readOrigin = (text: string): string | undefined => {
  if (!/^https?:\/\/[^/?#\\@\s]+\/?$/i.test(text)) return undefined
  return URL.canParse(text) ? new URL(text).origin : undefined
}

const LOOPBACK = ['localhost', '127.0.0.1', '[::1]']

/** Whether a URL leads to this very machine, where TLS protects nothing. */
export const isLoopbackUrl = (text: string): boolean => URL.canParse(text) && LOOPBACK.includes(new URL(text).hostname)
