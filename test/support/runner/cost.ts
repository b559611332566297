import { writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { startServer } from '../../../bench/support/child.ts'
import { processTreeCpuMs } from '../../../bench/support/cpu-time.ts'
import { load } from '../../../bench/support/load.ts'
import type { Job } from './pool.ts'
import { TITLES } from './report.ts'
import type { FileResult } from './worker-process.ts'

const BARE_SERVER = fileURLToPath(new URL('../../../bench/programs/constant-http.ts', import.meta.url))
const RESPONSE = { status: 200, headers: ['Content-Type', 'text/plain'], body: 'ok', keepAliveTimeoutS: 5 }
const REQUEST = 'GET / HTTP/1.1\r\nHost: localhost\r\n\r\n'
const [WARM_UP_MS, DURATION_MS, PATIENCE_MS] = [1000, 1000, 10_000]
/** What `node:http` alone answers in a second of a core, on the machine for which the goal of the suite is set. */
const REFERENCE_PER_S = 60_000
const HEAVIEST = 20

/** How many requests bare `node:http` answers here in a second of processor time, once its code is compiled. */
const measureBareHttp = async (): Promise<number> => {
  await using server = await startServer({ command: [BARE_SERVER, JSON.stringify(RESPONSE)], cores: 'both' })
  const clients = Array.from({ length: 32 }, () => ({ request: () => REQUEST, expectStatus: 200 }))
  /** Loads the server until it has used so much processor time, however little of it the machine spares. */
  const requestsIn = async (usedMs: number): Promise<number> => {
    let requests = 0
    const [startMs, endMs] = [performance.now(), processTreeCpuMs(server.pid) + usedMs]
    while (processTreeCpuMs(server.pid) < endMs && performance.now() < startMs + PATIENCE_MS)
      requests += (await load({ port: server.port, clients, durationMs: 100 })).requests
    return requests
  }
  await requestsIn(WARM_UP_MS)
  const startMs = processTreeCpuMs(server.pid)
  const requests = await requestsIn(DURATION_MS)
  return (requests * 1000) / (processTreeCpuMs(server.pid) - startMs)
}

const round = (count: number): string => Math.round(count).toLocaleString('en')

const describe = ({ cpuMs, title }: { cpuMs: number; title: string }): string =>
  `${(cpuMs / 1000).toFixed(1).padStart(6)} s  ${title}`

const sum = (costs: { cpuMs: number }[]): number => costs.reduce((total, { cpuMs }) => total + cpuMs, 0)

/** Counts the processor time of a run, on Linux. `list` is a file for what each test file cost. */
export const createCosts = (list: string) => {
  const files: { database: Job['database']; title: string; cpuMs: number }[] = []
  const parts = [{ title: 'before the first file', cpuMs: processTreeCpuMs(process.pid) }]

  /** What is spent on what, and the files that cost the most. */
  const describeParts = (totalMs: number): string[] => {
    const known = [
      ...parts,
      ...Object.entries(TITLES).map(([database, title]) => ({
        title: `the files on ${title}`,
        cpuMs: sum(files.filter((file) => file.database === database)),
      })),
    ]
    const rest = { title: 'the start of the processes that run files, and this one', cpuMs: totalMs - sum(known) }
    const sorted = files.toSorted((one, other) => other.cpuMs - one.cpuMs).map(describe)
    writeFileSync(list, `${sorted.join('\n')}\n`)
    return [...[...known, rest].map(describe), '', ...sorted.slice(0, HEAVIEST), '']
  }

  return {
    add: ({ file, database }: Job, { ended }: FileResult): void => {
      if (ended) files.push({ database, title: `${file} on ${TITLES[database]}`, cpuMs: ended.cpuMs })
    },
    /** Notes what a process and its descendants have used, which no file counts. */
    addProcess: (title: string, pid: number): void => void parts.push({ title, cpuMs: processTreeCpuMs(pid) }),
    /**
     * Describes the duration of the run and its processor time with services and databases, in seconds of this machine
     * and of one on which bare `node:http` answers 60,000 requests in a second of a core.
     */
    describe: async (): Promise<string[]> => {
      const duration = `${round(performance.now() / 1000)} seconds`
      const totalMs = processTreeCpuMs(process.pid)
      if (totalMs === 0) return [duration]
      const perS = await measureBareHttp()
      const scaledS = ((totalMs / 1000) * perS) / REFERENCE_PER_S
      return [
        ...(files.length > HEAVIEST ? describeParts(totalMs) : []),
        `${duration}, and ${round(totalMs / 1000)} of processor time where bare node:http answers ${round(perS)} ` +
          `requests in one of them: ${round(scaledS)} where it answers ${round(REFERENCE_PER_S)}`,
      ]
    },
  }
}
