import { UNKNOWN_NETWORK, widerNetworkOf } from '../lib/address.ts'
import type { RootSecret } from '../lib/derived-keys.ts'
import { hmac } from '../lib/secrets.ts'
import { countTry, type StoredCounter } from './counter-store.ts'
import type { Transaction } from '../storage/database.ts'
import {
  type AnyLimit,
  LIMITS,
  type LimitName,
  type MessageLimitName,
  UNKNOWN_NETWORK_FACTOR,
  WIDER_NETWORK_FACTOR,
} from './limit-table.ts'

/** This is a limit, and the row in which a try counts for it. */
export interface Counter extends StoredCounter {
  limit: LimitName
  /** Nothing but time ends it early, and therefore it may be remembered that it is full. */
  isRememberedFull: boolean
}

/** This is a limit, and its key: a network, a user or a client, or two of them. A limit of everybody has none. */
export type LimitedBy = [limit: LimitName, of: { userId?: string; clientId?: string; network?: string }]

/**
 * Creates the text that stands for an email in the rows of counters. People type other things than emails, even
 * passwords: nobody can read from a row what it was.
 */
export const createAccountKey =
  (rootSecret: RootSecret) =>
  (emailLower: string): string =>
    hmac(rootSecret.keys.for('accounts in counters'), emailLower, 'base64url')

const rowOf = (limit: AnyLimit, id: string): StoredCounter => {
  const { tries, windowMs, key } = LIMITS[limit]
  return { id, tries, windowMs, isOfNetwork: key.endsWith('network'), browsers: 'all' }
}

/** Makes the row of a limit that the caller counts by itself: of codes, or of messages. */
export const counterFor = (limit: AnyLimit, ...key: string[]): StoredCounter => rowOf(limit, [limit, ...key].join(' '))

/** Counts a message for a limit; resolves to false if there were too many, and it was not counted. */
export const countMessage = async (
  { all }: Pick<Transaction, 'all'>,
  limit: MessageLimitName,
  key: string[],
  nowMs: number,
): Promise<boolean> => (await countTry(all, { counters: [counterFor(limit, ...key)], nowMs })).length > 0

/** Makes the row of a limit of tries. All clients without a known address share one, with more tries. */
const counterOf = (
  limit: LimitName,
  id: string,
  network?: string,
  times = network === UNKNOWN_NETWORK ? UNKNOWN_NETWORK_FACTOR : 1,
): Counter => {
  const row = rowOf(limit, id)
  return { ...row, limit, tries: row.tries * times, isRememberedFull: LIMITS[limit].key === 'network' }
}

/** A network that is part of a larger one counts for both. */
const ofNetwork = (limit: LimitName, network: string): Counter[] => {
  const wider = widerNetworkOf(network)
  const own = counterOf(limit, `${limit} ${network}`, network)
  if (wider === undefined) return [own]
  return [own, counterOf(limit, `${limit} ${wider}`, wider, WIDER_NETWORK_FACTOR)]
}

export const countersOf = ([limit, { userId, clientId, network }]: LimitedBy): Counter[] => {
  if (LIMITS[limit].key === 'everybody') return [counterOf(limit, limit)]
  const of = userId ?? clientId
  if (of === undefined) return ofNetwork(limit, network ?? UNKNOWN_NETWORK)
  const id = network === undefined ? `${limit} ${of}` : `${limit} ${of} ${network}`
  return [counterOf(limit, id, network)]
}

/** Finds the beginning of the ids of an account's logins. `account` is a keyed hash of its email. */
export const beginOfAccount = (account: string): string => `login ${account} `

/**
 * Makes the counters of a login with a password. A browser that the account knows has one of its own, in place of those
 * that an attacker could fill from elsewhere.
 */
export const countersOfLogin = (account: string, network: string): [Counter, ...Counter[]] => {
  const begin = beginOfAccount(account)
  return [
    { ...counterOf('login', `${begin}network ${network}`, network), browsers: 'unknown' },
    { ...counterOf('loginOfAccount', `${begin}anywhere`), browsers: 'unknown' },
    { ...counterOf('loginInKnownBrowser', `${begin}browser `), browsers: 'known' },
    ...ofNetwork('loginOfAddress', network),
  ]
}
