import { Command, CommanderError } from 'commander'
import { readVersion } from '../lib/version.ts'
import { addApiKeys } from './api-keys.ts'
import { addAudit } from './audit.ts'
import { addBackup } from './backup.ts'
import type { CommandContext } from './command-context.ts'
import { addConfig } from './config.ts'
import { addDatabase } from './database.ts'
import { addDoctor } from './doctor/doctor.ts'
import { addHealthcheck } from './healthcheck.ts'
import { addHelp } from './help.ts'
import { addIdentities } from './identities.ts'
import { addKeys } from './keys.ts'
import { addMail } from './mail.ts'
import { addMigrate } from './migrate.ts'
import { addSecret } from './secret.ts'
import { addServe } from './serve.ts'
import { addSessions } from './sessions.ts'
import { Interrupted } from './terminal/prompt.ts'
import { addUsers } from './users.ts'
import { addWebhooks } from './webhooks.ts'

const EXIT_USAGE = 2
/** 128 + SIGINT, as shells report it. */
const EXIT_INTERRUPTED = 130

/**
 * Runs one command. Sets exit code 2 for wrong usage and 130 for Ctrl+C at a question; throws every other error.
 */
export const runProgram = async (args: string[], context: CommandContext): Promise<void> => {
  tolerateClosedPipes()
  try {
    await createProgram(context).parseAsync(args, { from: 'user' })
  } catch (error) {
    if (error instanceof CommanderError) process.exitCode = error.exitCode === 0 ? 0 : EXIT_USAGE
    else if (error instanceof Interrupted) process.exitCode = EXIT_INTERRUPTED
    else if (!isClosedPipe(error)) throw error
  }
}

const createProgram = (context: CommandContext): Command => {
  const program = new Command('svc')
    .description('Authentication service that runs under /auth beside your application.')
    .version(readVersion(), '-V, --version', 'print the version')
    .helpOption('-h, --help', 'show help')
    .helpCommand(false)
    .exitOverride()
    .configureOutput({ outputError: (text, write) => write(text.replace(/^error: /, 'svc: ')) })
    .showHelpAfterError('Try: svc --help')
    .addHelpText('after', OVERVIEW)
  program.commandsGroup('The service:')
  addServe(program, context)
  addDoctor(program, context)
  addHealthcheck(program, context)
  addConfig(program, context)
  program.commandsGroup('Accounts:')
  addUsers(program, context)
  addSessions(program, context)
  addIdentities(program, context)
  addAudit(program, context)
  program.commandsGroup('Keys:')
  addApiKeys(program, context)
  addKeys(program, context)
  addSecret(program, context)
  program.commandsGroup('What svc sends:')
  addMail(program, context)
  addWebhooks(program, context)
  program.commandsGroup('The database:')
  addBackup(program, context)
  addDatabase(program)
  addMigrate(program, context)
  program.commandsGroup('Help:')
  addHelp(program)
  return program
}

const OVERVIEW = `
Settings come from SVC_* variables and from a .env file: svc config shows them.
Every command works while the service runs, and takes effect at once.

Examples:
  svc serve
  svc users create ada@example.com
  svc users list --json
  svc help users create

Exit codes: 0 success, 1 failure, 2 wrong usage, 78 wrong configuration.`

const isClosedPipe = (error: unknown): boolean => error instanceof Error && 'code' in error && error.code === 'EPIPE'

/** A reader that closes its pipe early is no error, as in `svc users list | head`. */
const tolerateClosedPipes = (): void => {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error) => {
      if (!isClosedPipe(error)) process.exitCode = 1
    })
  }
}
