import { AppError } from '../lib/errors.ts'
import { toSnakeCase } from '../lib/snake-case.ts'

const QUARTER_MS = 15 * 60_000
const HOUR_MS = 4 * QUARTER_MS
const MINUTE_MS = 60_000
/** No window is longer: cleanup knows by it which ends no clock can have meant. */
export const DAY_MS = 24 * HOUR_MS

/** Each of these things has a count of its own. */
type LimitKey =
  /** This is a network alone; the /48 of an IPv6 address has ten times as many tries. */
  | 'network'
  /** This is an account, by the email as it was entered, or a user, in one network. */
  | 'account and network'
  | 'user and network'
  | 'client and network'
  /** This is an account in any network. */
  | 'account'
  /** The account has signed in before in this browser. */
  | 'known browser'
  | 'user'
  | 'session'
  /** This is a purpose of messages together with an address, a network or a user. */
  | 'purpose and account'
  | 'purpose and network'
  | 'purpose and user'
  /** All tries count together. */
  | 'everybody'

interface Limit {
  key: LimitKey
  /** So many tries may count within one window. */
  tries: number
  /** The window is a day at most. */
  windowMs: number
  /** A try beyond the limit ends in this way: with the code or reason of an error, or no message is sent. */
  refusal: 'rate_limited' | 'codes_limited' | 'no message'
  /** Without these, nothing is ever counted. */
  needs?: 'clients' | 'administration'
  /**
   * Tells whether a try counts, by the error that it threw, undefined after a success. If this rule is missing, its
   * caller says so.
   */
  counts?: (thrown: unknown) => boolean
}

const always = (): boolean => true

const isWrongPassword = (thrown: unknown): boolean =>
  thrown instanceof AppError && (thrown.reason === 'credentials_wrong' || thrown.reason === 'password_wrong')

/**
 * Tells whether the work was done at all: the client stayed, and the database and the queue of hashes were available.
 */
const wasDone = (thrown: unknown): boolean => !(thrown instanceof AppError && thrown.code === 'unavailable')

/**
 * Tells whether the try failed. A right password counts too if it starts no session, as after too many logins: it has
 * cost a hash all the same.
 */
const failed = (thrown: unknown): boolean => thrown instanceof AppError && wasDone(thrown)

const succeeded = (thrown: unknown): boolean => thrown === undefined

/** An invalid field does not count. A taken name does: the response shows that an account has it. */
const takesName = (thrown: unknown): boolean =>
  succeeded(thrown) || (thrown instanceof AppError && thrown.code === 'conflict')

const OF_CLIENTS = { refusal: 'rate_limited', needs: 'clients' } as const

