// `svc database copy` of a million users with a session each, from SQLite to PostgreSQL and back: rows per second, and
// memory.

import { once } from 'node:events'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { startPostgres } from '../test/support/postgres/postgres.ts'
import { bench, type Run } from './support/bench.ts'
import { startChild } from './support/child.ts'
import { pinTo } from './support/cores.ts'
import { limitRow, type Row } from './support/report.ts'
import { seed } from './support/seed.ts'
import { DATABASE, NODE_FLAGS, SVC, startService } from './support/servers.ts'

const USERS = 1_000_000
const USERS_QUICK = 100_000
const SHARE = 10
const PEAK_MB = 256

const PEAK_METER = new URL('./programs/peak-meter.ts', import.meta.url).href

/** A copy to PostgreSQL and back. */
interface RoundTrip {
  there: CopyResult
  back: CopyResult
  /** Bytes in PostgreSQL, including indexes. */
  userBytes: number
  sessionBytes: number
}

interface CopyResult {
  rowsPerS: number
  peakMb: number
}

await bench('svc database copy', async (run) => {
  pinTo('both')
  const users = run.quick ? USERS_QUICK : USERS
  const few = await measureRoundTrip(run, users / SHARE)
  const many = await measureRoundTrip(run, users)
  run.note(`${users.toLocaleString('en')} users with a session each; the baseline has a tenth of them.`)
  run.note('Includes the whole command: copy, second read on both sides, and comparison; every commit is on disk.')
  return [
    rateRow('SQLite to PostgreSQL', few.there, many.there),
    rateRow('PostgreSQL to SQLite', few.back, many.back),
    peakRow('peak memory, SQLite to PostgreSQL', few.there, many.there),
    peakRow('peak memory, PostgreSQL to SQLite', few.back, many.back),
    { what: 'a user in PostgreSQL, including indexes', unit: 'bytes', baseline: few.userBytes, svc: many.userBytes },
    {
      what: 'a session in PostgreSQL, including indexes',
      unit: 'bytes',
      baseline: few.sessionBytes,
      svc: many.sessionBytes,
    },
  ]
})

async function measureRoundTrip(run: Run, users: number): Promise<RoundTrip> {
  const folder = await run.newFolder()
  // The first start creates the schema, the key and the secret.
  const service = await startService({ folder, cores: 'both' })
  await service.stop()
  seed(folder, users)
  await using postgres = await startPostgres({ settings: { fsync: 'on' } })
  const url = await postgres.createDatabase()
  const there = await run.once(() => copy(`sqlite:${join(folder, DATABASE)}`, url, users * 2))
  const [sizes = { users: 0, sessions: 0 }] = await postgres.query<{ users: string; sessions: string }>(
    url,
    `SELECT pg_total_relation_size('users') AS users, pg_total_relation_size('sessions') AS sessions`,
  )
  const [userBytes, sessionBytes] = [Number(sizes.users) / users, Number(sizes.sessions) / users]
  const back = await run.once(() => copy(url, `sqlite:${join(folder, 'back.db')}`, users * 2))
  return { userBytes, sessionBytes, there, back }
}

/** Runs the command, which fails if the copy differs. */
async function copy(from: string, to: string, rows: number): Promise<CopyResult> {
  const command = [...NODE_FLAGS, SVC, 'database', 'copy', '--from', from, '--to', to]
  const begunMs = performance.now()
  const child = startChild({ command, cores: 'both', imports: [PEAK_METER] })
  const [said, [code]] = await Promise.all([child.stderr ? text(child.stderr) : '', once(child, 'exit')])
  const peakKib = /^peak (\d+) KiB$/m.exec(said)?.[1]
  if (code !== 0 || peakKib === undefined) throw new Error(`svc database copy ended with ${code}: ${said}`)
  return { rowsPerS: rows / ((performance.now() - begunMs) / 1000), peakMb: (Number(peakKib) * 1024) / 1e6 }
}

function rateRow(what: string, few: CopyResult, many: CopyResult): Row {
  return { what, unit: 'rows/s', baseline: few.rowsPerS, svc: many.rowsPerS }
}

function peakRow(what: string, few: CopyResult, many: CopyResult): Row {
  return limitRow(what, { unit: 'MB', svc: many.peakMb, baseline: few.peakMb, goal: { atMost: PEAK_MB } })
}
