import { hmac } from '../lib/secrets.ts'

/** `sha256=` and the lower-case hex of HMAC-SHA256 over the raw body (CONTRACT.md 6.4). */
export const signBody = (secret: string, body: string): string => `sha256=${hmac(secret, body, 'hex')}`
