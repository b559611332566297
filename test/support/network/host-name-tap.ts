// Preloaded into the service (NODE_OPTIONS=--import): without a name server, every name under corp.example is this
// machine, and nobody knows a name under invalid.
import dns from 'node:dns'
import { syncBuiltinESMExports } from 'node:module'

type Found = (error: Error) => void

Object.assign(dns, {
  lookup: new Proxy(dns.lookup, {
    apply: (lookup, self, [name, ...rest]: unknown[]) => {
      const hostname = String(name)
      const error = Object.assign(new Error(`getaddrinfo ENOTFOUND ${hostname}`), { code: 'ENOTFOUND', hostname })
      if (hostname.endsWith('.invalid')) return process.nextTick(rest.at(-1) as Found, error)
      return Reflect.apply(lookup, self, [hostname.endsWith('.corp.example') ? '127.0.0.1' : name, ...rest])
    },
  }),
})
syncBuiltinESMExports()
