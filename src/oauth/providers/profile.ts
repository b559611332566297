import { randomUUIDv7 } from 'node:crypto'
import { type Email, readEmail } from '../../lib/email-address.ts'
import { emailProblem, signInProblem } from '../errors.ts'
import type { Identity } from '../identity-store.ts'
import type { ProviderSettings } from './presets.ts'

/** A provider says this about its user; it is checked, and has one form for all providers. */
export interface ProviderProfile {
  /** It is the provider's name in the settings. */
  provider: string
  /** Issuer and subject together identify the user; nothing else does. */
  issuer: string
  subject: string
  /** It is undefined when there is none, or none that svc accepts. */
  email: Email | undefined
  emailVerified: boolean
  /** It is the domain of an organisation's account at Google (claim `hd`). */
  hostedDomain: string | undefined
  /** It is the user's name at the provider, and a username is made from it. */
  name: string
  /** It is the name of the person, for a new account. */
  fullName?: string | undefined
  /** The user last signed in at the provider at this time; it is undefined when the provider does not say. */
  signedInAtMs: number | undefined
  /** The provider has asked them for a second factor at this time, as its ID token says. */
  secondFactorAtMs?: number | undefined
}

/** Makes the connection of a provider account to a user, as it is stored. */
export const newIdentity = (
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

/** A provider makes claims about a user (OpenID Connect Core section 5.1); nothing is known of the values' types. */
export type Claims = Record<string, unknown>

/** OpenID Connect Core section 2 allows at most 255 characters of ASCII. */
const SUBJECT = /^[\x20-\x7e]{1,255}$/
const MAX_NAME_LENGTH = 200

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')

/** Reads claims; it throws `unauthorized` when the subject is missing or invalid. */
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
    fullName: fullNameOf(claims),
    signedInAtMs: timeOf(claims.auth_time),
  }
}

/** Tells whether a claim is true; some providers write it as text, or as a number. */
const isTrue = (value: unknown): boolean => value === true || value === 'true' || value === 1 || value === '1'

const isVerified = (claims: Claims, email: Email, { kind, trustsEmail }: ProviderSettings): boolean => {
  const isNotStated = claims.email_verified === undefined
  if (trustsEmail && isNotStated) return true
  if (kind !== 'microsoft') return isTrue(claims.email_verified)
  // The administrator of a tenant can give an account any address ("nOAuth"); these two claims say what Microsoft
  // checked.
  const proven = claims.verified_primary_email
  return isTrue(claims.xms_edov) || (Array.isArray(proven) && proven.some((it) => isSame(it, email)))
}

const isSame = (text: unknown, email: Email): boolean => readEmail(textOf(text))?.lower === email.lower

/** Reads values of `amr` (RFC 8176) and `auth_time` of an ID token. */
export const secondFactorTime = ({ amr, auth_time }: Claims): number | undefined =>
  Array.isArray(amr) && amr.includes('mfa') ? timeOf(auth_time) : undefined

/** Converts seconds since 1970, fractions included (RFC 7519 section 2, NumericDate), to milliseconds. */
const timeOf = (value: unknown): number | undefined => {
  const timeMs = typeof value === 'number' ? Math.round(value * 1000) : Number.NaN
  return Number.isSafeInteger(timeMs) && timeMs >= 0 ? timeMs : undefined
}

const nameOf = ({ preferred_username, nickname, name }: Claims): string => {
  const names = [preferred_username, nickname, name].map(textOf)
  return (names.find((text) => text.trim() !== '') ?? '').slice(0, MAX_NAME_LENGTH)
}

/** A longer one is not accepted anyway, and would not fit into a cookie. */
const fullNameOf = ({ name }: Claims): string | undefined => {
  const text = textOf(name)
  return text !== '' && text.length <= MAX_NAME_LENGTH ? text : undefined
}

/** Throws `forbidden` when domains are configured and the user belongs to none of them. */
export const requireAllowedDomain = (profile: ProviderProfile, { allowedDomains }: ProviderSettings): void => {
  if (allowedDomains.length === 0) return
  const { email, emailVerified, hostedDomain = '' } = profile
  const emailDomain = emailVerified ? email?.lower.split('@')[1] : undefined
  if (allowedDomains.includes(emailDomain ?? '') || allowedDomains.includes(hostedDomain)) return
  throw emailProblem('domain_not_allowed', email?.shown)
}

/** Gives the email, which the provider has verified; it throws `forbidden` when it is missing or not verified. */
export const requireVerifiedEmail = ({ email, emailVerified }: ProviderProfile): Email => {
  if (!email) throw signInProblem('email_missing')
  if (!emailVerified) throw emailProblem('email_unverified', email.shown)
  return email
}
