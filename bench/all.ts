// Runs benchmarks one after the other, and writes their results into bench/README.md and the pictures. Without names it
// runs all but `peers`, which needs the package registry, and the soaks, which take hours.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { arch, availableParallelism, cpus, platform } from 'node:os'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { formatTable, type Report } from './support/report.ts'
import { NAMES, type Name, readResults, writeResults } from './support/results.ts'

const { values, positionals } = parseArgs({
  options: {
    quick: { type: 'boolean' },
    json: { type: 'boolean' },
    // Those of the soaks.
    hours: { type: 'string' },
    share: { type: 'string' },
  },
  allowPositionals: true,
})

const isName = (name: string): name is Name => NAMES.some((each) => each === name)

const SOAKS: readonly Name[] = ['soak', 'soak-postgres']

const ALONE: readonly Name[] = ['peers', ...SOAKS]

const ownOptions = (name: Name): string[] =>
  SOAKS.includes(name)
    ? (['hours', 'share'] as const).flatMap((it) => (values[it] ? [`--${it}=${values[it]}`] : []))
    : []

let isInterrupted = false
let running: ChildProcess | undefined
// The benchmark may end with a report. From a terminal, it gets the interrupt itself.
process.on('SIGINT', () => {
  isInterrupted = true
})
process.on('SIGTERM', () => {
  isInterrupted = true
  running?.kill()
})

const runOne = async (name: Name): Promise<Report | undefined> => {
  const program = fileURLToPath(new URL(`./${name}.ts`, import.meta.url))
  const args = [program, '--json', ...(values.quick ? ['--quick'] : []), ...ownOptions(name)]
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  running = child
  const [output, [code]] = await Promise.all([text(child.stdout), once(child, 'exit')])
  return code === 0 ? (JSON.parse(output) as Report) : undefined
}

const machine =
  `Node ${process.versions.node}, ${platform()}-${arch()}, ` +
  `${availableParallelism()} cores (${cpus()[0]?.model.trim() ?? 'unknown'})`

const unknown = positionals.filter((name) => !isName(name))
if (unknown.length > 0) throw new Error(`no such benchmark: ${unknown.join(', ')}; there are ${NAMES.join(', ')}`)

const reports: Report[] = []
for (const name of NAMES) {
  if (positionals.length > 0 ? !positionals.includes(name) : ALONE.includes(name)) continue
  if (isInterrupted) break
  const report = await runOne(name)
  if (!report) {
    process.exitCode = 1
    continue
  }
  reports.push(report)
  if (!values.json) console.log(`${formatTable(report)}\n`)
  // Written at once: a run that is interrupted continues with the names that are left. Smoke runs are not written.
  if (!values.quick) writeResults({ ...readResults(), [name]: { ...report, machine } })
}
if (values.json) console.log(JSON.stringify(reports))
