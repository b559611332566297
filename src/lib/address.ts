import { isIP, SocketAddress } from 'node:net'

/**
 * Finds the canonical form of an IP address (RFC 5952): lower-case, with neither leading zeros nor a zone. An IPv4
 * address that is written as IPv6 (`::ffff:c633:6408`) becomes IPv4. Returns undefined if the text is not an address.
 */
export const canonicalAddress = (text: string): string | undefined => {
  // An IPv4 address has only one form: `isIP` refuses leading zeros and fewer than four numbers.
  const plain = withoutPrefix(text)
  const family = isIP(plain)
  if (family !== 6) return family === 4 ? plain : undefined
  return withoutPrefix(new SocketAddress({ address: withoutZone(plain), family: 'ipv6' }).address)
}

const IPV4_PREFIX = '::ffff:'

/** Turns `::ffff:198.51.100.8`, which a dual-stack listener reports for IPv4 peers, into `198.51.100.8`. */
const withoutPrefix = (address: string): string => {
  if (!address.startsWith(IPV4_PREFIX)) return address
  const rest = address.slice(IPV4_PREFIX.length)
  return isIP(rest) === 4 ? rest : address
}

/** Removes the zone from an IPv6 address: `fe80::1%eth0` becomes `fe80::1`. */
export const withoutZone = (address: string): string => {
  const mark = address.indexOf('%')
  return mark < 0 ? address : address.slice(0, mark)
}

/**
 * Finds the network that an address counts for: an IPv4 address itself, or the /64 of an IPv6 address, since the owner
 * of one address in a /64 owns all of them. Text that is not an address is returned unchanged.
 */
export const networkOf = (address: string): string => {
  const canonical = canonicalAddress(address) ?? address
  if (!canonical.includes(':')) return canonical
  const [head = '', tail = ''] = canonical.split('::')
  const [first, last] = [groupsOf(head), groupsOf(tail)]
  const zeros = Array.from({ length: 8 - first.length - last.length }, () => '0')
  return `${[...first, ...zeros, ...last].slice(0, 4).join(':')}::/64`
}

/** Four numbers with dots, as in `::198.51.100.8`, stand for two groups. */
const groupsOf = (text: string): string[] =>
  text.split(':').flatMap((group) => (group.includes('.') ? [group, group] : group || []))

/** It stands for the network of a client whose address is not known. */
export const UNKNOWN_NETWORK = 'unknown'

/** Finds the /48 of the network of an IPv6 address, as `networkOf` returns it; returns undefined for any other. */
export const widerNetworkOf = (network: string): string | undefined => {
  const [one, two, three, four] = network.split(':')
  return four === undefined ? undefined : `${one}:${two}:${three}::/48`
}
