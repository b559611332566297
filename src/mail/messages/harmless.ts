/** These characters would break a line, or start or end a header. */
const BREAKS = /[\p{Cc}\p{Zl}\p{Zp}]+/gu

/** These characters turn the direction of the text after them, and can make an address look like another one. */
const DIRECTIONS = /\p{Bidi_Control}/gu

/**
 * Puts the text on one line, with its characters in the order in which they are read. Names come from operators and
 * users, and must neither add a header to a message nor disguise what it says.
 */
export const onOneLine = (text: string): string =>
  text.toWellFormed().replaceAll(BREAKS, ' ').replaceAll(DIRECTIONS, '').trim()

/**
 * Makes the text safe for a header. Mail programs decode all text that looks like an encoded word (RFC 2047), in
 * quotation marks too: a word joiner, which nobody sees, keeps a name as the operator wrote it.
 */
export const undecoded = (text: string): string => text.replaceAll('=?', '=\u2060?')

/**
 * Writes the address for a message: it stands below the base URL of now, which may be another one than when the message
 * was caused. No message therefore leads elsewhere than to this service.
 */
export const ownLink = (url: string, baseUrl: string): string => {
  const { pathname, search } = new URL(url, baseUrl)
  return Object.assign(new URL(baseUrl), { pathname, search }).href
}
