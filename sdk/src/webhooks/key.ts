import { decodeBase64 } from './base64.ts'

const PREFIX = 'whsec_'

/** What is encoded in `whsec_…`; any other text counts as raw bytes. */
const keyBytes = (secret: string): Uint8Array<ArrayBuffer> => {
  const encoded = secret.startsWith(PREFIX) ? decodeBase64(secret.slice(PREFIX.length)) : undefined
  return encoded && encoded.length > 0 ? encoded : new TextEncoder().encode(secret)
}

export const importKey = (secret: string) =>
  crypto.subtle.importKey('raw', keyBytes(secret), { name: 'HMAC', hash: 'SHA-256' }, false, ['verify'])
