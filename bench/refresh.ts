// POST /auth/api/v1/sessions/refresh, durable, against bare node:http with the same response bytes.
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { bench, type Run } from './support/bench.ts'
import type { Child } from './support/child.ts'
import { moveTo } from './support/cores.ts'
import { type Client, load } from './support/load.ts'
import { limitRow, type Row, ratioRow } from './support/report.ts'
import { contestant, inTurn, rates } from './support/rounds.ts'
import { DATABASE, STALL_METER, startConstant, startService } from './support/servers.ts'
import { constantClient, postRefresh, refreshClient, signUpVisitors } from './support/visitors.ts'

const CLIENTS = 64
const LOG_MB = 16
const STALL_MS = 20

await bench('POST /auth/api/v1/sessions/refresh', async (run) => {
  moveTo('both')
  const folder = await run.newFolder()
  const service = run.use(await startService({ folder, cores: 'both', imports: [STALL_METER] }))
  // The sample response uses up a refresh token: that of a spare visitor, who is not measured.
  const [spare, ...visitors] = await signUpVisitors(service.port, CLIENTS + 1)
  const request = postRefresh(spare.cookies)
  const http = run.use(await startConstant('http', { like: service, request, cores: 'both', imports: [STALL_METER] }))

  const bare = contestant(
    http,
    Array.from({ length: CLIENTS }, () => constantClient(request)),
  )
  const svc = contestant(service, visitors.map(refreshClient))
  await inTurn(run, run.duration(3000), [bare, svc])
  const log = join(folder, `${DATABASE}-wal`)
  run.note(`${CLIENTS} sessions, each refreshing with the cookies of its last response; both cores for all processes.`)
  return [
    ratioRow('against bare node:http', { unit: '/s', svc: rates(svc), baseline: rates(bare), goal: { atLeast: 0.2 } }),
    ...(await measureLongRun(run, { http, bare: bare.clients, service, svc: svc.clients, log })),
  ]
})

interface LongRun {
  http: Child
  bare: readonly Client[]
  service: Child
  svc: readonly Client[]
  log: string
}

/**
 * Measures effects that appear only after some time: the growth of the log, and the longest stall of the event loop.
 */
async function measureLongRun(run: Run, { http, bare, service, svc, log }: LongRun): Promise<Row[]> {
  const durationMs = run.duration(10_000)
  const { stallMs: bareStallMs } = await loadAndWatch({ server: http, clients: bare, durationMs })
  const { stallMs, logMb } = await loadAndWatch({ server: service, clients: svc, durationMs, log })
  const seconds = `${durationMs / 1000} s`
  return [
    limitRow(`longest stall of the event loop in ${seconds}`, {
      unit: 'ms',
      svc: stallMs,
      baseline: bareStallMs,
      goal: { atMost: STALL_MS },
    }),
    limitRow(`largest -wal in ${seconds}`, { unit: 'MB', svc: Math.max(...logMb), goal: { atMost: LOG_MB } }),
    limitRow(`-wal after ${seconds}`, { unit: 'MB', svc: logMb.at(-1) ?? Number.NaN, goal: { atMost: LOG_MB } }),
  ]
}

interface Watched {
  server: Child
  clients: readonly Client[]
  durationMs: number
  log?: string
}

async function loadAndWatch({ server, clients, durationMs, log }: Watched) {
  const logMb: number[] = []
  const looking = setInterval(() => {
    if (log) logMb.push(statSync(log).size / 1e6)
  }, 50)
  await server.tell('start')
  await load({ port: server.port, clients, durationMs }).finally(() => clearInterval(looking))
  return { stallMs: await server.tell<number>('stop'), logMb }
}
