/** Decodes base64 (RFC 4648, section 4) without padding; undefined for anything that has another spelling. */
export const fromBase64 = (text: string): Buffer | undefined => {
  const bytes = Buffer.from(text, 'base64')
  return bytes.toString('base64').replaceAll('=', '') === text ? bytes : undefined
}

/** The same with padding, or without. */
export const fromPaddedBase64 = (text: string): Buffer | undefined => {
  const bytes = fromBase64(text.replace(/={1,2}$/, ''))
  return bytes && (!text.endsWith('=') || bytes.toString('base64') === text) ? bytes : undefined
}
