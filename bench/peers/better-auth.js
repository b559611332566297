// Better Auth as its documentation recommends for Node, on `node:sqlite`. Arguments: port, secret, and `cache` for its
// cookie cache.
import { createServer } from 'node:http'
import { DatabaseSync } from 'node:sqlite'
import { betterAuth } from 'better-auth'
import { getMigrations } from 'better-auth/db/migration'
import { toNodeHandler } from 'better-auth/node'

const [port, secret, cache] = process.argv.slice(2)
const database = new DatabaseSync('peer.db')
// Durable, and the fastest of the durable modes.
database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL')

const options = {
  baseURL: `http://localhost:${port}`,
  secret,
  database,
  emailAndPassword: { enabled: true },
  rateLimit: { enabled: false },
  telemetry: { enabled: false },
  logger: { level: 'error' },
  session: { cookieCache: { enabled: cache === 'cache', maxAge: 300 } },
}
const { runMigrations } = await getMigrations(options)
await runMigrations()
createServer(toNodeHandler(betterAuth(options))).listen(Number(port), '127.0.0.1', () => {
  process.stderr.write(`{"listen":"http://127.0.0.1:${port}"}\n`)
})
process.once('SIGTERM', () => process.exit())
