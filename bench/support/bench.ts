import { rmSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { canPin } from './cores.ts'
import { createQuietRounds } from './quiet-rounds.ts'
import { formatTable, type Report, type Row } from './report.ts'

/** The tools of one benchmark run. */
export interface Run {
  /** Whether this is a smoke run with meaningless figures. */
  quick: boolean
  /** Number of times that baseline and service are measured in turn. */
  rounds: number
  /** Milliseconds: `fullMs` in a full measurement, an eighth of it in a smoke run. */
  duration(fullMs: number): number
  /**
   * Runs one round at a quiet moment. A disturbed one is repeated: `measure` may be called more than once, and only the
   * returned result counts.
   */
  round<T>(measure: () => Promise<T>): Promise<T>
  /** The same for a measurement that cannot be repeated. */
  once<T>(measure: () => Promise<T>): Promise<T>
  /** Creates a folder that is removed at the end. */
  newFolder(): Promise<string>
  /** Disposes of the resource when the run ends, also after a failure. */
  use<T extends AsyncDisposable>(resource: T): T
  /** Adds a line below the table. */
  note(text: string): void
  /** The values of the command's own options, as text. */
  options: Readonly<Record<string, string | undefined>>
  /** From now on, the first interrupt aborts this, so that a long run ends early and reports; the next ends the program. */
  takeInterrupt(): AbortSignal
}

/** Resolves to the rows of the table, or to a report with a table of its own. */
type Measure = (run: Run) => Promise<Row[] | Omit<Report, 'title' | 'notes'>>

type Given = Pick<Run, 'quick' | 'options'>

const EXIT_INTERRUPTED = 130
const FULL_ROUNDS = 7
const QUICK_ROUNDS = 2

// Also removes the folders of an interrupted run.
const folders = new Set<string>()
process.once('exit', () => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
})

const SIGNALS = ['SIGINT', 'SIGTERM'] as const

const exitWhenInterrupted = (): void => process.exit(EXIT_INTERRUPTED)

const takeInterrupt = (): AbortSignal => {
  const interrupt = new AbortController()
  for (const signal of SIGNALS) {
    process.off(signal, exitWhenInterrupted).once(signal, () => {
      interrupt.abort()
      process.once(signal, exitWhenInterrupted)
    })
  }
  return interrupt.signal
}

const readArguments = (ownOptions: readonly string[]) => {
  const own = new Map(ownOptions.map((name) => [name, { type: 'string' as const }]))
  const flags = { quick: { type: 'boolean' }, json: { type: 'boolean' } } as const
  const { values } = parseArgs({ options: { ...Object.fromEntries(own), ...flags } })
  const given: Readonly<Record<string, unknown>> = values
  return { values, options: Object.fromEntries(ownOptions.map((name) => [name, given[name]?.toString()])) }
}

/**
 * Runs one benchmark from the command line (`--quick`, `--json`, and options of its own, each with a value) and prints
 * its table. A failure sets exit code 1.
 */
export const bench = async (title: string, measure: Measure, ownOptions: readonly string[] = []): Promise<void> => {
  const { values, options } = readArguments(ownOptions)
  for (const signal of SIGNALS) process.once(signal, exitWhenInterrupted)
  try {
    const report = await runOnce(title, measure, { quick: values.quick ?? false, options })
    console.log(values.json ? JSON.stringify(report) : formatTable(report))
  } catch (error) {
    console.error(`${title}: no figures. ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`)
    process.exitCode = 1
  }
}

const runOnce = async (title: string, measure: Measure, { quick, options }: Given): Promise<Report> => {
  await using stack = new AsyncDisposableStack()
  const notes: string[] = []
  if (quick) notes.push('A smoke run: the figures are meaningless.')
  if (!canPin) notes.push('Not pinned to cores: this machine lacks taskset or a second core.')
  const { round, once, describe } = createQuietRounds({ isPatient: !quick })
  const startedMs = performance.now()
  const measured = await measure({
    quick,
    rounds: quick ? QUICK_ROUNDS : FULL_ROUNDS,
    duration: (fullMs) => (quick ? fullMs / 8 : fullMs),
    round,
    once,
    newFolder: async () => {
      const folder = await mkdtemp(join(tmpdir(), 'svc-bench-'))
      stack.defer(() => rm(folder, { recursive: true, force: true }))
      folders.add(folder)
      return folder
    },
    use: (resource) => stack.use(resource),
    note: (text) => notes.push(text),
    options,
    takeInterrupt,
  })
  const seconds = Math.round((performance.now() - startedMs) / 1000)
  const content = Array.isArray(measured) ? { rows: measured } : measured
  return { ...content, title, notes: [...notes, `Measured in ${seconds} s. ${describe()}`] }
}
