// Preloaded into the service (NODE_OPTIONS=--import): every name under corp.example is this machine, without a name
// server.
import dns from 'node:dns'
import { syncBuiltinESMExports } from 'node:module'

Object.assign(dns, {
  lookup: new Proxy(dns.lookup, {
    apply: (lookup, self, [name, ...rest]: unknown[]) =>
      Reflect.apply(lookup, self, [String(name).endsWith('.corp.example') ? '127.0.0.1' : name, ...rest]),
  }),
})
syncBuiltinESMExports()
