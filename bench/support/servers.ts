import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Child, startServer, startTool } from './child.ts'
import { type RawResponse, sendRequest } from './connection.ts'
import type { Cores } from './cores.ts'

const program = (name: string): string => fileURLToPath(new URL(`../programs/${name}`, import.meta.url))

export const SVC = fileURLToPath(new URL('../../bin/svc.js', import.meta.url))

/** The options of `npm start`. */
export const NODE_FLAGS = ['--max-semi-space-size=8', '--max-old-space-size=512']

/** A module that measures the longest stall of the event loop of its process. */
export const STALL_METER = new URL('../programs/stall-meter.ts', import.meta.url).href

/** A module that profiles its process. */
export const PROFILER = new URL('../programs/profiler.ts', import.meta.url).href

/** The service's database, below the folder in which the service is started. */
export const DATABASE = join('data', 'svc.db')

interface ServiceOptions {
  /** The folder that contains `data/`, or will contain it. */
  folder: string
  cores: Cores
  imports?: string[]
  env?: Record<string, string>
}

/** The service with its default settings, except for those that a benchmark needs. */
export const startService = ({ folder, cores, imports = [], env = {} }: ServiceOptions): Promise<Child> =>
  startServer({
    command: [...NODE_FLAGS, SVC, 'serve'],
    cwd: folder,
    cores,
    imports,
    env: { ...serviceEnvironment(0), ...env },
  })

export const serviceEnvironment = (port: number): Record<string, string> => ({
  SVC_PORT: String(port),
  // Every token contains it: without a fixed one, tokens would not survive a start on another port.
  SVC_BASE_URL: 'http://localhost',
  SVC_RATE_LIMIT: 'off',
  // As `npm start` sets it.
  MALLOC_ARENA_MAX: '1',
})

/** Runs `svc ARGS --json` in the folder of a service, and returns what it has made. */
export const runCommand = <T>(folder: string, args: string[], env: Record<string, string> = {}): T =>
  JSON.parse(
    execFileSync(process.execPath, [SVC, ...args, '--json'], {
      cwd: folder,
      env: { PATH: process.env.PATH, ...serviceEnvironment(0), ...env },
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }),
  ) as T

/** The response of a constant server: the bytes of a response of the service. */
export interface ConstantResponse {
  status: number
  /** Name, value, name, value. */
  headers: string[]
  body: string
  /** Sent in the response as `Keep-Alive: timeout`. */
  keepAliveTimeoutS: number
}

/** Omits `Date`, `Connection` and `Keep-Alive`, which every server of Node adds itself. */
const toConstantResponse = ({ status, head, body }: RawResponse): ConstantResponse => {
  const fields = head
    .split('\r\n')
    .slice(1)
    .map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1).trim()] as const)
  const headers = fields.filter(([name]) => !/^(?:date|connection|keep-alive)$/i.test(name)).flat()
  return { status, headers, body: body.toString(), keepAliveTimeoutS: Number(/timeout=(\d+)/.exec(head)?.[1] ?? 5) }
}

interface ConstantServerOptions {
  like: Child
  request: string
  cores: Cores
  imports?: string[]
}

/**
 * Starts a server on bare `node:http` that gives the same response as the service to this request. Throws if the
 * responses differ.
 */
export const startConstant = async ({ like, request, cores, imports = [] }: ConstantServerOptions): Promise<Child> => {
  const original = await requireOk(like, request)
  const server = await startServer({ command: constantCommand(original), cores, imports })
  requireSame(original, await sendRequest(server.port, request))
  return server
}

/** The command that serves this response on a free port, or on the port that is appended to it. */
export const constantCommand = (response: RawResponse): string[] => [
  program('constant-http.ts'),
  JSON.stringify(toConstantResponse(response)),
]

/** Starts a process that only hashes passwords. Sent a number of milliseconds, it answers with hashes per second. */
export const startHasher = (cores: Cores): Child => startTool({ command: [program('argon2-rate.ts')], cores })

/**
 * Starts a process that commits to a database of the service. Sent `{ commitsPerS, durationMs }`, it answers with its
 * commits.
 */
export const startWriter = (database: string, cores: Cores): Child =>
  startTool({ command: [program('database-writer.ts'), database], cores })

export interface PostgresServerOptions {
  url: string
  /** Connections to the database. */
  size: number
  /** Session IDs to read or write in turn. */
  ids: string[]
  /** The service's responses to `GET /user` and to a refresh: theirs are the status and the headers. */
  user: ConstantResponse
  refresh: ConstantResponse
}

interface PostgresBaseline extends Pick<PostgresServerOptions, 'url' | 'size' | 'ids'> {
  like: Child
  /** The requests of a user who is signed in, in the first of the sessions. */
  requests: { user: string; refresh: string }
  cores: Cores
}

/**
 * Starts a server on bare `node:http` that makes one query to PostgreSQL for each request, and gives the responses of
 * the service. Throws if they differ.
 */
export const startPostgresHttp = async ({ like, requests, cores, ...given }: PostgresBaseline): Promise<Child> => {
  const [user, refresh] = [await requireOk(like, requests.user), await requireOk(like, requests.refresh)]
  const options = { ...given, user: toConstantResponse(user), refresh: toConstantResponse(refresh) }
  const server = await startServer({ command: [program('postgres-http.ts'), JSON.stringify(options)], cores })
  requireSame(user, await sendRequest(server.port, requests.user))
  requireSame(refresh, await sendRequest(server.port, requests.refresh))
  return server
}

const requireOk = async (server: Child, request: string): Promise<RawResponse> => {
  const response = await sendRequest(server.port, request)
  if (response.status !== 200) throw new Error(`svc answers ${response.status}: ${response.body.toString()}`)
  return response
}

/** The values of a few headers may differ, but not their lengths. */
const requireSame = (original: RawResponse, copy: RawResponse): void => {
  const sizes = [original, copy].map(({ head, body }) => head.length + body.length)
  if (copy.status === original.status && copy.body.equals(original.body) && sizes[0] === sizes[1]) return
  throw new Error(`the bare server answers other bytes than svc:\n${original.head}\n\n${copy.head}`)
}
