import { cpSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { temporaryDirectory } from '../support/temporary-directory.ts'

const ROOT = path.join(import.meta.dirname, '../..')

/** What a migration does, with its header. */
export type LaterMigration = { sqlite: string; postgres: string }

/** How a version of svc is run: its own launcher, and otherwise as every other. */
export type Version = Pick<typeof import('../support/service.ts'), 'startService'> &
  Pick<typeof import('../support/command.ts'), 'runSvc' | 'spawnSvc'>

/** Compiled code of a copy that is soon gone should not be kept beside the packages. */
export const UNKEPT = { NODE_DISABLE_COMPILE_CACHE: '1' }

const writeMigration = (root: string, texts: LaterMigration) => {
  for (const [dialect, text] of Object.entries(texts))
    writeFileSync(path.join(root, `src/storage/migrations/900-later.${dialect}.sql`), text)
}

/**
 * A copy of this version of svc that has one migration more, removed after the file. Its tests' support comes with it,
 * because that starts what lies beside it.
 */
export const laterVersion = async (migration: LaterMigration): Promise<Version> => {
  const root = temporaryDirectory()
  mkdirSync(path.join(root, 'test'))
  for (const part of ['src', 'bin', 'package.json', 'test/support'])
    cpSync(path.join(ROOT, part), path.join(root, part), { recursive: true })
  symlinkSync(path.join(ROOT, 'node_modules'), path.join(root, 'node_modules'))
  writeMigration(root, migration)
  const load = (file: string): Promise<unknown> => import(pathToFileURL(path.join(root, 'test/support', file)).href)
  const { startService } = (await load('service.ts')) as Version
  const { runSvc, spawnSvc } = (await load('command.ts')) as Version
  return { startService, runSvc, spawnSvc }
}

/** A column more, which this version knows nothing of and need not. */
export const COLUMN_MORE: LaterMigration = {
  sqlite: '-- works with: 001-beginning\nALTER TABLE users ADD COLUMN nickname TEXT;\nCREATE TABLE later (id TEXT);\n',
  postgres:
    '-- works with: 001-beginning\nALTER TABLE users ADD COLUMN nickname TEXT;\nCREATE TABLE later (id TEXT);\n',
}