/**
 * This is THE table of limits. docs/limits.md has all of them, and docs/decisions/004-rate-limits.md gives the reasons.
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
  /** Each process counts by itself: a start of a sign-in with a provider guesses nothing and writes nothing. */
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
  languageOfUser: { key: 'user', tries: 30, windowMs: HOUR_MS, counts: succeeded, refusal: 'rate_limited' },
  nameOfUser: { key: 'user', tries: 10, windowMs: HOUR_MS, counts: succeeded, refusal: 'rate_limited' },
  usernameOfUser: { key: 'user', tries: 5, windowMs: HOUR_MS, counts: takesName, refusal: 'rate_limited' },
  /** Each reads all records of a user, and is told of by a message. */
  exportOfUser: { key: 'user', tries: 5, windowMs: HOUR_MS, counts: succeeded, refusal: 'rate_limited' },
  /** A wrong secret of a client of the OAuth server counts; a good one passes. */
  clientSecret: { key: 'client and network', tries: 10, windowMs: MINUTE_MS, counts: always, ...OF_CLIENTS },
  /** Metadata documents of clients are fetched for a user who is signed in. */
  clientDocumentOfUser: { key: 'user', tries: 10, windowMs: HOUR_MS, counts: always, ...OF_CLIENTS },
  clientDocument: { key: 'everybody', tries: 60, windowMs: MINUTE_MS, counts: always, ...OF_CLIENTS },
  /** Each request of a client that reaches a signed-in user counts. */
  authorizationOfUser: { key: 'user', tries: 60, windowMs: MINUTE_MS, counts: always, ...OF_CLIENTS },
  consentOfUser: { key: 'user', tries: 20, windowMs: HOUR_MS, counts: succeeded, ...OF_CLIENTS },
  clientRegistration: { key: 'network', tries: 20, windowMs: HOUR_MS, counts: succeeded, ...OF_CLIENTS },

  /** An administrator signs in, follows their link, or shows a passkey before a change. */
  administratorPasskeyOfAddress: {
    key: 'network',
    tries: 100,
    windowMs: QUARTER_MS,
    counts: failed,
    refusal: 'rate_limited',
    needs: 'administration',
  },

  // These count wrong codes of an app, and wrong recovery codes. A code counts before it is checked.
  codeInNetwork: { key: 'user and network', tries: 5, windowMs: QUARTER_MS, refusal: 'codes_limited' },
  codeOnLink: { key: 'user and network', tries: 5, windowMs: QUARTER_MS, refusal: 'codes_limited' },
  codeInKnownBrowser: { key: 'known browser', tries: 5, windowMs: QUARTER_MS, refusal: 'codes_limited' },
  codeInSession: { key: 'session', tries: 5, windowMs: QUARTER_MS, refusal: 'codes_limited' },
  codeOfAccount: { key: 'user', tries: 60, windowMs: DAY_MS, refusal: 'codes_limited' },
  recoveryCode: { key: 'user and network', tries: 10, windowMs: HOUR_MS, refusal: 'codes_limited' },

  // These bound the messages that are asked for, each purpose alone: a stranger takes the place of nothing that the
  // user needs.
  mailToAddress: { key: 'purpose and account', tries: 5, windowMs: HOUR_MS, refusal: 'no message' },
  mailFromNetwork: { key: 'purpose and network', tries: 30, windowMs: HOUR_MS, refusal: 'no message' },
  /** A request for a code that signs in makes a message and a code, whose tries are counted with it. */
  signInMailFromNetwork: { key: 'network', tries: 20, windowMs: HOUR_MS, refusal: 'no message' },
  mailByUser: { key: 'purpose and user', tries: 10, windowMs: HOUR_MS, refusal: 'no message' },
  /** Nobody has proved yet to read this address. */
  mailToUnverified: { key: 'purpose and account', tries: 5, windowMs: DAY_MS, refusal: 'no message' },

  /** These are notices to an address that nobody has proved: a user of the account could flood it. */
  notice: { key: 'account', tries: 20, windowMs: HOUR_MS, refusal: 'no message' },
  /** One of each kind may go beyond those, so that nobody hides an act behind many others. */
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

/** Metrics and records name this limit of tries. */
export type LimitName = RefusedWith<'rate_limited'>
const isOfTries = (limit: AnyLimit): limit is LimitName => LIMITS[limit].refusal === 'rate_limited'
export const LIMIT_NAMES: readonly LimitName[] = (Object.keys(LIMITS) as AnyLimit[]).filter(isOfTries)

/** Lists the limits of tries that count something. */
export const limitNamesFor = (has: Record<NonNullable<Limit['needs']>, boolean>): readonly LimitName[] =>
  LIMIT_NAMES.filter((name) => {
    const limit: Limit = LIMITS[name]
    return limit.needs === undefined || has[limit.needs]
  })

export type MessageLimitName = RefusedWith<'no message'>

/**
 * These bound wrong codes in a row, which are refused with the reason `codes_locked`. They are counted in the row of
 * the app, since no time ends them. A new password ends them in browsers that the account does not know, and on the
 * pages of links; each place has a count of its own, so that an attacker who fills one cannot fill the other. A
 * recovery code or a passkey ends them anywhere (NIST SP 800-63B-4 section 3.2.2).
 */
export const CODES_IN_A_ROW = { anywhere: 100, browsers: 20, links: 20 } as const

/** Names a limit in metrics, records and documents: `login_of_address`. */
export const labelOf = (limit: LimitName): string => toSnakeCase(limit)

/** An IPv6 /48 has so many times the tries of each of its /64s. */
export const WIDER_NETWORK_FACTOR = 10

/** All clients without a known address have so many times the tries together. */
export const UNKNOWN_NETWORK_FACTOR = 20
