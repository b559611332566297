import { accessSync, constants } from 'node:fs'
import path from 'node:path'

/** What the tests in test/gateways/ run, and the Debian packages that it comes with. */
const PROGRAMS = {
  nginx: 'nginx',
  caddy: 'caddy',
  haproxy: 'haproxy',
  apache2: 'apache2-bin',
  pgbouncer: 'pgbouncer',
}

export const GATEWAY_PACKAGES: string[] = Object.values(PROGRAMS)

/** Where Debian puts servers; the path of a user need not name it. */
const FOLDERS = [...(process.env.PATH ?? '').split(':'), '/usr/sbin']

const isThere = (program: string): boolean =>
  FOLDERS.some((folder) => {
    try {
      accessSync(path.join(folder, program), constants.X_OK)
      return true
    } catch {
      return false
    }
  })

/** The programs that this machine does not have. */
export const missingPrograms = (): string[] => Object.keys(PROGRAMS).filter((program) => !isThere(program))
