import type { RootSecret } from '../lib/derived-keys.ts'
import { hmac } from '../lib/secrets.ts'

/**
 * Creates what stands for an email in the rows of counters. People type other things than emails, even passwords: nobody
 * can read from a row what it was.
 */
export const createAccountKey =
  (rootSecret: RootSecret) =>
  (emailLower: string): string =>
    hmac(rootSecret.keys.for('accounts in counters'), emailLower, 'base64url')
