// The same hours on PostgreSQL, on the same cores.
import { randomBytes } from 'node:crypto'
import { startPostgres } from '../test/support/postgres/postgres.ts'
import { benchSoak } from './soak/measure.ts'
import type { Sizes } from './soak/samples.ts'

const SIZES = `SELECT pg_database_size(current_database())::float8 / 1e6 AS "databaseMb",
                      (SELECT sum(size) FROM pg_ls_waldir())::float8 / 1e6 AS "walMb"`

await benchSoak('Hours of mixed load, PostgreSQL', async (run) => {
  const postgres = run.use(await startPostgres({ settings: { fsync: 'on' } }))
  const url = await postgres.createDatabase()
  return {
    env: { SVC_DATABASE_URL: url, SVC_SECRET: randomBytes(32).toString('base64') },
    sizes: async () => {
      const [sizes] = await postgres.query<Sizes>(url, SIZES)
      return sizes ?? { databaseMb: Number.NaN, walMb: Number.NaN }
    },
  }
})
