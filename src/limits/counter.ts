import { UNKNOWN_NETWORK, widerNetworkOf } from '../lib/address.ts'
import type { RootSecret } from '../lib/derived-keys.ts'
import { hmac } from '../lib/secrets.ts'
import type { StoredCounter } from './counter-store.ts'
import { type AnyLimit, LIMITS, type LimitName, UNKNOWN_NETWORK_FACTOR, WIDER_NETWORK_FACTOR } from './limit-table.ts'

/** A limit, and the row in which a try counts for it. */
export interface Counter extends StoredCounter {
  limit: LimitName
  /** Nothing but time ends it early, and so it may be remembered that it is full. */
  isRememberedFull: boolean
}

/** A limit, and what it is counted for: a network, a user, or both. */
export type LimitedBy = [limit: LimitName, of: { userId?: string; network?: string }]

/**
 * Creates the text that stands for an email in the rows of counters. People type other things than emails, even
 * passwords: nobody can read from a row what it was.
 */
export const createAccountKey =
  (rootSecret: RootSecret) =>
  (emailLower: string): string =>
    hmac(rootSecret.keys.for('accounts in counters'), emailLower, 'base64url')

/** The row of a limit that the caller counts by itself: of codes, or of messages. */
export const counterFor = (limit: AnyLimit, ...key: string[]): StoredCounter => {
  const { tries, windowMs, key: kind } = LIMITS[limit]
  const id = [limit, ...key].join(' ')
  return { id, tries, windowMs, isOfNetwork: kind.endsWith('network'), browsers: 'all' }
}

interface Place extends Pick<StoredCounter, 'id'>, Partial<Pick<StoredCounter, 'browsers'>> {
  network?: string | undefined
  /** How many times as many tries it has as the table says. */
  times?: number
}

const timesOf = (network: string | undefined): number => (network === UNKNOWN_NETWORK ? UNKNOWN_NETWORK_FACTOR : 1)

const counterOf = (limit: LimitName, { id, network, times = timesOf(network), browsers = 'all' }: Place): Counter => {
  const { tries, windowMs, key } = LIMITS[limit]
  return {
    limit,
    id,
    tries: tries * times,
    windowMs,
    isOfNetwork: network !== undefined,
    isRememberedFull: key === 'network',
    browsers,
  }
}

/** A network that is part of a larger one counts for both. */
const ofNetwork = (limit: LimitName, network: string): Counter[] => {
  const wider = widerNetworkOf(network)
  const own = counterOf(limit, { id: `${limit} ${network}`, network })
  if (wider === undefined) return [own]
  return [own, counterOf(limit, { id: `${limit} ${wider}`, network: wider, times: WIDER_NETWORK_FACTOR })]
}

export const countersOf = ([limit, { userId, network }]: LimitedBy): Counter[] => {
  if (userId === undefined) return ofNetwork(limit, network ?? UNKNOWN_NETWORK)
  const id = network === undefined ? `${limit} ${userId}` : `${limit} ${userId} ${network}`
  return [counterOf(limit, { id, network })]
}

/** The beginning of the ids of an account's logins. `account` is a keyed hash of its email. */
export const beginOfAccount = (account: string): string => `login ${account} `

/**
 * The counters of a login with a password. A browser that the account knows has one of its own, in place of those that
 * an attacker could fill from elsewhere.
 */
export const countersOfLogin = (account: string, network: string): [Counter, ...Counter[]] => {
  const begin = beginOfAccount(account)
  return [
    counterOf('login', { id: `${begin}network ${network}`, network, browsers: 'unknown' }),
    counterOf('loginOfAccount', { id: `${begin}anywhere`, browsers: 'unknown' }),
    counterOf('loginInKnownBrowser', { id: `${begin}browser `, browsers: 'known' }),
    ...ofNetwork('loginOfAddress', network),
  ]
}
