import { BlockList, isIP, isIPv4 } from 'node:net'
import { networkInterfaces } from 'node:os'
import { canonicalAddress, withoutZone } from './address.ts'

/** Tells whether a text is an address, a CIDR range, `loopback` or `none`. */
export const isNetwork = (text: string): boolean => {
  if (text === 'loopback' || text === 'none') return true
  const [address = '', prefix, ...more] = text.split('/')
  const family = isIP(address)
  if (family === 0 || address.includes('%') || more.length > 0) return false
  if (prefix === undefined) return true
  return /^\d{1,3}$/.test(prefix) && Number(prefix) <= (family === 4 ? 32 : 128)
}

/** Adds a range or an address. `BlockList` compares bytes, and treats IPv4 that is written as IPv6 as IPv4. */
const add = (list: BlockList, network: string): void => {
  const [address = '', prefix] = network.split('/')
  const family = isIP(address) === 6 ? 'ipv6' : 'ipv4'
  if (prefix === undefined) list.addAddress(address, family)
  else list.addSubnet(address, Number(prefix), family)
}

/** Creates a check of whether an address, in any form, is in one of these networks. */
export const createNetworkCheck = (networks: string[]): ((address: string) => boolean) => {
  const list = new BlockList()
  for (const network of networks) {
    if (network === 'loopback') for (const own of ['127.0.0.0/8', '::1']) add(list, own)
    else if (network !== 'none') add(list, network)
  }
  return (address) => {
    const family = isIP(address)
    if (family === 4) return list.check(address, 'ipv4')
    return family === 6 && list.check(withoutZone(address), 'ipv6')
  }
}

const isLoopbackAddress = createNetworkCheck(['loopback'])

/** Tells whether a host, an address without brackets, is this machine itself (RFC 6761 section 6.3). */
export const isLoopbackHost = (host: string): boolean => /(?:^|\.)localhost\.?$/i.test(host) || isLoopbackAddress(host)

const PRIVATE = '10.0.0.0/8 172.16.0.0/12 192.168.0.0/16 100.64.0.0/10 169.254.0.0/16 fc00::/7 fe80::/10'

/** Tells whether an address is not routed on the Internet: RFC 1918, RFC 6598, RFC 3927, RFC 4193 and RFC 4291. */
export const isPrivateAddress = createNetworkCheck(PRIVATE.split(' '))

/** These are not for hosts of the Internet (the registries of RFC 6890), or hold an IPv4 address within them. */
const NOT_PUBLIC =
  `loopback ${PRIVATE} 0.0.0.0/8 192.0.0.0/24 192.0.2.0/24 192.88.99.0/24 198.18.0.0/15 198.51.100.0/24 ` +
  '203.0.113.0/24 224.0.0.0/3 2001::/23 2001:db8::/32 2002::/16 3fff::/20'

const isNotPublic = createNetworkCheck(NOT_PUBLIC.split(' '))
/** All others of IPv6 are reserved (RFC 4291 section 2.4). */
const isAssigned = createNetworkCheck(['2000::/3'])

/** Tells whether an address, in any form, is one of a host on the Internet. */
export const isPublicAddress = (address: string): boolean => {
  const canonical = canonicalAddress(address)
  if (canonical === undefined || isNotPublic(canonical)) return false
  return !canonical.includes(':') || isAssigned(canonical)
}

let ownAddresses: Set<string | undefined> | undefined

/** Tells whether a canonical address is one that this machine had when it was asked first. */
export const isOwnAddress = (address: string): boolean => {
  ownAddresses ??= new Set(
    Object.values(networkInterfaces()).flatMap((list) => list?.map((each) => canonicalAddress(each.address)) ?? []),
  )
  return ownAddresses.has(address)
}

/** IPv4 addresses are a part of IPv6 (RFC 4291 section 2.5.5.2): `1.2.3.4` is `::ffff:1.2.3.4`. */
const IPV4_BEGIN = 0xffff_0000_0000n

interface Range {
  first: bigint
  last: bigint
}

/**
 * These are the public addresses: IPv4 without multicast and reserved addresses, and the assigned part of IPv6 (RFC
 * 4291 section 2.4).
 */
const PUBLIC: readonly Range[] = [
  { first: IPV4_BEGIN, last: IPV4_BEGIN + 0xdfff_ffffn },
  { first: 0x2n << 124n, last: (0x4n << 124n) - 1n },
]

/**
 * Tells whether networks, as `isNetwork` accepts them, cover at least half of the public addresses of IPv4 or of IPv6.
 */
export const coverMostAddresses = (networks: readonly string[]): boolean => {
  const ranges = merged(networks.flatMap((network) => rangeOf(network) ?? []))
  return PUBLIC.some((world) => {
    const covered = ranges.reduce((sum, range) => sum + sizeOf(overlapOf(range, world)), 0n)
    return covered * 2n >= sizeOf(world)
  })
}

const rangeOf = (network: string): Range | undefined => {
  const [address = '', prefix] = network.split('/')
  if (!/[.:]/.test(address)) return undefined
  const bits = isIPv4(address) ? 32 : 128
  const span = 1n << BigInt(bits - Number(prefix ?? bits))
  const first = (numberOf(address) / span) * span
  return { first, last: first + span - 1n }
}

const numberOf = (address: string): bigint => {
  if (isIPv4(address)) return address.split('.').reduce((sum, part) => sum * 256n + BigInt(part), IPV4_BEGIN >> 32n)
  // A URL contains the canonical form of an address, in which all groups are hexadecimal.
  const [head = '', tail] = new URL(`http://[${address}]`).hostname.slice(1, -1).split('::')
  const [before, after] = [head, tail ?? ''].map((part) => (part === '' ? [] : part.split(':'))) as [string[], string[]]
  const zeros = Array<string>(8 - before.length - after.length).fill('0')
  return [...before, ...zeros, ...after].reduce((sum, group) => (sum << 16n) + BigInt(`0x${group}`), 0n)
}

/** Merges ranges of addresses, so that none overlap. */
const merged = (ranges: Range[]): Range[] => {
  const result: Range[] = []
  for (const { first, last } of ranges.toSorted((a, b) => (a.first < b.first ? -1 : 1))) {
    const latest = result.at(-1)
    if (!latest || first > latest.last + 1n) result.push({ first, last })
    else if (last > latest.last) latest.last = last
  }
  return result
}

const overlapOf = (one: Range, other: Range): Range => ({
  first: one.first > other.first ? one.first : other.first,
  last: one.last < other.last ? one.last : other.last,
})

const sizeOf = ({ first, last }: Range): bigint => (last < first ? 0n : last - first + 1n)
