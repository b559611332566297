import type { Command } from 'commander'
import { addCommand, type JsonOption, withJson } from './command.ts'
import type { CommandContext } from './command-context.ts'
import { print, printJson } from './terminal/output.ts'
import { withCore } from './with-core.ts'

interface MigrateOptions extends JsonOption {
  check?: boolean
}

/** `svc migrate`. Every start of the service does the same. */
export const addMigrate = (program: Command, { loadConfig }: CommandContext): void => {
  const migrate = addCommand(program, 'migrate', 'migrate the schema of the database', [
    'svc migrate',
    'svc migrate --check',
  ]).option('--check', 'change nothing; list pending migrations, and exit with 1 if there are any')
  withJson(migrate).action(async ({ check, json }: MigrateOptions) => {
    const config = loadConfig()
    const { findPending } = await import('../bootstrap.ts')
    const pending = await findPending(config)
    if (check) {
      if (pending.length > 0) process.exitCode = 1
      return json ? printJson({ pending }) : print(listText('Pending', pending))
    }
    // Opening the database applies the pending migrations.
    await withCore(config, async () => {})
    return json ? printJson({ applied: pending }) : print(listText('Applied', pending))
  })
}

const listText = (title: string, names: string[]): string =>
  names.length > 0 ? `${title}: ${names.join(', ')}\n` : 'The schema is up to date.\n'
