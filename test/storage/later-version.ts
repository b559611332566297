import { cpSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { runSvc, spawnSvc } from '../support/service/command.ts'
import { startServiceProcess } from '../support/service/service-process.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

const ROOT = path.join(import.meta.dirname, '../..')

/** The SQL of a migration, with its header. */
export type LaterMigration = { sqlite: string; postgres: string }

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

const writeMigration = (root: string, texts: LaterMigration) => {
  for (const [dialect, text] of Object.entries(texts))
    writeFileSync(path.join(root, `src/storage/migrations/900-later.${dialect}.sql`), text)
}

/** A copy of this version of svc with one more migration; removed after the file. */
export const laterVersion = (migration: LaterMigration): Version => {
  const root = temporaryDirectory()
  for (const part of ['src', 'bin', 'package.json'])
    cpSync(path.join(ROOT, part), path.join(root, part), { recursive: true })
  linkPackages(root)
  writeMigration(root, migration)
  const launcher = path.join(root, 'bin/svc.js')
  return {
    startService: (options) => startServiceProcess({ ...options, launcher }),
    runSvc: (options) => runSvc({ ...options, launcher }),
    spawnSvc: (options) => spawnSvc({ ...options, launcher }),
  }
}

/** One more column, which this version does not use. */
export const COLUMN_MORE: LaterMigration = {
  sqlite: '-- works with: 001-beginning\nALTER TABLE users ADD COLUMN nickname TEXT;\nCREATE TABLE later (id TEXT);\n',
  postgres:
    '-- works with: 001-beginning\nALTER TABLE users ADD COLUMN nickname TEXT;\nCREATE TABLE later (id TEXT);\n',
}
