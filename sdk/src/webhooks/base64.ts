const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}(?:==)?|[A-Za-z0-9+/]{3}=?)?$/

/** The bytes of standard base64, with padding or without; undefined for any other text. */
export const decodeBase64 = (text: string): Uint8Array<ArrayBuffer> | undefined =>
  BASE64.test(text) ? Uint8Array.from(atob(text), (character) => character.charCodeAt(0)) : undefined
