// From the start of the process to the first 200 of GET /auth/health, against bare node:http.
import type { ChildProcess } from 'node:child_process'
import { bench } from './support/bench.ts'
import { startChild } from './support/child.ts'
import { sendRequest } from './support/connection.ts'
import { pinTo } from './support/cores.ts'
import { limitRow, ratioRow } from './support/report.ts'
import { constantCommand, NODE_FLAGS, SVC, serviceEnvironment, startService } from './support/servers.ts'
import { timeStart } from './support/start-time.ts'
import { spread } from './support/statistics.ts'
import { get } from './support/users.ts'

const HEALTH = get('/auth/health')
const START_MS = 130
const FIRST_START_MS = 250
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
      await timeStart((port) => startChild({ command: [...command, String(port)], cores: 'both' }), HEALTH),
      await timeStart((port) => startIn(folder, port), HEALTH),
      await timeStart((port) => startIn(empty, port), HEALTH),
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
      goal: { atMost: FIRST_START_MS },
    }),
  ]
})

function startIn(cwd: string, port: number): ChildProcess {
  return startChild({ command: [...NODE_FLAGS, SVC, 'serve'], cwd, cores: 'both', env: serviceEnvironment(port) })
}
