import { BlockList, isIP } from 'node:net'
import { withoutZone } from './address.ts'

/** An address, a CIDR range, `loopback` or `none`. */
export const isNetwork = (text: string): boolean => {
  if (text === 'loopback' || text === 'none') return true
  const [address = '', prefix, ...more] = text.split('/')
  const family = isIP(address)
  if (family === 0 || address.includes('%') || more.length > 0) return false
  if (prefix === undefined) return true
  return /^\d{1,3}$/.test(prefix) && Number(prefix) <= (family === 4 ? 32 : 128)
}

/** Adds a range, or an address; `BlockList` compares bytes, and takes IPv4 that is written as IPv6 for IPv4. */
const add = (list: BlockList, network: string): void => {
  const [address = '', prefix] = network.split('/')
  const family = isIP(address) === 6 ? 'ipv6' : 'ipv4'
  if (prefix === undefined) list.addAddress(address, family)
  else list.addSubnet(address, Number(prefix), family)
}

/** Whether an address is in one of these networks, however it is written. */
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
