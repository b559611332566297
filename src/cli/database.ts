import { closeSync, openSync, rmSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import { secretFilesOf } from '../config/root-secret.ts'
import { AppError } from '../lib/errors.ts'
import { command, group, option } from './command/command.ts'
import { copy } from './database-copy.ts'
import { createTerminalProgress } from './terminal/progress.ts'

/** An index of a million users takes minutes on a database server that has other work to do. */
const INDEX_TIMEOUT_MS = 3_600_000

const index = command({
  text: 'make the index that finds users by a part of their email, username or name',
  examples: ['svc database index', 'svc database index --rebuild'],
  notes: `\
The service goes on in the meantime, and the command can be repeated. With SQLite, the first search among more than
5000 users asks for the index, and the service makes it within minutes. With PostgreSQL, nothing but this command makes
it, and the extension pg_trgm must be there: CREATE EXTENSION pg_trgm.`,
  options: { rebuild: option.flag('--rebuild', 'make it in place of the one that is there, such as a damaged one') },
  async run({ options: { rebuild }, loadConfig, withCore, result }) {
    const given = loadConfig()
    const config = given.database.kind === 'sqlite' ? given : { ...given, databaseTimeoutMs: INDEX_TIMEOUT_MS }
    const progress = createTerminalProgress()
    const onProgress = (done: number, total: number): void => progress.show('users', done, total)
    const made = await withCore(async ({ core }) => {
      const userIndex = await core.loadUserIndex()
      return userIndex.make({ rebuild: rebuild === true, onProgress }).finally(() => progress.stop())
    }, config)
    await result({ made }, made ? 'Made the index.' : 'There is an index already.')
  },
})

export const database = group({
  text: 'copy the installation to another database, or make the index of a search',
  examples: [
    'svc database copy --from sqlite:data/svc.db --to postgres://svc@db.example.com/svc',
    'svc database index',
  ],
  commands: { copy, index },
})

/** It works while the service reads and writes the database. */
export const backupCommand = command({
  args: '<file>',
  text: 'write a consistent copy of the database to a new file',
  examples: ['svc backup /var/backups/svc-$(date +%F).db'],
  notes:
    'The copy does not contain the secret: back it up too, in another place. To restore, put both back and start the service.',
  async run({ loadConfig, withCore, result }, name: string) {
    const config = loadConfig()
    if (config.database.kind === 'postgres') {
      throw new AppError('conflict', 'svc backup copies a SQLite file; use pg_dump for a PostgreSQL database')
    }
    const file = resolve(name)
    const secret = secretFilesOf(config)?.current ?? 'the value of SVC_SECRET'
    await withCore(({ core }) => writeNewFile(file, () => core.db.backup(file)), config)
    const { size } = statSync(file)
    await result(
      { file, bytes: size, secret },
      `Wrote ${file} (${size} bytes).\nThe copy is useless without the secret, so back that up too: ${secret}`,
    )
  },
})

/** Creates an empty file first, so that an existing file is never overwritten. An incomplete copy is removed. */
const writeNewFile = async (file: string, copyTo: () => Promise<void>): Promise<void> => {
  try {
    closeSync(openSync(file, 'wx', 0o600))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') throw new AppError('conflict', `${file} already exists`)
    throw new AppError('unavailable', `${file} cannot be written`, { cause: error })
  }
  try {
    await copyTo()
  } catch (error) {
    rmSync(file, { force: true })
    throw new AppError('unavailable', `${file} could not be written`, { cause: error })
  }
}

/** Every start of the service does the same. */
export const migrateCommand = command({
  text: 'migrate the schema of the database',
  examples: ['svc migrate', 'svc migrate --check'],
  options: {
    check: option.flag('--check', 'change nothing; list pending migrations, and exit with 1 if there are any'),
  },
  async run({ options: { check }, loadConfig, withCore, result }) {
    const config = loadConfig()
    const { findPending } = await import('../bootstrap.ts')
    const pending = await findPending(config)
    if (check && pending.length > 0) process.exitCode = 1
    // Opening the database applies the pending migrations.
    if (!check) await withCore(async () => {}, config)
    const title = check ? 'Pending' : 'Applied'
    await result(
      check ? { pending } : { applied: pending },
      pending.length > 0 ? `${title}: ${pending.join(', ')}` : 'The schema is up to date.',
    )
  },
})
