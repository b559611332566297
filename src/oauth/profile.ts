import { randomUUIDv7 } from 'node:crypto'
import { type Email, readEmail } from '../users/email.ts'
import { emailProblem, signInProblem } from './errors.ts'
import type { Identity } from './identity-store.ts'
import type { ProviderSettings } from './providers/presets.ts'

/** Whom a provider vouches for. */
export interface ProviderProfile {
  /** As it is called in the settings. */
  provider: string
  /** Who vouches, and whom he means: together they are the one thing that identifies somebody. */
  issuer: string
  subject: string
  /** Undefined when there is none that we could use. */
  email: Email | undefined
  emailVerified: boolean
  /** Of an organisation's account at Google. */
  hostedDomain: string | undefined
  /** What he is called there, for a username. */
  name: string
  /** When he last proved to the provider who he is; undefined when it does not say. */
  signedInAtMs: number | undefined
}

/** What is kept of him, once it is known who he is here. */
export const toIdentity = (
  { provider, issuer, subject, email }: ProviderProfile,
  userId: string,
  nowMs: number,
): Identity => ({
  id: randomUUIDv7(),
  userId,
  provider,
  issuer,
  subject,
  email: email?.shown,
  createdAtMs: nowMs,
})

/** What a provider says of somebody (OpenID Connect Core section 5.1), with each value of any type. */
export type Claims = Record<string, unknown>

/** OpenID Connect Core section 2: at most 255 characters of ASCII. */
const SUBJECT = /^[\x20-\x7e]{1,255}$/
const MAX_NAME_LENGTH = 200

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')

/** Reads claims. `unauthorized` where there is no usable subject. */
export const readClaims = (claims: Claims, issuer: string, settings: ProviderSettings): ProviderProfile => {
  const subject = textOf(claims.sub)
  if (!SUBJECT.test(subject)) throw signInProblem('unverifiable', new Error('the subject is not 1 to 255 characters'))
  const email = readEmail(textOf(claims.email))
  return {
    provider: settings.name,
    issuer,
    subject,
    email,
    emailVerified: email !== undefined && isVerified(claims, email, settings),
    hostedDomain: settings.kind === 'google' ? textOf(claims.hd).toLowerCase() || undefined : undefined,
    name: nameOf(claims),
    signedInAtMs: timeOf(claims.auth_time),
  }
}

/** A claim that is true; some providers write it as text, or as a number. */
const isTrue = (value: unknown): boolean => value === true || value === 'true' || value === 1 || value === '1'

const isVerified = (claims: Claims, email: Email, { kind, trustsEmail }: ProviderSettings): boolean => {
  const isUnsaid = claims.email_verified === undefined
  if (trustsEmail && isUnsaid) return true
  if (kind !== 'microsoft') return isTrue(claims.email_verified)
  // A tenant's administrator can give anybody any address. What Microsoft has checked itself is in claims of its own.
  const proven = claims.verified_primary_email
  return isTrue(claims.xms_edov) || (Array.isArray(proven) && proven.some((it) => isSame(it, email)))
}

const isSame = (text: unknown, email: Email): boolean => readEmail(textOf(text))?.lower === email.lower

/** Milliseconds, of seconds since 1970 or parts of them (RFC 7519 section 2, NumericDate). */
const timeOf = (value: unknown): number | undefined => {
  const timeMs = typeof value === 'number' ? Math.round(value * 1000) : Number.NaN
  return Number.isSafeInteger(timeMs) && timeMs >= 0 ? timeMs : undefined
}

const nameOf = ({ preferred_username, nickname, name }: Claims): string => {
  const names = [preferred_username, nickname, name].map(textOf)
  return (names.find((text) => text.trim() !== '') ?? '').slice(0, MAX_NAME_LENGTH)
}

/** `forbidden` for who is of none of the domains that are let in, where those were said. */
export const requireAllowedDomain = (vouched: ProviderProfile, { allowedDomains }: ProviderSettings): void => {
  if (allowedDomains.length === 0) return
  const { email, emailVerified, hostedDomain = '' } = vouched
  const emailDomain = emailVerified ? email?.lower.split('@')[1] : undefined
  if (allowedDomains.includes(emailDomain ?? '') || allowedDomains.includes(hostedDomain)) return
  throw emailProblem('domain_not_allowed', email?.shown)
}

/** The email of who has proved to his provider that it is his; `forbidden` otherwise. */
export const requireVerifiedEmail = ({ email, emailVerified }: ProviderProfile): Email => {
  if (!email) throw signInProblem('email_missing')
  if (!emailVerified) throw emailProblem('email_unverified', email.shown)
  return email
}
