import { AppError } from '../lib/errors.ts'
import { toSnakeCase } from '../lib/snake-case.ts'

const QUARTER_MS = 15 * 60_000
const HOUR_MS = 4 * QUARTER_MS
/** No window is longer: cleanup knows by it which ends no clock can have meant. */
export const DAY_MS = 24 * HOUR_MS

/** The thing that has a count of its own. */
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
  | 'session'
  /** A purpose of messages together with an address, a network or a user. */
  | 'purpose and account'
  | 'purpose and network'
  | 'purpose and user'

interface Limit {
  key: LimitKey
  /** Tries that may count within one window. */
  tries: number
  /** At most a day. */
  windowMs: number
  /** The end of a try beyond the limit: the code or reason of an error, or that no message is sent. */
  refusal: 'rate_limited' | 'codes_limited' | 'no message'
  /** Whether a try counts, by the error that it threw, undefined after a success. Without this rule, its caller says so. */
  counts?: (thrown: unknown) => boolean
}

const always = (): boolean => true

const isWrongPassword = (thrown: unknown): boolean =>
  thrown instanceof AppError && (thrown.reason === 'credentials_wrong' || thrown.reason === 'password_wrong')

/** Whether the work was done at all: the client stayed, and the database and the queue of hashes were available. */
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
 * THE table of limits. docs/limits.md has all of them, and docs/decisions/004-rate-limits.md says why they are as they
 * are.
 */
export const LIMITS = {
  login: { key: 'account and network', tries: 10, windowMs: QUARTER_MS, counts: failed, refusal: 'rate_limited' },
  loginOfAddress: { key: 'network', tries: 100, windowMs: QUARTER_MS, counts: failed, refusal: 'rate_limited' },
  loginOfAccount: { key: 'account', tries: 100, windowMs: HOUR_MS, counts: failed, refusal: 'rate_limited' },
  loginInKnownBrowser: {
    key: 'known browser',
    tries: 20,
    windowMs: QUARTER_MS,
    counts: failed,
    refusal: 'rate_limited',
  },
  successfulLogin: {
    key: 'user and network',
    tries: 30,
    windowMs: QUARTER_MS,
    counts: succeeded,
    refusal: 'rate_limited',
  },
  unfinishedLogin: {
    key: 'user and network',
    tries: 30,
    windowMs: QUARTER_MS,
    counts: succeeded,
    refusal: 'rate_limited',
  },
  signupOfAddress: { key: 'network', tries: 30, windowMs: HOUR_MS, counts: takesName, refusal: 'rate_limited' },
  /** Counted by each process: a start of a sign-in with a provider guesses nothing and writes nothing. */
  providerOfAddress: { key: 'network', tries: 300, windowMs: QUARTER_MS, counts: always, refusal: 'rate_limited' },
  passwordOfUser: { key: 'user', tries: 10, windowMs: QUARTER_MS, counts: isWrongPassword, refusal: 'rate_limited' },
  passwordFormOfUser: { key: 'user', tries: 30, windowMs: QUARTER_MS, counts: wasDone, refusal: 'rate_limited' },
  passkeyOfAddress: { key: 'network', tries: 100, windowMs: QUARTER_MS, counts: failed, refusal: 'rate_limited' },
  passkeyInKnownBrowser: {
    key: 'known browser',
    tries: 20,
    windowMs: QUARTER_MS,
    counts: failed,
    refusal: 'rate_limited',
  },
  passkeyOfUser: { key: 'user', tries: 30, windowMs: HOUR_MS, counts: wasDone, refusal: 'rate_limited' },
  wrongKeyOfAddress: { key: 'network', tries: 100, windowMs: QUARTER_MS, counts: always, refusal: 'rate_limited' },
  usernameOfUser: { key: 'user', tries: 5, windowMs: HOUR_MS, counts: takesName, refusal: 'rate_limited' },

  // Wrong codes of an app, and wrong recovery codes. A code counts before it is checked.
  codeInNetwork: { key: 'user and network', tries: 5, windowMs: QUARTER_MS, refusal: 'codes_limited' },
  codeOnLink: { key: 'user and network', tries: 5, windowMs: QUARTER_MS, refusal: 'codes_limited' },
  codeInKnownBrowser: { key: 'known browser', tries: 5, windowMs: QUARTER_MS, refusal: 'codes_limited' },
  codeInSession: { key: 'session', tries: 5, windowMs: QUARTER_MS, refusal: 'codes_limited' },
  codeOfAccount: { key: 'user', tries: 60, windowMs: DAY_MS, refusal: 'codes_limited' },
  recoveryCode: { key: 'user and network', tries: 10, windowMs: HOUR_MS, refusal: 'codes_limited' },

  // Messages that are asked for, each purpose alone: a stranger takes the place of nothing that the user needs.
  mailToAddress: { key: 'purpose and account', tries: 5, windowMs: HOUR_MS, refusal: 'no message' },
  mailFromNetwork: { key: 'purpose and network', tries: 30, windowMs: HOUR_MS, refusal: 'no message' },
  mailByUser: { key: 'purpose and user', tries: 10, windowMs: HOUR_MS, refusal: 'no message' },
  /** Nobody has proved yet to read this address. */
  mailToUnverified: { key: 'purpose and account', tries: 5, windowMs: DAY_MS, refusal: 'no message' },

  /** Notices to an address that nobody has proved: a user of the account could flood it. */
  notice: { key: 'account', tries: 20, windowMs: HOUR_MS, refusal: 'no message' },
  /** One of each kind beyond those, so that nobody hides an act behind many others. */
  noticeOfKind: { key: 'purpose and account', tries: 1, windowMs: HOUR_MS, refusal: 'no message' },
  newBrowserNotice: { key: 'account', tries: 20, windowMs: HOUR_MS, refusal: 'no message' },
  loginLimitNotice: { key: 'account', tries: 1, windowMs: DAY_MS, refusal: 'no message' },
  /** The user is told of the third wrong code: so many are no slip of the finger. */
  untoldWrongCodes: { key: 'user', tries: 2, windowMs: QUARTER_MS, refusal: 'no message' },
  wrongCodesNotice: { key: 'user', tries: 1, windowMs: DAY_MS, refusal: 'no message' },
} as const satisfies Record<string, Limit>

