import { isIP, SocketAddress } from 'node:net'

/**
 * The one spelling of an IP address (RFC 5952): lower-case, without leading zeros and without a zone, and an IPv4 address
 * written as IPv6 (`::ffff:c633:6408`) as IPv4. Undefined for what is no address.
 */
export const canonicalAddress = (text: string): string | undefined => {
  // There is only one way to write an IPv4 address: `isIP` knows nothing of leading zeros or of fewer numbers.
  const plain = withoutPrefix(text)
  const family = isIP(plain)
  if (family !== 6) return family === 4 ? plain : undefined
  return withoutPrefix(new SocketAddress({ address: withoutZone(plain), family: 'ipv6' }).address)
}

const IPV4_PREFIX = '::ffff:'

/** `198.51.100.8` of `::ffff:198.51.100.8`, as a listener for both families names its IPv4 peers. */
const withoutPrefix = (address: string): string => {
  const rest = address.slice(IPV4_PREFIX.length)
  return address.startsWith(IPV4_PREFIX) && isIP(rest) === 4 ? rest : address
}

/** An IPv6 address without the interface by which it is reached: `fe80::1` of `fe80::1%eth0`. */
export const withoutZone = (address: string): string => {
  const mark = address.indexOf('%')
  return mark < 0 ? address : address.slice(0, mark)
}

/**
 * Whom to count an address for: an IPv4 address for itself, an IPv6 address for its /64, since a network that has one of
 * its addresses has them all. Text that is no address stays as it is.
 */
export const networkOf = (address: string): string => {
  const known = canonicalAddress(address) ?? address
  if (!known.includes(':')) return known
  const [head = '', tail = ''] = known.split('::')
  const [first, last] = [groupsOf(head), groupsOf(tail)]
  const zeros = Array.from({ length: 8 - first.length - last.length }, () => '0')
  return `${[...first, ...zeros, ...last].slice(0, 4).join(':')}::/64`
}

/** Four numbers with dots, as in `::198.51.100.8`, are two groups. */
const groupsOf = (text: string): string[] =>
  text.split(':').flatMap((group) => (group.includes('.') ? [group, group] : group || []))
