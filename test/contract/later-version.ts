import { cpSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { runSvc, spawnSvc } from '../support/command.ts'
import { startServiceProcess } from '../support/service-process.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

const ROOT = path.join(import.meta.dirname, '../..')

/** What a migration does, with its header. */
export type LaterMigration = { sqlite: string; postgres: string }

/** How a version of svc is run: by its own launcher, and otherwise as every other. */
export type Version = {
  startService: typeof startServiceProcess
  runSvc: typeof runSvc
  spawnSvc: typeof spawnSvc
}

/** The same packages, in a folder of its own where the copy keeps its compiled code. */
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

/** A copy of this version of svc that has one migration more, removed after the file. */
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

/** A column more, which this version knows nothing of and need not. */
export const COLUMN_MORE: LaterMigration = {
  sqlite: '-- works with: 001-beginning\nALTER TABLE users ADD COLUMN nickname TEXT;\nCREATE TABLE later (id TEXT);\n',
  postgres:
    '-- works with: 001-beginning\nALTER TABLE users ADD COLUMN nickname TEXT;\nCREATE TABLE later (id TEXT);\n',
}
