// The command `npm test`: every test on SQLite, then those of the specification and of the stores on PostgreSQL. What is
// given to it are files, and options of `node --test` in one word (--name=value).
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { globSync } from 'node:fs'
import path from 'node:path'
import { startPostgres } from './support/postgres.ts'

const ROOT = path.join(import.meta.dirname, '..')
/** More than there are cores, since several files mostly wait. */
const FILES_AT_ONCE = 3
/** What is about both databases at once need not be run on each. */
const ON_BOTH = 'test/spec/database-copy.test.ts'

/** Replicas share a server. What several processes on one file promise one another is in the test of workers. */
const OF_REPLICAS = 'test/spec/replicas*.test.ts'

const RUNS = [
  { database: 'sqlite', title: 'SQLite', patterns: ['test/**/*.test.ts'], exclude: [OF_REPLICAS] },
  {
    database: 'postgres',
    title: 'PostgreSQL',
    patterns: ['test/spec/**/*.test.ts', 'test/contract/**/*.test.ts'],
    exclude: [ON_BOTH],
  },
]

const isOption = (argument: string): boolean => argument.startsWith('-')

/** The files that were asked for, from the root of the repository; undefined when none were. */
const readFiles = (given: string[]): string[] | undefined => {
  if (given.length === 0) return undefined
  const found = globSync(given).map((file) => path.relative(ROOT, path.resolve(file)))
  if (found.length === 0) throw new Error(`there is no such file: ${given.join(' ')}`)
  return found
}

let running: ChildProcess | undefined
let stopped = false

/** Runs the files and resolves to whether all went well. */
const runFiles = async (files: string[], options: string[], env: Record<string, string>): Promise<boolean> => {
  running = spawn(process.execPath, ['--test', `--test-concurrency=${FILES_AT_ONCE}`, ...options, ...files], {
    cwd: ROOT,
    env: { ...process.env, ...env },
    stdio: 'inherit',
  })
  const [code] = await once(running, 'exit')
  running = undefined
  return code === 0
}

const runAll = async (asked: string[] | undefined, options: string[], postgresUrl: string): Promise<boolean> => {
  let isWell = true
  for (const { database, title, patterns, exclude } of RUNS) {
    const all = globSync(patterns, { cwd: ROOT, exclude })
    const files = asked?.filter((file) => all.includes(file)) ?? all
    if (stopped || files.length === 0) continue
    process.stdout.write(`\n${title}\n`)
    const env = { SVC_TEST_DATABASE: database, SVC_TEST_PG_URL: postgresUrl }
    isWell = (await runFiles(files, options, env)) && isWell
  }
  return isWell && !stopped
}

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => {
    stopped = true
    running?.kill(signal)
  })
}

const args = process.argv.slice(2)
const asked = readFiles(args.filter((argument) => !isOption(argument)))
const given = process.env.SVC_TEST_PG_URL
const server = given ? undefined : await startPostgres()
try {
  const isWell = await runAll(asked, args.filter(isOption), given ?? server?.url() ?? '')
  process.exitCode = isWell ? 0 : 1
} finally {
  await server?.[Symbol.asyncDispose]()
}
