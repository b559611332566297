// 200 clients that log in at once: what is served, how soon the others are refused, and what others notice.
import { randomBytes } from 'node:crypto'
import { startPostgres } from '../test/support/postgres/postgres.ts'
import { CLIENTS, READS_PER_S, startPlace } from './overload/place.ts'
import { measureStorms } from './overload/storms.ts'
import { bench } from './support/bench.ts'
import { pinTo } from './support/cores.ts'
import type { Row } from './support/report.ts'
import { startHasher } from './support/servers.ts'

const SHORT_QUEUE = 64

await bench('Overload', async (run) => {
  pinTo('both')
  const hasher = run.use(startHasher('both'))
  const postgres = run.use(await startPostgres({ settings: { fsync: 'on' } }))
  const onPostgres = async (): Promise<Record<string, string>> => ({
    SVC_DATABASE_URL: await postgres.createDatabase(),
    SVC_SECRET: randomBytes(32).toString('base64'),
  })
  const rows: Row[] = []
  for (const [name, env] of [
    ['SQLite', {}],
    [`SQLite, queue of ${SHORT_QUEUE}`, { SVC_HASH_QUEUE: String(SHORT_QUEUE) }],
    ['PostgreSQL', await onPostgres()],
  ] as const) {
    const place = await startPlace(run, name, env)
    rows.push(...(await measureStorms(run, hasher, place)))
    await place.service.stop()
  }
  run.note(`${CLIENTS} clients log in at once, again and again, each time from another address; limits are on.`)
  run.note('Refused clients wait for as long as Retry-After says. "A second later" is after all clients have hung up.')
  run.note(`${READS_PER_S} reads/s; all on the same two cores.`)
  return rows
})
