// Runs every benchmark, one after the other, and writes the results into bench/README.md.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile, writeFile } from 'node:fs/promises'
import { arch, availableParallelism, cpus, platform } from 'node:os'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { formatMarkdown, formatTable, type Report } from './support/report.ts'

const NAMES = [
  'user',
  'mixed',
  'refresh',
  'login',
  'storm',
  'page',
  'start',
  'memory',
  'workers',
  'postgres',
  'capacity',
  'copy',
  'scale',
]
const README = fileURLToPath(new URL('./README.md', import.meta.url))
const MEASURED = /(<!-- measured: begin -->\n)[^]*(<!-- measured: end -->)/

const { values } = parseArgs({ options: { quick: { type: 'boolean' }, json: { type: 'boolean' } } })

const runOne = async (name: string): Promise<Report | undefined> => {
  const program = fileURLToPath(new URL(`./${name}.ts`, import.meta.url))
  const args = [program, '--json', ...(values.quick ? ['--quick'] : [])]
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  const [output, [code]] = await Promise.all([text(child.stdout), once(child, 'exit')])
  return code === 0 ? (JSON.parse(output) as Report) : undefined
}

const describeMachine = (): string =>
  `${new Date().toISOString().slice(0, 10)}, Node ${process.versions.node}, ${platform()}-${arch()}, ` +
  `${availableParallelism()} cores (${cpus()[0]?.model.trim() ?? 'unknown'}).`

const reports: Report[] = []
for (const name of NAMES) {
  const report = await runOne(name)
  if (!report) {
    process.exitCode = 1
    continue
  }
  reports.push(report)
  if (!values.json) console.log(`${formatTable(report)}\n`)
}
if (values.json) console.log(JSON.stringify(reports))

// Incomplete or meaningless results are not written.
if (!values.quick && reports.length === NAMES.length) {
  const measured = [describeMachine(), ...reports.map(formatMarkdown)].join('\n\n')
  const readme = await readFile(README, 'utf8')
  await writeFile(
    README,
    readme.replace(MEASURED, (_, begin: string, end: string) => `${begin}\n${measured}\n\n${end}`),
  )
}
