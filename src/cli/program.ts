import { Command, CommanderError } from 'commander'
import { readVersion } from '../lib/version.ts'
import { type CommandContext, command, type Entry } from './command/command.ts'
import { Interrupted } from './terminal/prompt.ts'

/** This is THE table of commands, by the headings of the help. A file is loaded when one of its commands is used. */
const COMMANDS: Record<string, Record<string, () => Promise<Entry>>> = {
  'The service:': {
    dev: async () => (await import('./dev/dev.ts')).devCommand,
    serve: async () => (await import('./service.ts')).serveCommand,
    admin: async () => (await import('./admin.ts')).adminCommand,
    doctor: async () => (await import('./doctor/doctor.ts')).doctor,
    healthcheck: async () => (await import('./service.ts')).healthcheckCommand,
    config: async () => (await import('./service.ts')).configCommand,
    preview: async () => (await import('./preview.ts')).previewCommand,
  },
  'Accounts:': {
    users: async () => (await import('./users.ts')).users,
    sessions: async () => (await import('./sessions.ts')).sessions,
    identities: async () => (await import('./identities.ts')).identities,
    audit: async () => (await import('./audit.ts')).audit,
  },
  'Administrators:': { admins: async () => (await import('./admins.ts')).admins },
  'Clients of the OAuth server:': {
    clients: async () => (await import('./clients.ts')).clients,
    grants: async () => (await import('./grants.ts')).grants,
  },
  'Keys:': {
    'api-keys': async () => (await import('./api-keys.ts')).apiKeys,
    keys: async () => (await import('./keys.ts')).keys,
    secret: async () => (await import('./secret.ts')).secret,
  },
  'What svc sends:': {
    mail: async () => (await import('./mail.ts')).mail,
    webhooks: async () => (await import('./webhooks.ts')).webhooks,
  },
  'Texts:': { texts: async () => (await import('./texts.ts')).texts },
  'The database:': {
    backup: async () => (await import('./database.ts')).backupCommand,
    database: async () => (await import('./database.ts')).database,
    migrate: async () => (await import('./database.ts')).migrateCommand,
  },
  'Help:': { help: async () => help },
}

/** The library's own `help` command accepts one name only, so that `svc help users create` would fail. */
const help: Entry = (program, ...rest) =>
  command({
    args: '[command...]',
    text: 'show help for a command',
    examples: ['svc help users create'],
    json: false,
    run: async (_, names: string[]) => names.reduce(requireCommand, program).help(),
  })(program, ...rest)

const requireCommand = (parent: Command, name: string): Command =>
  parent.commands.find((each) => each.name() === name) ?? parent.error(`error: unknown command '${name}'`)

const EXIT_USAGE = 2
/** Shells report 128 + SIGINT. */
const EXIT_INTERRUPTED = 130

/** Runs one command. Sets exit code 2 for wrong usage and 130 for Ctrl+C at a question; throws every other error. */
export const runProgram = async (args: string[], context: CommandContext): Promise<void> => {
  tolerateClosedPipes()
  try {
    const program = await createProgram(args[0], context)
    await program.parseAsync(args, { from: 'user' })
  } catch (error) {
    if (error instanceof CommanderError) process.exitCode = error.exitCode === 0 ? 0 : EXIT_USAGE
    else if (error instanceof Interrupted) process.exitCode = EXIT_INTERRUPTED
    else if (!isClosedPipe(error)) throw error
  }
}

/** Adds the command of the first word; or all, for the help and for the words that a wrong one may have meant. */
const createProgram = async (word: string | undefined, context: CommandContext): Promise<Command> => {
  const program = new Command('svc')
    .description('Authentication service that runs under /auth beside your application.')
    .version(readVersion(), '-V, --version', 'print the version')
    .helpOption('-h, --help', 'show help')
    .helpCommand(false)
    .exitOverride()
    .configureOutput({ outputError: (text, write) => write(text.replace(/^error: /, 'svc: ')) })
    .showHelpAfterError('Try: svc --help')
    .addHelpText('after', OVERVIEW)
  const isOne = word !== 'help' && Object.values(COMMANDS).some((entries) => Object.keys(entries).includes(word ?? ''))
  for (const [heading, entries] of Object.entries(COMMANDS)) {
    program.commandsGroup(heading)
    for (const [name, load] of Object.entries(entries))
      if (!isOne || name === word) (await load())(program, name, context)
  }
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
