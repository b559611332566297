import { AppError } from '../lib/errors.ts'
import { toSnakeCase } from '../lib/snake-case.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS

/** What a counter is counted for. */
type LimitKey =
  /** A network alone; ten times as many for the /48 of an IPv6 address. */
  | 'network'
  /** An account, by the email as it was entered, or a user, in one network. */
  | 'account and network'
  | 'user and network'
  /** An account in any network. */
  | 'account'
  /** A browser in which the account has signed in before. */
  | 'known browser'
  | 'user'

interface Limit {
  key: LimitKey
  /** Tries that may count within one window. */
  tries: number
  windowMs: number
  /** Whether a try counts, by what it threw; undefined: it succeeded. */
  counts: (thrown: unknown) => boolean
}

const always = (): boolean => true

const isWrongPassword = (thrown: unknown): boolean =>
  thrown instanceof AppError && (thrown.reason === 'credentials_wrong' || thrown.reason === 'password_wrong')

/** Whether the work was done at all: the client stayed, and the database and the hash queue were available. */
const wasDone = (thrown: unknown): boolean => !(thrown instanceof AppError && thrown.code === 'unavailable')

/**
 * A right password counts too where it starts no session, as after too many logins: it has cost a hash all the same.
 */
const failed = (thrown: unknown): boolean => thrown instanceof AppError && wasDone(thrown)

const succeeded = (thrown: unknown): boolean => thrown === undefined

/** An invalid field does not count. A taken name does: the response shows that an account has it. */
const takesName = (thrown: unknown): boolean =>
  succeeded(thrown) || (thrown instanceof AppError && thrown.code === 'conflict')

/**
 * THE table of limits, but for those of messages (`links/mail-limits.ts`) and of wrong codes
 * (`second-factor/code-limits.ts`). docs/operate.md has all of them, and docs/decisions/004-rate-limits.md says why they
 * are as they are.
 */
export const LIMITS = {
  login: { key: 'account and network', tries: 10, windowMs: 15 * MINUTE_MS, counts: failed },
  loginOfAddress: { key: 'network', tries: 100, windowMs: 15 * MINUTE_MS, counts: failed },
  loginOfAccount: { key: 'account', tries: 100, windowMs: HOUR_MS, counts: failed },
  loginInKnownBrowser: { key: 'known browser', tries: 20, windowMs: 15 * MINUTE_MS, counts: failed },
  successfulLogin: { key: 'user and network', tries: 30, windowMs: 15 * MINUTE_MS, counts: succeeded },
  unfinishedLogin: { key: 'user and network', tries: 30, windowMs: 15 * MINUTE_MS, counts: succeeded },
  signupOfAddress: { key: 'network', tries: 30, windowMs: HOUR_MS, counts: takesName },
  providerOfAddress: { key: 'network', tries: 300, windowMs: 15 * MINUTE_MS, counts: always },
  passwordOfUser: { key: 'user', tries: 10, windowMs: 15 * MINUTE_MS, counts: isWrongPassword },
  passwordFormOfUser: { key: 'user', tries: 30, windowMs: 15 * MINUTE_MS, counts: wasDone },
  passkeyOfAddress: { key: 'network', tries: 100, windowMs: 15 * MINUTE_MS, counts: failed },
  passkeyInKnownBrowser: { key: 'known browser', tries: 20, windowMs: 15 * MINUTE_MS, counts: failed },
  passkeyOfUser: { key: 'user', tries: 30, windowMs: HOUR_MS, counts: wasDone },
  wrongKeyOfAddress: { key: 'network', tries: 100, windowMs: 15 * MINUTE_MS, counts: always },
  usernameOfUser: { key: 'user', tries: 5, windowMs: HOUR_MS, counts: takesName },
} as const satisfies Record<string, Limit>

export type LimitName = keyof typeof LIMITS
export const LIMIT_NAMES = Object.keys(LIMITS) as LimitName[]

/** The name of a limit in metrics, records and documents: `login_of_address`. */
export const labelOf = (limit: LimitName): string => toSnakeCase(limit)

/** How many times as many tries an IPv6 /48 has as each of its /64s. */
export const WIDER_NETWORK_FACTOR = 10

/** How many times as many tries all clients have together whose address is not known. */
export const UNKNOWN_NETWORK_FACTOR = 20
