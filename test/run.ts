// The command `npm test`: every test on SQLite and, beside them, those of the specification and of the stores on
// PostgreSQL. What is given to it are files, and options of node that choose among tests, in one word (--name=value).
import { globSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { run } from 'node:test'
import { spec } from 'node:test/reporters'
import { processTreeCpuMs } from '../bench/support/cpu-time.ts'
import { prepareGateways } from '../scripts/gateways.ts'
import { fillCompileCache } from './support/compile-cache.ts'
import { prepareDatabaseModels } from './support/database-models.ts'
import { preparePostgres, startPostgres } from './support/postgres.ts'

const ROOT = path.join(import.meta.dirname, '..')
/** Of each database. In all more than there are cores, since several files mostly wait. */
const FILES_AT_ONCE = 2

/** The slowest files start first, so that none runs alone at the end. */
const LONGEST = [
  'test/durability/**',
  'test/browser/**',
  'test/gateways/**',
  'test/spec/{workers,metrics,database-copy,replicas*,rate-limits,operation,command-line,6.5*}.test.ts',
  'test/contract/{migrations,upgrade}.test.ts',
]

/** Tests that use both databases run once, and not on each. */
const ON_BOTH = 'test/spec/database-copy.test.ts'
/**
 * Nor need what ends before data are asked for: reading settings and requests, counting tries in memory, writing pages
 * and logs, and what a provider can get wrong.
 */
const WITHOUT_DATA = [
  'settings',
  'oauth-{addresses,settings,misbehaviour,callback,provider-requests,presets,limits}',
  'rate-limits{,-counting}',
  'hash-queue',
  'return-to',
  'login-redirect',
  'client-address',
  'csrf-and-origin',
  'cookie-prefix',
  'json-errors',
  'pages',
  'logs',
  'shown-urls',
  'warnings',
  'metrics-dashboard',
  '6.2*',
  '9*',
].map((name) => `test/spec/${name}.test.ts`)

/** Replicas share a server. What several processes on one file promise one another is in the test of workers. */
const OF_REPLICAS = 'test/spec/replicas*.test.ts'

/** They run programs of Debian packages. */
const OF_GATEWAYS = 'test/gateways/**'

const SQLITE = { patterns: ['test/**/*.test.ts'], exclude: [OF_REPLICAS] }
const POSTGRES = {
  patterns: ['test/spec/**/*.test.ts', 'test/contract/**/*.test.ts'],
  exclude: [ON_BOTH, ...WITHOUT_DATA],
}

const isOption = (argument: string): boolean => argument.startsWith('-')

/** The files that were asked for, from the root of the repository; undefined when none were. */
const readFiles = (given: string[]): string[] | undefined => {
  if (given.length === 0) return undefined
  const found = globSync(given).map((file) => path.relative(ROOT, path.resolve(file)))
  if (found.length === 0) throw new Error(`there is no such file: ${given.join(' ')}`)
  return found
}

const filesOf = ({ patterns, exclude }: typeof SQLITE): string[] => {
  const all = globSync(patterns, { cwd: ROOT, exclude }).toSorted()
  const longest = LONGEST.flatMap((pattern) => all.filter((file) => path.matchesGlob(file, pattern)))
  return [...new Set([...longest, ...all])]
}

const args = process.argv.slice(2)
const asked = readFiles(args.filter((argument) => !isOption(argument)))
const stop = new AbortController()

/** Begins to run a list of files. What they tell is kept until it is asked for. */
const begin = (list: typeof SQLITE, env: Record<string, string>) => {
  const files = filesOf(list).filter((file) => asked?.includes(file) ?? true)
  const events = run({
    cwd: ROOT,
    files: files.map((file) => path.join(ROOT, file)),
    concurrency: FILES_AT_ONCE,
    execArgv: args.filter(isOption),
    env: { ...process.env, NODE_COMPILE_CACHE: path.join(ROOT, 'node_modules/.cache/tests'), ...env },
    signal: stop.signal,
  })
  events.on('test:summary', ({ file, success }) => {
    if (file === undefined && !success) process.exitCode = 1
  })
  return { count: files.length, events }
}

const show = async (title: string, { count, events }: ReturnType<typeof begin>): Promise<void> => {
  if (count === 0) return
  process.stdout.write(`\n${title}\n`)
  for await (const text of events.compose(spec)) process.stdout.write(text)
}

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => {
    process.exitCode = 1
    stop.abort()
  })
}

const startServer = async () => {
  const model = await preparePostgres()
  process.env.SVC_TEST_PG_MODEL = model.folder
  const server = await startPostgres()
  return {
    url: server.url(),
    [Symbol.asyncDispose]: async () => {
      await server[Symbol.asyncDispose]()
      await model[Symbol.asyncDispose]()
    },
  }
}

const seconds = (ms: number): string => `${Math.round(ms / 1000)} seconds`

/** Says how long the run took and what it cost, services and databases included; of the cost, Linux alone tells. */
const showCost = (): void => {
  const cost = process.platform === 'linux' ? `, and ${seconds(processTreeCpuMs(process.pid))} of processor time` : ''
  process.stdout.write(`\n${seconds(performance.now())}${cost}\n`)
}

/** Why the gateway tests that were asked for cannot run; undefined when they can, or when none were. */
const withoutGateways = (): string | undefined => {
  const areAsked = asked?.some((file) => path.matchesGlob(file, OF_GATEWAYS)) ?? true
  const reason = areAsked ? prepareGateways() : undefined
  if (reason !== undefined) SQLITE.exclude.push(OF_GATEWAYS)
  return reason
}

const gatewaysMissing = withoutGateways()
await fillCompileCache()
const given = process.env.SVC_TEST_PG_URL
const server = given ? undefined : await startServer()
const models = mkdtempSync(path.join(tmpdir(), 'svc-test-models-'))
try {
  const url = given ?? server?.url ?? ''
  const prepared = await prepareDatabaseModels(models, url)
  const env = { SVC_TEST_PG_URL: url, ...prepared.env }
  const onSqlite = begin(SQLITE, { ...env, SVC_TEST_DATABASE: 'sqlite' })
  const onPostgres = begin(POSTGRES, { ...env, SVC_TEST_DATABASE: 'postgres' })
  await show('SQLite', onSqlite)
  await show('PostgreSQL', onPostgres)
  await prepared.drop()
} finally {
  await server?.[Symbol.asyncDispose]()
  rmSync(models, { recursive: true, force: true })
  showCost()
  if (gatewaysMissing !== undefined) process.stdout.write(`\n${gatewaysMissing}\n`)
}
