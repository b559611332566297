// The processor time of one password hash in milliseconds. Argument: whose hash.
import { pbkdf2 } from 'node:crypto'
import { promisify } from 'node:util'

const PASSWORD = 'a benchmark, not a secret'
const TIMES = 10

const HASHES = {
  svc: async () => {
    const { hash } = await import('@node-rs/argon2')
    return () => hash(PASSWORD, { memoryCost: 19 * 1024, timeCost: 2, parallelism: 1 })
  },
  'better-auth': async () => {
    const { hashPassword } = await import('better-auth/crypto')
    return () => hashPassword(PASSWORD)
  },
  passport: async () => () => promisify(pbkdf2)(PASSWORD, 'sixteen bytes...', 310_000, 32, 'sha256'),
}

const hash = await HASHES[process.argv[2]]()
await hash()
const before = process.cpuUsage()
for (let time = 0; time < TIMES; time++) await hash()
const { user, system } = process.cpuUsage(before)
console.log((user + system) / 1000 / TIMES)