export type AnyLimit = keyof typeof LIMITS
type RefusedWith<Refusal> = {
  [Name in AnyLimit]: (typeof LIMITS)[Name]['refusal'] extends Refusal ? Name : never
}[AnyLimit]

/** A limit of tries, which metrics and records name. */
export type LimitName = RefusedWith<'rate_limited'>
const isOfTries = (limit: AnyLimit): limit is LimitName => LIMITS[limit].refusal === 'rate_limited'
export const LIMIT_NAMES: readonly LimitName[] = (Object.keys(LIMITS) as AnyLimit[]).filter(isOfTries)

export type MessageLimitName = RefusedWith<'no message'>

/**
 * Wrong codes in a row, refused with the reason `codes_locked`. They are counted in the row of the app, since no time
 * ends them. In browsers that the account does not know, and on the pages of links, a new password does; each place has
 * a count of its own, so that an attacker who fills one cannot fill the other. Anywhere, a recovery code or a passkey
 * does too (NIST SP 800-63B-4 section 3.2.2).
 */
export const CODES_IN_A_ROW = { anywhere: 100, browsers: 20, links: 20 } as const

/** The name of a limit in metrics, records and documents: `login_of_address`. */
export const labelOf = (limit: LimitName): string => toSnakeCase(limit)

/** An IPv6 /48 has so many times the tries of each of its /64s. */
export const WIDER_NETWORK_FACTOR = 10

/** All clients without a known address have so many times the tries together. */
export const UNKNOWN_NETWORK_FACTOR = 20
