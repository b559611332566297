import { closeSync, openSync, rmSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Command } from 'commander'
import type { Config } from '../config/config.ts'
import { AppError } from '../lib/errors.ts'
import type { CommandContext } from './command-context.ts'
import { addCommand, type JsonOption, withJson } from './help.ts'
import { print, printJson } from './terminal/output.ts'
import { withCore } from './with-core.ts'

/** `svc backup`: a copy while others read and write. */
export const addBackup = (program: Command, { loadConfig }: CommandContext): void => {
  const backup = addCommand(program, 'backup <file>', 'write a consistent copy of the database to a new file', [
    'svc backup /var/backups/svc-$(date +%F).db',
  ]).addHelpText(
    'after',
    '\nThe secret is not in the copy: keep it too, in another place. To restore, put both back and start the service.',
  )
  withJson(backup).action(async (name: string, { json }: JsonOption) => {
    const config = loadConfig()
    if (config.database.kind === 'postgres') {
      throw new AppError('conflict', 'svc backup copies a SQLite file; a PostgreSQL database is saved with pg_dump')
    }
    const file = resolve(name)
    const secret = await secretPlace(config, config.database.file)
    await withCore(config, ({ db }) => write(file, () => db.backup(file)))
    const { size } = statSync(file)
    await (json
      ? printJson({ file, bytes: size, secret })
      : print(
          `Wrote ${file} (${size} bytes).\nThe copy is of no use without the secret, so keep that too: ${secret}\n`,
        ))
  })
}

/** Takes the name for itself first: a file that is there already stays as it is, and half a copy does not stay. */
const write = async (file: string, copy: () => Promise<void>): Promise<void> => {
  try {
    closeSync(openSync(file, 'wx', 0o600))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') throw new AppError('conflict', `${file} exists already`)
    throw new AppError('unavailable', `${file} cannot be written`, { cause: error })
  }
  try {
    await copy()
  } catch (error) {
    rmSync(file, { force: true })
    throw new AppError('unavailable', `${file} could not be written`, { cause: error })
  }
}

const secretPlace = async ({ secret }: Config, databaseFile: string): Promise<string> => {
  if (secret) return 'the value of SVC_SECRET'
  const { rootSecretFile } = await import('../config/root-secret.ts')
  return rootSecretFile(resolve(databaseFile))
}
