import { BlockList, isIP } from 'node:net'
import { canonicalAddress } from './address.ts'

/** An address, a CIDR range, `loopback` or `none`. */
export const isNetwork = (text: string): boolean => {
  if (text === 'loopback' || text === 'none') return true
  const [address = '', prefix, ...more] = text.split('/')
  const family = isIP(address)
  if (family === 0 || address.includes('%') || more.length > 0) return false
  if (prefix === undefined) return true
  return /^\d{1,3}$/.test(prefix) && Number(prefix) <= (family === 4 ? 32 : 128)
}

const familyOf = (address: string): 'ipv4' | 'ipv6' => (isIP(address) === 6 ? 'ipv6' : 'ipv4')

/** Whether an address is in one of these networks, however it is written (`canonicalAddress`). */
export const createNetworkCheck = (networks: string[]): ((address: string) => boolean) => {
  const list = new BlockList()
  for (const network of networks.flatMap((name) => (name === 'loopback' ? ['127.0.0.0/8', '::1'] : [name]))) {
    if (network === 'none') continue
    const [address = '', prefix] = network.split('/')
    const known = canonicalAddress(address) ?? address
    // The bits of a range count from the front of the address as it is written.
    if (prefix === undefined) list.addAddress(known, familyOf(known))
    else list.addSubnet(address, Number(prefix), familyOf(address))
  }
  return (address) => {
    const known = canonicalAddress(address)
    return known !== undefined && list.check(known, familyOf(known))
  }
}
