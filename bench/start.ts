// From the start of the process to the first 200 of GET /auth/health, against bare node:http.
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { bench } from './support/bench.ts'
import { startChild } from './support/child.ts'
import { sendRequest } from './support/connection.ts'
import { pinTo } from './support/cores.ts'
import { limitRow, ratioRow } from './support/report.ts'
import { constantCommand, NODE_FLAGS, SVC, serviceEnvironment, startService } from './support/servers.ts'
import { spread } from './support/statistics.ts'
import { get } from './support/users.ts'

const HEALTH = get('/auth/health')
const START_MS = 130
const PATIENCE_MS = 10_000
const STARTS_A_ROUND = 3

await bench('Start', async (run) => {
  pinTo('both')
  const folder = await run.newFolder()
  // Also creates the database, and warms the compile cache.
  const sample = await startService({ folder, cores: 'both' })
  const command = constantCommand(await sendRequest(sample.port, HEALTH))
  await sample.stop()
  const bareMs: number[] = []
  const againMs: number[] = []
  const firstMs: number[] = []
  const startOnce = async (): Promise<[number, number, number]> => {
    const empty = await run.newFolder()
    return [
      await timeStart((port) => startChild({ command: [...command, String(port)], cores: 'both' })),
      await timeStart((port) => startIn(folder, port)),
      await timeStart((port) => startIn(empty, port)),
    ]
  }
  for (let round = 0; round < run.rounds * (run.quick ? 1 : STARTS_A_ROUND); round++) {
    const [bare, again, first] = await run.round(startOnce)
    bareMs.push(bare)
    againMs.push(again)
    firstMs.push(first)
  }
  run.note(
    'From the spawn to the first 200 of GET /auth/health. The compile cache is warm, as it is from the second start on.',
  )
  return [
    ratioRow('start against bare node:http', { unit: 'ms', svc: againMs, baseline: bareMs }),
    limitRow('start', { unit: 'ms', svc: spread(againMs).median, goal: { atMost: START_MS } }),
    limitRow('first start, which creates database, key and secret', {
      unit: 'ms',
      svc: spread(firstMs).median,
      goal: { atMost: START_MS },
    }),
  ]
})

function startIn(cwd: string, port: number): ChildProcess {
  return startChild({ command: [...NODE_FLAGS, SVC, 'serve'], cwd, cores: 'both', env: serviceEnvironment(port) })
}

async function timeStart(start: (port: number) => ChildProcess): Promise<number> {
  const port = await findFreePort()
  const startedMs = performance.now()
  const child = start(port)
  child.stderr?.resume()
  try {
    await untilHealthy(port, startedMs + PATIENCE_MS)
    return performance.now() - startedMs
  } finally {
    child.kill()
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
  }
}

async function untilHealthy(port: number, deadlineMs: number): Promise<void> {
  for (;;) {
    const response = await sendRequest(port, HEALTH).catch(() => undefined)
    if (response?.status === 200) return
    if (performance.now() > deadlineMs) throw new Error(`no 200 within ${PATIENCE_MS} ms`)
    await wait(1)
  }
}

async function findFreePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  if (address === null || typeof address === 'string') throw new Error('no port')
  return address.port
}
