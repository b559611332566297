import { once } from 'node:events'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { TestContext } from 'node:test'
import { afterwards } from '../cleanup.ts'
import { createDatabase, queryOnce } from './postgres-databases.ts'
import { startGuard } from './postgres-guard.ts'
import { freezeFamily, thawAll } from './postgres-processes.ts'
import {
  createLauncher,
  launchSomewhere,
  type Parts,
  type PostgresSettings,
  pidFile,
  prepareHome,
} from './postgres-server.ts'

/** A real, empty PostgreSQL server on a loopback port. */
export type Postgres = {
  port: number
  /** The first process of the server, the parent of all others; 0 while it is stopped. */
  pid(): number
  /** The URL of a database for the superuser, without a password. */
  url(database?: string): string
  /** Resolves to the URL of a new, empty database. */
  createDatabase(): Promise<string>
  /** Runs one statement on a separate connection. */
  query: typeof queryOnce
  /** `fast` ends transactions and shuts down in order, `immediate` is a crash; both resolve when it is gone. */
  stop(mode: 'fast' | 'immediate'): Promise<void>
  /** Starts again on the same port with the same data, with recovery after a crash. */
  start(): Promise<void>
  /** Freezes every process of the server: connections stay open without answers. */
  freeze(): Promise<void>
  thaw(): void
  [Symbol.asyncDispose](): Promise<void>
}

// For tests: committed data survive a crash of the server, but not of the machine.
const SETTINGS: PostgresSettings = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  fsync: 'off',
  synchronous_commit: 'on',
  shared_buffers: '32MB',
  max_connections: 300,
  max_wal_size: '256MB',
  wal_level: 'minimal',
  max_wal_senders: 0,
}

const SIGNALS = { fast: 'SIGINT', immediate: 'SIGQUIT' } as const

type Server = Pick<Postgres, 'port' | 'pid' | 'stop' | 'start' | 'freeze' | 'thaw'>

const runServer = async (parts: Parts): Promise<Server> => {
  const launcher = createLauncher(parts)
  const port = await launchSomewhere(launcher, parts.home)
  let frozen: number[] = []
  const thaw = () => {
    thawAll(frozen)
    frozen = []
    const pid = launcher.running()?.pid
    if (pid !== undefined) parts.guard.watch([pid])
  }
  return {
    port,
    pid: () => launcher.running()?.pid ?? 0,
    thaw,
    start: async () => {
      if (!launcher.running()) await launcher.launch(port)
    },
    stop: async (mode) => {
      const child = launcher.running()
      if (!child) return
      const ended = once(child, 'exit')
      child.ref()
      child.kill(SIGNALS[mode])
      thaw()
      await ended
    },
    freeze: async () => {
      const pid = launcher.running()?.pid
      if (pid === undefined) throw new Error('the server is stopped')
      frozen = await freezeFamily(pid)
      parts.guard.watch(frozen)
    },
  }
}

const newFolder = (): string => mkdtempSync(path.join(tmpdir(), 'svc-test-postgres-'))

/** A template for servers: a folder for SVC_TEST_PG_MODEL, removed on disposal or when this process ends. */
export const preparePostgres = async (): Promise<{ folder: string; [Symbol.asyncDispose](): Promise<void> }> => {
  const folder = newFolder()
  const guard = startGuard(folder, pidFile(folder))
  await prepareHome(folder, guard)
  return { folder, [Symbol.asyncDispose]: guard.finish }
}

/**
 * Starts a separate server from the packages, in about a second. It ends, and its folder is removed, after the test
 * `t`, on disposal, or when this process ends in any way. `settings` override those that make it fast. Throws with an
 * instruction if the packages contain no binaries.
 */
export const startPostgres = async ({
  t,
  settings = {},
}: {
  t?: TestContext
  settings?: PostgresSettings
} = {}): Promise<Postgres> => {
  const folder = newFolder()
  const guard = startGuard(folder, pidFile(folder))
  if (t) afterwards(t, guard.finish)
  const begin = async () => {
    const home = await prepareHome(folder, guard)
    return runServer({ home, guard, settings: { ...SETTINGS, ...settings } })
  }
  const server = await begin().catch(async (error: unknown) => {
    await guard.finish()
    throw error
  })
  const url = (database = 'postgres') => `postgres://postgres@127.0.0.1:${server.port}/${database}`
  return {
    ...server,
    url,
    query: queryOnce,
    createDatabase: async () => (await createDatabase(url())).url,
    [Symbol.asyncDispose]: guard.finish,
  }
}
