// POST /auth/api/v1/sessions/refresh, durable, against bare node:http with the same response bytes.
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { bench, type Run } from './support/bench.ts'
import type { Child } from './support/child.ts'
import { pinTo } from './support/cores.ts'
import { type Client, load } from './support/load.ts'
import { limitRow, type Row, ratioRow } from './support/report.ts'
import { createTarget, measureInTurn, rates } from './support/rounds.ts'
import { DATABASE, STALL_METER, startConstant, startService } from './support/servers.ts'
import { constantClient, postRefresh, refreshClient, signUpUsers } from './support/users.ts'

const CLIENTS = 64
const LOG_MB = 16
const STALL_MS = 20

await bench('POST /auth/api/v1/sessions/refresh', async (run) => {
  pinTo('both')
  const folder = await run.newFolder()
  const service = run.use(await startService({ folder, cores: 'both', imports: [STALL_METER] }))
  // The sample response uses up a refresh token: that of a spare user, who is not measured.
  const [spare, ...users] = await signUpUsers(service.port, CLIENTS + 1)
  const request = postRefresh(spare.cookies)
  const http = run.use(await startConstant({ like: service, request, cores: 'both', imports: [STALL_METER] }))

  const bare = createTarget(
    http,
    Array.from({ length: CLIENTS }, () => constantClient(request)),
  )
  const svc = createTarget(service, users.map(refreshClient))
  await measureInTurn(run, run.duration(3000), [bare, svc])
  const log = join(folder, `${DATABASE}-wal`)
  run.note(`${CLIENTS} sessions, each refreshing with the cookies of its last response; both cores for all processes.`)
  return [
    ratioRow('against bare node:http', { unit: '/s', svc: rates(svc), baseline: rates(bare), goal: { atLeast: 0.22 } }),
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
  const { stallMs: bareStallMs } = await run.round(() => loadAndWatch({ server: http, clients: bare, durationMs }))
  const { stallMs, logMb } = await run.round(() => loadAndWatch({ server: service, clients: svc, durationMs, log }))
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
  const sampler = setInterval(() => {
    if (log) logMb.push(statSync(log).size / 1e6)
  }, 50)
  await server.request('start')
  await load({ port: server.port, clients, durationMs }).finally(() => clearInterval(sampler))
  return { stallMs: await server.request<number>('stop'), logMb }
}
