// Preloaded into the service (NODE_OPTIONS=--import): writes its private key to a file, so that a test can sign tokens
// that the service itself would never sign.
import crypto, { KeyObject } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'

const keep = (key: unknown) => {
  const candidate = typeof key === 'object' && key !== null && 'key' in key ? key.key : key
  if (!(candidate instanceof KeyObject) || candidate.type !== 'private') return
  if (candidate.asymmetricKeyType !== 'ec') return
  writeFileSync(process.env.TEST_KEY_FILE ?? '', JSON.stringify(candidate.export({ format: 'jwk' })))
}

Object.assign(crypto, {
  sign: new Proxy(crypto.sign, {
    apply: (sign, self, args: unknown[]) => {
      keep(args[2])
      return Reflect.apply(sign, self, args)
    },
  }),
})
syncBuiltinESMExports()
