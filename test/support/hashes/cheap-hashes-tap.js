// Preloaded into the service (NODE_OPTIONS=--import): its password hashes take next to no time. Plain JavaScript, since
// the start of each process would wait for the types of a TypeScript file to be stripped.
import { enableCompileCache } from 'node:module'
import { fileURLToPath } from 'node:url'

enableCompileCache(fileURLToPath(new URL('../../../node_modules/.cache/svc', import.meta.url)))
const { argon2Cost } = await import('../../../src/config/hash-cost.ts')
argon2Cost.parse = () => ({ memoryCost: 8, timeCost: 1, parallelism: 1 })
