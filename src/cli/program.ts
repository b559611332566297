import { Command, CommanderError } from 'commander'
import { readVersion } from '../lib/version.ts'
import { addBackup } from './backup.ts'
import type { CommandContext } from './command-context.ts'
import { addConfig } from './config.ts'
import { addDatabase } from './database.ts'
import { addHealthcheck } from './healthcheck.ts'
import { addCommand } from './help.ts'
import { addKeys } from './keys.ts'
import { addMigrate } from './migrate.ts'
import { addSecret } from './secret.ts'
import { addSessions } from './sessions.ts'
import { Interrupted } from './terminal/prompt.ts'
import { addUsers } from './users.ts'
import { addIdentities } from './users-identities.ts'
import { addWebhooks } from './webhooks.ts'

const EXIT_USAGE = 2
/** 128 + SIGINT, as a shell reports it. */
const EXIT_INTERRUPTED = 130

/**
 * Runs one command of the command line. Wrong usage sets exit code 2 and Ctrl+C at a question 130; every other failure
 * is thrown.
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
    .description('Authentication that sits under /auth beside your application.')
    .version(readVersion(), '-V, --version', 'print the version')
    .helpOption('-h, --help', 'show help, of a command too')
    .helpCommand(false)
    .exitOverride()
    .configureOutput({ outputError: (text, write) => write(text.replace(/^error: /, 'svc: ')) })
    .showHelpAfterError('Try: svc --help')
    .addHelpText('after', OVERVIEW)
  addCommand(program, 'serve', 'run the service until it is told to stop', [
    'svc serve',
    'SVC_PORT=3000 SVC_BASE_URL=https://example.com svc serve',
  ]).action(context.serve)
  addMigrate(program, context)
  addUsers(program, context)
  addSessions(program, context)
  addIdentities(program, context)
  addKeys(program, context)
  addSecret(program, context)
  addWebhooks(program, context)
  addHealthcheck(program, context)
  addBackup(program, context)
  addDatabase(program)
  addConfig(program, context)
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

Exit codes: 0 done, 1 failed, 2 wrong usage, 78 wrong configuration.`

/** Commander's own looks at one name only. */
const addHelp = (program: Command): void => {
  const help = addCommand(program, 'help [command...]', 'show help of a command', ['svc help users create'])
  help.action((names: string[]) => names.reduce(requireCommand, program).help())
}

const requireCommand = (parent: Command, name: string): Command =>
  parent.commands.find((command) => command.name() === name) ?? parent.error(`error: unknown command '${name}'`)

const isClosedPipe = (error: unknown): boolean => error instanceof Error && 'code' in error && error.code === 'EPIPE'

/** `svc users list | head`: whoever has read enough is no error. */
const tolerateClosedPipes = (): void => {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error) => {
      if (!isClosedPipe(error)) process.exitCode = 1
    })
  }
}
