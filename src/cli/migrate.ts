import type { Command } from 'commander'
import type { CommandContext } from './command-context.ts'
import { addCommand, type JsonOption, withJson } from './help.ts'
import { print, printJson } from './terminal/output.ts'
import { withCore } from './with-core.ts'

interface MigrateOptions extends JsonOption {
  check?: boolean
}

/** `svc migrate`: the schema, which every start brings up to date as well. */
export const addMigrate = (program: Command, { loadConfig }: CommandContext): void => {
  const migrate = addCommand(program, 'migrate', 'bring the schema of the database up to date', [
    'svc migrate',
    'svc migrate --check',
  ]).option('--check', 'change nothing; exit 1 and say what is pending when the schema is not up to date')
  withJson(migrate).action(async ({ check, json }: MigrateOptions) => {
    const config = loadConfig()
    const { findPending } = await import('../bootstrap.ts')
    const pending = await findPending(config)
    if (check) {
      if (pending.length > 0) process.exitCode = 1
      return json ? printJson({ pending }) : print(listed('Pending', pending))
    }
    // Opening applies what is pending.
    await withCore(config, async () => {})
    return json ? printJson({ applied: pending }) : print(listed('Applied', pending))
  })
}

const listed = (title: string, names: string[]): string =>
  names.length > 0 ? `${title}: ${names.join(', ')}\n` : 'The schema is up to date.\n'
