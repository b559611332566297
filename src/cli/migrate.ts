import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import type { Command } from 'commander'
import type { Config } from '../config.ts'
import { systemClock } from '../lib/time.ts'
import { type Domain, withDomain } from './domain.ts'
import { addCommand, type JsonOption, withJson } from './help.ts'
import { print, printJson } from './output.ts'
import type { Surroundings } from './surroundings.ts'

interface MigrateOptions extends JsonOption {
  check?: boolean
}

/** `svc migrate`: the schema, which every start brings up to date as well. */
export const addMigrate = (program: Command, { loadConfig }: Surroundings): void => {
  const migrate = addCommand(program, 'migrate', 'bring the schema of the database up to date', [
    'svc migrate',
    'svc migrate --check',
  ]).option('--check', 'change nothing; exit 1 and say what is pending when the schema is not up to date')
  withJson(migrate).action(async ({ check, json }: MigrateOptions) => {
    const config = loadConfig()
    const pending = await findPending(config)
    if (check) {
      if (pending.length > 0) process.exitCode = 1
      return json ? printJson({ pending }) : print(listed('Pending', pending))
    }
    // Opening applies what is pending.
    await withDomain(config, async () => {})
    return json ? printJson({ applied: pending }) : print(listed('Applied', pending))
  })
}

const listed = (title: string, names: string[]): string =>
  names.length > 0 ? `${title}: ${names.join(', ')}\n` : 'The schema is up to date.\n'

const findPending = async ({ database }: Config): Promise<string[]> => {
  const file = resolve(database.file)
  if (!existsSync(file)) return findAll()
  const { findPendingMigrations } = await import('../storage/migrations.ts')
  return withFile(file, findPendingMigrations)
}

/** What a new database gets: tried on one that is thrown away. */
const findAll = async (): Promise<string[]> => {
  const { migrate } = await import('../storage/migrations.ts')
  const folder = mkdtempSync(join(tmpdir(), 'svc-migrate-'))
  try {
    return await withFile(join(folder, 'svc.db'), (db) => migrate(db, systemClock))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

const withFile = async <T>(file: string, work: (db: Domain['db']) => Promise<T>): Promise<T> => {
  const { openSqlite } = await import('../storage/sqlite.ts')
  const db = await openSqlite({ file, onFailure: () => {} })
  try {
    return await work(db)
  } finally {
    await db.close()
  }
}
