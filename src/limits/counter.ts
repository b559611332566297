import { UNKNOWN_NETWORK, widerNetworkOf } from '../lib/address.ts'
import { LIMITS, type LimitName, UNKNOWN_NETWORK_FACTOR, WIDER_NETWORK_FACTOR } from './limit-table.ts'

/** Where a try counts: a limit, and what it is counted for. */
export interface Counter {
  limit: LimitName
  /** The key of its row. For a known browser the beginning: the row says since when it is known. */
  id: string
  tries: number
  windowMs: number
  /** Of such counters there can be a flood: their rows go first when the table is full. */
  isOfNetwork: boolean
  /** Nothing but time ends it early, and so it may be remembered that it is full. */
  isRememberedFull: boolean
  /** In which browsers a login counts here. */
  browsers: 'all' | 'known' | 'unknown'
}

/** A limit, and what it is counted for: a network, a user, or both. */
export type LimitedBy = [limit: LimitName, of: { userId?: string; network?: string }]

const timesOf = (network: string | undefined): number => (network === UNKNOWN_NETWORK ? UNKNOWN_NETWORK_FACTOR : 1)

const counterOf = (
  limit: LimitName,
  {
    id,
    network,
    times = timesOf(network),
    ...rest
  }: Pick<Counter, 'id'> & {
    network?: string | undefined
    times?: number
  } & Partial<Counter>,
): Counter => {
  const { tries, windowMs, key } = LIMITS[limit]
  return {
    limit,
    id,
    tries: tries * times,
    windowMs,
    isOfNetwork: network !== undefined,
    isRememberedFull: key === 'network',
    browsers: 'all',
    ...rest,
  }
}

/** A network that is part of a larger one counts for both. */
const ofNetwork = (limit: LimitName, network: string): Counter[] => {
  const wider = widerNetworkOf(network)
  return [
    counterOf(limit, { id: `${limit} ${network}`, network }),
    ...(wider === undefined
      ? []
      : [counterOf(limit, { id: `${limit} ${wider}`, network: wider, times: WIDER_NETWORK_FACTOR })]),
  ]
}

export const countersOf = ([limit, { userId, network }]: LimitedBy): Counter[] => {
  if (userId === undefined) return ofNetwork(limit, network ?? UNKNOWN_NETWORK)
  const id = network === undefined ? `${limit} ${userId}` : `${limit} ${userId} ${network}`
  return [counterOf(limit, { id, network })]
}

/** With what the counters of an account's logins begin. `account` is a keyed hash of its email. */
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
