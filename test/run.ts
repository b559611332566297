// The command `npm test`: every test file on the databases that its first line names. Its arguments are files, and
// options of node that select tests, in one word (--name=value).
import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { prepareExamples } from '../scripts/examples.ts'
import { prepareGateways, withoutProgram } from '../scripts/gateways.ts'
import { prepareChrome } from './support/browser/chrome.ts'
import { prepareDatabaseModels } from './support/database/database-models.ts'
import { preparePostgres, startPostgres } from './support/postgres/postgres.ts'
import { createCosts } from './support/runner/cost.ts'
import { useMemoryForFolders } from './support/runner/memory-folder.ts'
import { placeOf } from './support/runner/place.ts'
import { type Job, runJobs } from './support/runner/pool.ts'
import { createReport } from './support/runner/report.ts'
import { fillCompileCache } from './support/service/compile-cache.ts'

const ROOT = path.join(import.meta.dirname, '..')
const CACHE = path.join(ROOT, 'node_modules/.cache/tests')
/** Where svc keeps its compiled code: the tests find there what it has compiled before them. */
const COMPILED = path.join(ROOT, 'node_modules/.cache/svc')
/** More than there are cores, since several files mostly wait. */
const FILES_AT_ONCE = 4
/** How long each file took on each database in the last run, in milliseconds. */
const DURATIONS = path.join(CACHE, 'durations.json')
/** What each file cost in the last run, in seconds of processor time. */
const COSTS = path.join(CACHE, 'costs.txt')
/** What a server does for databases that live longer than a few seconds, or for a machine that crashes. */
const SERVER_SETTINGS = { autovacuum: 'off', full_page_writes: 'off', log_checkpoints: 'off' }
/** They run programs of Debian packages. */
const OF_GATEWAYS = 'test/gateways/**'
/** They run a browser, as do some of the examples. */
const OF_BROWSERS = 'test/browser/**'
/** They run the applications in examples/, behind a proxy of a Debian package. */
const OF_EXAMPLES = 'test/examples/**'

const NO_PROXY = 'The tests of the examples did not run: they need the proxies of the gateway tests.'

const isOption = (argument: string): boolean => argument.startsWith('-')

const findFiles = (patterns: string | string[], exclude: string[] = []): string[] =>
  globSync(patterns, { cwd: ROOT, exclude }).map((file) => path.relative(ROOT, path.resolve(ROOT, file)))

/** The files of the arguments, from the root of the repository; every file when there are none. */
const readFiles = (given: string[], exclude: string[]): string[] => {
  const patterns = given.map((file) => path.relative(ROOT, path.resolve(file)))
  const found = findFiles(given.length > 0 ? patterns : 'test/**/*.test.ts', exclude)
  if (found.length === 0) throw new Error(`there is no such file: ${given.join(' ')}`)
  return found.toSorted()
}

/** What files took in the last run, in milliseconds. */
const readDurations = (): Record<string, number> => {
  try {
    return JSON.parse(readFileSync(DURATIONS, 'utf8')) as Record<string, number>
  } catch {
    return {}
  }
}

const durations = readDurations()

const keyOf = ({ file, database }: Job): string => `${file} ${database}`

/** The slowest files start first, so that none runs alone at the end; those that have never run before them. */
const bySlowness = (jobs: Job[]): Job[] =>
  jobs.toSorted((one, other) => (durations[keyOf(other)] ?? Infinity) - (durations[keyOf(one)] ?? Infinity) || 0)

const keepDurations = (): void => writeFileSync(DURATIONS, JSON.stringify(durations))

const args = process.argv.slice(2)
const given = args.filter((argument) => !isOption(argument))
const stop = new AbortController()

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => {
    process.exitCode = 1
    stop.abort()
  })
}

const startServer = async () => {
  const model = await preparePostgres()
  process.env.SVC_TEST_PG_MODEL = model.folder
  const server = await startPostgres({ settings: SERVER_SETTINGS })
  return {
    url: server.url(),
    pid: server.pid(),
    [Symbol.asyncDispose]: async () => {
      await server[Symbol.asyncDispose]()
      await model[Symbol.asyncDispose]()
    },
  }
}

/** Whether the arguments ask for tests of that kind. */
const areAsked = (kind: string): boolean => readFiles(given, []).some((file) => path.matchesGlob(file, kind))

/** What cannot run on this machine, and why. */
const prepare = (): { without: string[]; problems: string[]; env: Record<string, string> } => {
  const needsExamples = areAsked(OF_EXAMPLES)
  const gateways = needsExamples || areAsked(OF_GATEWAYS) ? prepareGateways() : undefined
  if (gateways !== undefined)
    return { without: [OF_GATEWAYS, OF_EXAMPLES], problems: [gateways, ...(needsExamples ? [NO_PROXY] : [])], env: {} }
  const leftOut = areAsked(OF_GATEWAYS) ? withoutProgram() : []
  if (!needsExamples) return { without: [], problems: leftOut, env: {} }
  const examples = prepareExamples()
  const [ready, problems] = [examples.ready, [...examples.problems, ...leftOut]]
  return { without: ready.length > 0 ? [] : [OF_EXAMPLES], problems, env: { SVC_TEST_EXAMPLES: ready.join(',') } }
}

const toJobs = (file: string): Job[] => {
  const { databases, isAlone } = placeOf(file)
  return databases.map((database) => ({ file, database, isAlone }))
}

const preparation = prepare()
const removeFolders = useMemoryForFolders()
const jobs = bySlowness(readFiles(given, preparation.without).flatMap(toJobs))
await fillCompileCache()
if (areAsked(OF_BROWSERS) || areAsked(OF_EXAMPLES)) await prepareChrome()
const givenUrl = process.env.SVC_TEST_PG_URL
const server = givenUrl ? undefined : await startServer()
const models = mkdtempSync(path.join(tmpdir(), 'svc-test-models-'))
const report = createReport()
mkdirSync(CACHE, { recursive: true })
const costs = createCosts(COSTS)
try {
  const url = givenUrl ?? server?.url ?? ''
  const prepared = await prepareDatabaseModels(models, url)
  await runJobs({
    root: ROOT,
    jobs,
    atOnce: FILES_AT_ONCE,
    execArgv: args.filter(isOption),
    env: { ...process.env, NODE_COMPILE_CACHE: COMPILED, SVC_TEST_PG_URL: url, ...preparation.env, ...prepared.env },
    signal: stop.signal,
    onResult: (job, result) => {
      if (result.ended) durations[keyOf(job)] = result.ended.durationMs
      report.add(job, result)
      costs.add(job, result)
    },
  })
  await prepared.drop()
} finally {
  if (server) costs.addProcess('the PostgreSQL server of the run', server.pid)
  await server?.[Symbol.asyncDispose]()
  rmSync(models, { recursive: true, force: true })
  removeFolders()
  keepDurations()
  if (!(await report.end()) || stop.signal.aborted) process.exitCode = 1
  process.stdout.write(`\n${(await costs.describe()).join('\n')}\n`)
  for (const problem of preparation.problems) process.stdout.write(`\n${problem}\n`)
}
