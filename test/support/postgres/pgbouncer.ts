import { chmodSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import type { TestContext } from 'node:test'
import { requirePrograms, startProgram } from '../gateway/gateway.ts'
import { freePort } from '../network/free-port.ts'
import { temporaryDirectory } from '../temporary-directory.ts'

type Settings = { pool_mode: 'transaction' | 'session'; ignore_startup_parameters?: string }

/** A PgBouncer in front of a database server. */
export type PgBouncer = {
  /** The URL of the database through PgBouncer. */
  url: string
  /** Starts again on the same port with other settings. */
  restart(settings: Settings): Promise<void>
}

const settingsText = (settings: Record<string, string | number>): string =>
  Object.entries(settings)
    .map(([name, value]) => `${name} = ${value}\n`)
    .join('')

/** Starts Debian's PgBouncer; it ends after the test. */
export const startPgBouncer = async (databaseUrl: string, settings: Settings, t: TestContext): Promise<PgBouncer> => {
  requirePrograms()
  const { hostname, port, username, pathname } = new URL(databaseUrl)
  const folder = temporaryDirectory(t)
  // It refuses to run as root, and looks up the user that it runs as.
  chmodSync(folder, 0o755)
  const own = {
    listen_addr: '127.0.0.1',
    listen_port: await freePort(),
    unix_socket_dir: '',
    auth_type: 'trust',
    auth_file: path.join(folder, 'users'),
    ...(process.getuid?.() === 0 && { user: 'nobody' }),
  }
  writeFileSync(own.auth_file, `"${username}" ""\n`)
  const file = path.join(folder, 'pgbouncer.ini')
  const start = (given: Settings) => {
    const databases = `[databases]\n* = host=${hostname} port=${port}\n`
    writeFileSync(file, `${databases}[pgbouncer]\n${settingsText({ ...own, ...given })}`)
    return startProgram(['pgbouncer', file], { port: own.listen_port, cwd: folder, t })
  }
  let end = await start(settings)
  return {
    url: `postgres://${username}@127.0.0.1:${own.listen_port}${pathname}`,
    restart: async (given) => {
      await end()
      end = await start(given)
    },
  }
}
