import { cpSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { runSvc, spawnSvc } from '../support/service/command.ts'
import { startServiceProcess } from '../support/service/service-process.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

const ROOT = path.join(import.meta.dirname, '../..')

/** The SQL of a migration with its header: one text for both databases, or one for each. */
type Migration = string | { sqlite: string; postgres: string }

/** How a version of svc is started: by its own launcher, and with the usual options. */
export type Version = {
  startService: typeof startServiceProcess
  runSvc: typeof runSvc
  spawnSvc: typeof spawnSvc
}

/** The same packages, with a separate folder for the compiled code of the copy. */
const linkPackages = (root: string) => {
  const [from, to] = [path.join(ROOT, 'node_modules'), path.join(root, 'node_modules')]
  mkdirSync(to)
  for (const name of readdirSync(from).filter((entry) => !entry.startsWith('.')))
    symlinkSync(path.join(from, name), path.join(to, name))
}

const writeMigration = (root: string, name: string, migration: Migration) => {
  const write = (end: string, text: string) =>
    writeFileSync(path.join(root, `src/storage/migrations/${name}${end}.sql`), text)
  if (typeof migration === 'string') write('', migration)
  else for (const [dialect, text] of Object.entries(migration)) write(`.${dialect}`, text)
}

/** A copy of this version of svc with more migrations, by name; removed after the file. */
export const laterVersion = (migrations: Record<string, Migration>): Version => {
  const root = temporaryDirectory()
  for (const part of ['src', 'bin', 'package.json'])
    cpSync(path.join(ROOT, part), path.join(root, part), { recursive: true })
  linkPackages(root)
  for (const [name, migration] of Object.entries(migrations)) writeMigration(root, name, migration)
  const launcher = path.join(root, 'bin/svc.js')
  return {
    startService: (options) => startServiceProcess({ ...options, launcher }),
    runSvc: (options) => runSvc({ ...options, launcher }),
    spawnSvc: (options) => spawnSvc({ ...options, launcher }),
  }
}

/** Adds a column and a table, which this version does not use. */
export const EXPAND = `-- works with: 001-schema
ALTER TABLE users ADD COLUMN nickname TEXT;
CREATE TABLE later (id TEXT PRIMARY KEY);
`

/** Removes a table, which the version after this one does not use any more. */
export const CONTRACT = `-- works with: 900-later
DROP TABLE later;
`
