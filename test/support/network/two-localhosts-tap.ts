// Preloaded into the service (NODE_OPTIONS=--import): `localhost` has an IPv4 and an IPv6 address on every machine, so
// that `SVC_HOST=localhost` listens on both.
import { promises as dns } from 'node:dns'
import { syncBuiltinESMExports } from 'node:module'

const ADDRESSES = [
  { address: '127.0.0.1', family: 4 },
  { address: '::1', family: 6 },
]
const lookup = dns.lookup as (host: string, options: object) => Promise<unknown>
const both = async (host: string, options: object): Promise<unknown> =>
  host === 'localhost' && 'all' in options && options.all === true ? ADDRESSES : lookup(host, options)
Object.assign(dns, { lookup: both })
syncBuiltinESMExports()
