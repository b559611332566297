import { closeSync, openSync, rmSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Command } from 'commander'
import type { Config } from '../config/config.ts'
import { AppError } from '../lib/errors.ts'
import { addCommand, type JsonOption, withJson } from './command.ts'
import type { CommandContext } from './command-context.ts'
import { print, printJson } from './terminal/output.ts'
import { withCore } from './with-core.ts'

/** `svc backup`. It works while the service reads and writes the database. */
export const addBackup = (program: Command, { loadConfig }: CommandContext): void => {
  const backup = addCommand(program, 'backup <file>', 'write a consistent copy of the database to a new file', [
    'svc backup /var/backups/svc-$(date +%F).db',
  ]).addHelpText(
    'after',
    '\nThe copy does not contain the secret: back it up too, in another place. To restore, put both back and start the service.',
  )
  withJson(backup).action(async (name: string, { json }: JsonOption) => {
    const config = loadConfig()
    if (config.database.kind === 'postgres') {
      throw new AppError('conflict', 'svc backup copies a SQLite file; use pg_dump for a PostgreSQL database')
    }
    const file = resolve(name)
    const secret = await secretLocation(config, config.database.file)
    await withCore(config, ({ db }) => writeNewFile(file, () => db.backup(file)))
    const { size } = statSync(file)
    await (json
      ? printJson({ file, bytes: size, secret })
      : print(
          `Wrote ${file} (${size} bytes).\nThe copy is useless without the secret, so back that up too: ${secret}\n`,
        ))
  })
}

/** Creates an empty file first, so that an existing file is never overwritten. An incomplete copy is removed. */
const writeNewFile = async (file: string, copy: () => Promise<void>): Promise<void> => {
  try {
    closeSync(openSync(file, 'wx', 0o600))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') throw new AppError('conflict', `${file} already exists`)
    throw new AppError('unavailable', `${file} cannot be written`, { cause: error })
  }
  try {
    await copy()
  } catch (error) {
    rmSync(file, { force: true })
    throw new AppError('unavailable', `${file} could not be written`, { cause: error })
  }
}

const secretLocation = async ({ secret }: Config, databaseFile: string): Promise<string> => {
  if (secret) return 'the value of SVC_SECRET'
  const { rootSecretFile } = await import('../config/root-secret.ts')
  return rootSecretFile(resolve(databaseFile))
}
