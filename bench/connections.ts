// GET /user beside 5,000 idle and slow connections: while they are opened and held, and slow ones are ended.
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { bench } from './support/bench.ts'
import { startTool } from './support/child.ts'
import { pinTo } from './support/cores.ts'
import { pace } from './support/pace.ts'
import { limitRow, type Row } from './support/report.ts'
import { percentile } from './support/statistics.ts'
import { getUser, userClient } from './support/users.ts'
import { type Place, READS_PER_S, startPlace, timeOf } from './overload/place.ts'

const CONNECTIONS = 5000
const CROWD_MS = 14_000
const P99_MS = 50
const CONNECTION_KB = 25

await bench('Idle and slow connections', async (run) => {
  pinTo('both')
  const place = await startPlace(run, 'SQLite', {})
  const { port, residentMb } = place.service
  const crowd = run.use(
    startTool({ command: [fileURLToPath(import.meta.resolve('./programs/crowd.ts'))], cores: 'both' }),
  )
  const count = run.quick ? 500 : CONNECTIONS
  const durationMs = run.duration(CROWD_MS)
  const alone = await run.once(() => readKeptAndNew(place, durationMs))
  const beforeMb = residentMb()
  const beside = await run.once(async () => {
    await crowd.request({ port, count })
    return readKeptAndNew(place, durationMs)
  })
  const { open } = await crowd.request<{ open: number }>('count')
  if (open < count * 0.9) throw new Error(`only ${open} connections are open`)
  const takenKb = (1000 * (residentMb() - beforeMb)) / open
  const row = (what: string, figure: 'keptMs' | 'newMs'): Row =>
    limitRow(`${what} beside ${count.toLocaleString('en')} connections`, {
      unit: 'ms',
      svc: beside[figure],
      baseline: alone[figure],
      goal: { atMost: P99_MS },
    })
  run.note(
    `${Math.round(durationMs / 1000)} s with idle, slow and unread connections, opened 5,000 a second; the baseline is without them.`,
  )
  return [
    row('p99 of GET /user', 'keptMs'),
    row('p99 of GET /user on a new connection', 'newMs'),
    limitRow('memory of a connection', { unit: 'kB', svc: takenKb, goal: { atMost: CONNECTION_KB } }),
  ]
})

async function readKeptAndNew(place: Place, durationMs: number): Promise<{ keptMs: number; newMs: number }> {
  const { port } = place.service
  const request = getUser(place.readers[0].cookies)
  const newMs: number[] = []
  const endsMs = performance.now() + durationMs
  const readOnNew = async (): Promise<void> => {
    for (; performance.now() < endsMs; await wait(20)) newMs.push(await timeOf(port, request, 200))
  }
  const [keptMs] = await Promise.all([
    pace({ port, clients: place.readers.map(userClient), ratePerS: READS_PER_S, durationMs }),
    readOnNew(),
  ])
  return { keptMs: percentile(keptMs, 0.99), newMs: percentile(newMs, 0.99) }
}
