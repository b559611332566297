import { HOTP, Secret, URI, TOTP } from 'otpauth'
import { equalInConstantTime } from '../lib/secrets.ts'

// Every authenticator app supports this form of RFC 6238: SHA-1, six digits, thirty seconds.
const ALGORITHM = 'SHA1'
const DIGITS = 6
const STEP_MS = 30_000

/** The secret is as long as the hash that it is used with (RFC 4226 section 4, R6). */
export const SECRET_BYTES = 20

const toSecret = (bytes: Uint8Array): Secret => new Secret({ buffer: new Uint8Array(bytes).buffer })

const codeOf = (secret: Secret, step: number): string =>
  HOTP.generate({ secret, algorithm: ALGORITHM, digits: DIGITS, counter: step })

/**
 * Finds the step that a code is of: the current one, the one before or the one after, since clocks differ and people
 * type slowly (RFC 6238 section 5.2). Steps up to `lastUsedStep` are used up. It returns undefined if the code is
 * wrong.
 */
export const findStep = (
  bytes: Uint8Array,
  { code, nowMs, lastUsedStep }: { code: string; nowMs: number; lastUsedStep: number },
): number | undefined => {
  const secret = toSecret(bytes)
  const now = Math.floor(nowMs / STEP_MS)
  return [now, now - 1, now + 1].find((step) => step > lastUsedStep && equalInConstantTime(codeOf(secret, step), code))
}

/** An authenticator app takes a secret as text for a keyboard, or as the address in a QR code. */
export interface AppSecret {
  /** The text is Base32, without spaces. */
  text: string
  /** The address begins with `otpauth://totp/`. */
  uri: string
}

/** The app names its entry by `issuer`, the name of the application, and `account`, the email of the user. */
export const toAppSecret = (bytes: Uint8Array, { issuer, account }: { issuer: string; account: string }): AppSecret => {
  const secret = toSecret(bytes)
  // A colon stands between the two.
  const names = { issuer: issuer.replaceAll(':', ' '), label: account }
  const totp = new TOTP({ ...names, secret, algorithm: ALGORITHM, digits: DIGITS, period: STEP_MS / 1000 })
  return { text: secret.base32, uri: URI.stringify(totp) }
}
