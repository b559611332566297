import { fileURLToPath } from 'node:url'
import { startServer } from '../../../bench/support/child.ts'
import { processTreeCpuMs } from '../../../bench/support/cpu-time.ts'
import { measureProcessorTime } from '../../../bench/support/processor-time.ts'

const BARE_SERVER = fileURLToPath(new URL('../../../bench/programs/constant-http.ts', import.meta.url))
const RESPONSE = { status: 200, headers: ['Content-Type', 'text/plain'], body: 'ok', keepAliveTimeoutS: 5 }
const REQUEST = 'GET / HTTP/1.1\r\nHost: localhost\r\n\r\n'
const [WARM_UP_MS, DURATION_MS] = [500, 1000]
/** What `node:http` alone answers in a second of a core, on the machine for which the goal of the suite is set. */
const REFERENCE_PER_S = 60_000

/** How many requests bare `node:http` answers here in a second of processor time. */
const measureBareHttp = async (): Promise<number> => {
  await using server = await startServer({ command: [BARE_SERVER, JSON.stringify(RESPONSE)], cores: 'both' })
  const clients = Array.from({ length: 32 }, () => ({ request: () => REQUEST, expectStatus: 200 }))
  const measure = (durationMs: number) =>
    measureProcessorTime({ port: server.port, clients, durationMs, pids: [server.pid] })
  await measure(WARM_UP_MS)
  const { usedUs } = await measure(DURATION_MS)
  return 1_000_000 / (usedUs[0] ?? Number.NaN)
}

const round = (count: number): string => Math.round(count).toLocaleString('en')

/**
 * Describes the duration of the run and, on Linux, its processor time with services and databases, in seconds of this
 * machine and of one on which bare `node:http` answers 60,000 requests in a second of a core.
 */
export const describeCost = async (): Promise<string> => {
  const duration = `${round(performance.now() / 1000)} seconds`
  if (process.platform !== 'linux') return duration
  const cpuS = processTreeCpuMs(process.pid) / 1000
  const perS = await measureBareHttp()
  const scaledS = (cpuS * perS) / REFERENCE_PER_S
  return (
    `${duration}, and ${round(cpuS)} of processor time where bare node:http answers ${round(perS)} requests in one ` +
    `of them: ${round(scaledS)} where it answers ${round(REFERENCE_PER_S)}`
  )
}
