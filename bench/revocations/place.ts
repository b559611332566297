import { randomBytes } from 'node:crypto'
import { startPostgres } from '../../test/support/postgres/postgres.ts'
import type { Run } from '../support/bench.ts'
import type { Child } from '../support/child.ts'
import { processTreeCpuMs } from '../support/cpu-time.ts'
import { runCommand, startService } from '../support/servers.ts'

export const RESOURCE = 'https://example.com/mcp'

/** An installation: its replicas, and all that uses processor time for it. */
export interface Place {
  name: string
  replicas: [Child, ...Child[]]
  pids: number[]
  /** For verifiers. */
  key: string
  /** For the backend of the application. */
  backendKey: string
  client: { id: string; secret: string }
}

/** Processor time of the replicas and their database so far. */
export const usedMs = ({ pids }: Place): number => pids.reduce((sum, pid) => sum + processTreeCpuMs(pid), 0)

export type StartPlace = (run: Run, imports?: string[]) => Promise<Place>

const CHEAP_HASHES = new URL('../../test/support/hashes/cheap-hashes-tap.js', import.meta.url).href

const SETTINGS = {
  // On a busy machine, the disk may take longer than an operator would wait.
  SVC_DATABASE_TIMEOUT: '30s',
  SVC_CLIENTS: 'on',
  SVC_CLIENT_RESOURCES: RESOURCE,
  SVC_CLIENT_SCOPES: 'notes:read=Read your notes',
}

const makeKeys = (folder: string, env: Record<string, string>) => {
  const made = <T>(...args: string[]): T => runCommand<T>(folder, args, env)
  const keyFor = (name: string, scopes: string): string =>
    made<{ key: string }>('api-keys', 'create', name, '--scope', scopes).key
  return {
    key: keyFor('verifiers', 'revocations:read'),
    backendKey: keyFor('backend', 'users:write,sessions:read,sessions:write'),
    client: made<Place['client']>('clients', 'create', 'Reports', '--redirect-uri', 'https://app.example.net/callback'),
  }
}

const startCheap = (folder: string, imports: string[], env: Record<string, string>): Promise<Child> =>
  startService({ folder, cores: 'both', imports: [CHEAP_HASHES, ...imports], env })

export const startOnSqlite: StartPlace = async (run, imports = []) => {
  const folder = await run.newFolder()
  const service = run.use(await startCheap(folder, imports, SETTINGS))
  return { name: 'SQLite', replicas: [service], pids: [service.pid], ...makeKeys(folder, SETTINGS) }
}

export const startOnPostgres: StartPlace = async (run, imports = []) => {
  const postgres = run.use(await startPostgres({ settings: { fsync: 'on' } }))
  const url = await postgres.createDatabase()
  const env = { ...SETTINGS, SVC_DATABASE_URL: url, SVC_SECRET: randomBytes(32).toString('base64') }
  const folder = await run.newFolder()
  const start = async () => run.use(await startCheap(folder, imports, env))
  const replicas: [Child, Child] = [await start(), await start()]
  const pids = [...replicas.map(({ pid }) => pid), postgres.pid()]
  return { name: 'PostgreSQL, two replicas', replicas, pids, ...makeKeys(folder, env) }
}
