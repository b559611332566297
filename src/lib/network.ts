import { BlockList, isIP } from 'node:net'
import { networkInterfaces } from 'node:os'
import { canonicalAddress, withoutZone } from './address.ts'

/** Whether a text is an address, a CIDR range, `loopback` or `none`. */
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

/** Whether a host, an address without brackets, is this machine itself (RFC 6761 section 6.3). */
export const isLoopbackHost = (host: string): boolean => /(?:^|\.)localhost\.?$/i.test(host) || isLoopbackAddress(host)

const PRIVATE = '10.0.0.0/8 172.16.0.0/12 192.168.0.0/16 100.64.0.0/10 169.254.0.0/16 fc00::/7 fe80::/10'

/** Whether an address is not routed on the Internet: RFC 1918, RFC 6598, RFC 3927, RFC 4193 and RFC 4291. */
export const isPrivateAddress = createNetworkCheck(PRIVATE.split(' '))

let ownAddresses: Set<string | undefined> | undefined

/** Whether a canonical address is one that this machine had when it was asked first. */
export const isOwnAddress = (address: string): boolean => {
  ownAddresses ??= new Set(
    Object.values(networkInterfaces()).flatMap((list) => list?.map((each) => canonicalAddress(each.address)) ?? []),
  )
  return ownAddresses.has(address)
}
