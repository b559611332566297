import { BlockList, isIP } from 'node:net'

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

/** `::ffff:1.2.3.4` is `1.2.3.4`. */
const plain = (address: string): string => address.replace(/^::ffff:(?=\d+\.)/i, '')

/** Whether an address is in one of these networks; IPv4 addresses written as IPv6 (`::ffff:1.2.3.4`) are IPv4. */
export const createNetworkCheck = (networks: string[]): ((address: string) => boolean) => {
  const list = new BlockList()
  for (const network of networks.flatMap((name) => (name === 'loopback' ? ['127.0.0.0/8', '::1'] : [name]))) {
    if (network === 'none') continue
    const [written = '', prefix] = network.split('/')
    const address = prefix === undefined ? plain(written) : written
    if (prefix === undefined) list.addAddress(address, familyOf(address))
    else list.addSubnet(address, Number(prefix), familyOf(address))
  }
  return (address) => {
    const known = plain(address)
    return isIP(known) !== 0 && list.check(known, familyOf(known))
  }
}
