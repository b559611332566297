// From the call of startSvc, of the SDK's entry for tests, until svc serves with mail and webhooks.
import { startSvc } from '../sdk/src/testing.ts'
import { bench } from './support/bench.ts'
import { pinTo } from './support/cores.ts'
import { limitRow } from './support/report.ts'
import { SVC } from './support/servers.ts'
import { spread } from './support/statistics.ts'

const START_MS = 500
const STARTS_A_ROUND = 3

const timeStart = async (): Promise<number> => {
  const startedMs = performance.now()
  const svc = await startSvc()
  const tookMs = performance.now() - startedMs
  await svc.stop()
  return tookMs
}

await bench('Start in tests of applications', async (run) => {
  pinTo('both')
  process.env.SVC_BIN = SVC
  // Warms the compile cache.
  await timeStart()
  const startMs: number[] = []
  for (let round = 0; round < run.rounds * (run.quick ? 1 : STARTS_A_ROUND); round++) {
    startMs.push(await run.round(timeStart))
  }
  run.note('`svc dev`, by `startSvc` of `@svc/sdk/testing`.')
  return [limitRow('startSvc', { unit: 'ms', svc: spread(startMs).median, goal: { atMost: START_MS } })]
})
