import { accessSync, constants } from 'node:fs'
import path from 'node:path'

/** The programs for the tests in test/gateways/, and their Debian packages. */
const PROGRAMS = {
  nginx: 'nginx',
  caddy: 'caddy',
  haproxy: 'haproxy',
  apache2: 'apache2-bin',
  pgbouncer: 'pgbouncer',
  curl: 'curl',
}

export const GATEWAY_PACKAGES: string[] = Object.values(PROGRAMS)

/** The programs of gateways that Debian does not have, where the environment names them. */
export const OTHER_PROGRAMS = { Traefik: process.env.SVC_TEST_TRAEFIK, Envoy: process.env.SVC_TEST_ENVOY }

/** Debian's folder for servers, which the PATH of a user may lack. */
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
