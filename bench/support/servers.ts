import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Child, startServer, startTool } from './child.ts'
import type { Answer } from './connection.ts'
import { ask } from './connection.ts'
import type { Cores } from './cores.ts'

const program = (name: string): string => fileURLToPath(new URL(`../programs/${name}`, import.meta.url))

export const SVC = fileURLToPath(new URL('../../bin/svc.js', import.meta.url))

/** As `npm start` has it. */
export const LEAN = '--max-semi-space-size=8'

/** A module that lets the process which loads it say how long its event loop stood still. */
export const STALL_METER = new URL('../programs/stall-meter.ts', import.meta.url).href

/** Where the service keeps its database, below the folder that it is started in. */
export const DATABASE = join('data', 'svc.db')

interface ServiceOptions {
  /** Where its `data/` is, or will be. */
  folder: string
  cores: Cores
  imports?: string[]
  env?: Record<string, string>
}

/** The service as it is shipped, with nothing set but what a benchmark needs. */
export const startService = ({ folder, cores, imports = [], env = {} }: ServiceOptions): Promise<Child> =>
  startServer({ command: [LEAN, SVC, 'serve'], cwd: folder, cores, imports, env: { ...serviceEnvironment(0), ...env } })

export const serviceEnvironment = (port: number): Record<string, string> => ({
  SVC_PORT: String(port),
  // Stands in every token: without it, tokens would not outlive a start on another port.
  SVC_BASE_URL: 'http://localhost',
  SVC_RATE_LIMIT: 'off',
})

/** What a constant server is told to answer: the very bytes of an answer of the service. */
export interface Constant {
  status: number
  /** Name, value, name, value. */
  headers: string[]
  body: string
  /** Part of the answer as `Keep-Alive: timeout`. */
  keepAliveTimeoutS: number
}

/** `Date`, `Connection` and `Keep-Alive` are left out: every server of Node adds its own. */
const constantFrom = ({ status, head, body }: Answer): Constant => {
  const fields = head
    .split('\r\n')
    .slice(1)
    .map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1).trim()] as const)
  const headers = fields.filter(([name]) => !/^(?:date|connection|keep-alive)$/i.test(name)).flat()
  return { status, headers, body: body.toString(), keepAliveTimeoutS: Number(/timeout=(\d+)/.exec(head)?.[1] ?? 5) }
}

interface Alike {
  like: Child
  request: string
  cores: Cores
  imports?: string[]
}

/**
 * Starts a server on bare `node:http`, or on bare Fastify, that gives the same answer as the service gives to this
 * request, and makes sure that it does.
 */
export const startConstant = async (
  kind: 'http' | 'fastify',
  { like, request, cores, imports = [] }: Alike,
): Promise<Child> => {
  const original = await ask(like.port, request)
  if (original.status !== 200) throw new Error(`svc answers ${original.status}: ${original.body.toString()}`)
  const server = await startServer({ command: constantCommand(kind, original), cores, imports })
  const copy = await ask(server.port, request)
  // Fastify names the character set of JSON, wanted or not.
  const sizes = [original, copy].map(({ head, body }) => head.replace('; charset=utf-8', '').length + body.length)
  if (copy.status !== original.status || !copy.body.equals(original.body) || sizes[0] !== sizes[1]) {
    throw new Error(`the bare server answers other bytes than svc:\n${original.head}\n\n${copy.head}`)
  }
  return server
}

/** The program that gives this answer, on any free port; a port may follow. */
export const constantCommand = (kind: 'http' | 'fastify', answer: Answer): string[] => [
  program(`constant-${kind}.ts`),
  JSON.stringify(constantFrom(answer)),
]

/** A process that hashes passwords and does nothing else; told for how many milliseconds, it tells hashes a second. */
export const startHasher = (cores: Cores): Child => startTool({ command: [program('argon2-rate.ts')], cores })

/** A process that commits to a database of the service; told `{ commitsPerS, durationMs }`, it tells how many it did. */
export const startWriter = (database: string, cores: Cores): Child =>
  startTool({ command: [program('database-writer.ts'), database], cores })

interface Driven {
  url: string
  /** Connections to the database. */
  size: number
  /** Sessions that are asked for in turn. */
  ids: string[]
  cores: Cores
}

/** Fastify with a route that asks PostgreSQL once. */
export const startPostgresFastify = ({ cores, ...options }: Driven): Promise<Child> =>
  startServer({ command: [program('postgres-fastify.ts'), JSON.stringify(options)], cores })
