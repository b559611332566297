// Preloaded into the service (NODE_OPTIONS=--import): `localhost` has an address of IPv4 and one of IPv6, whatever this
// machine says, so that `SVC_HOST=localhost` listens on both.
import dns from 'node:dns'
import { syncBuiltinESMExports } from 'node:module'

type Lookup = (host: string, options: object, done: (error: null, addresses: object[]) => void) => void

const lookup = dns.lookup as unknown as Lookup
const ADDRESSES = [
  { address: '127.0.0.1', family: 4 },
  { address: '::1', family: 6 },
]
const both: Lookup = (host, options, done) => {
  if (host === 'localhost' && 'all' in options && options.all === true) process.nextTick(done, null, ADDRESSES)
  else lookup(host, options, done)
}
Object.assign(dns, { lookup: both })
syncBuiltinESMExports()
