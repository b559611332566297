import { readFileSync } from 'node:fs'
import { type Command, Option } from 'commander'
import { AppError } from '../lib/errors.ts'
import { addCommand, type JsonOption, withJson } from './command.ts'
import type { CommandContext } from './command-context.ts'
import type { ImportOptions, ImportResult } from './import/import-users.ts'
import { print, printJson, printNotice } from './terminal/output.ts'
import { withCore } from './with-core.ts'

/** In the order of their names. */
const SYSTEMS = ['auth0', 'clerk', 'firebase', 'keycloak', 'kratos']

interface Options extends JsonOption {
  from?: string
  ids?: string
  dryRun?: boolean
  allOrNothing?: boolean
  /** False with --no-hashes and --no-events. */
  hashes: boolean
  events: boolean
  hashParameters?: string
}

/** For a batch on a busy database server: a request may fail after seconds, but an import would have to be run again. */
const PATIENCE_MS = 30_000

/** `svc users import` */
export const addUsersImport = (users: Command, { loadConfig }: CommandContext): void => {
  const command = addCommand(users, 'import <file>', 'add the users of a file, one JSON object a line', [
    'svc users import users.jsonl --dry-run',
    'svc users import users.jsonl --ids ids.jsonl',
    'svc users import --from keycloak myrealm-realm.json',
    'svc users export | ssh other-host svc users import -',
  ])
    .addOption(new Option('--from <system>', 'read what this system exports').choices(SYSTEMS))
    .option('--hash-parameters <file>', 'the hash_config of a Firebase project')
    .option('--ids <file>', 'write which id each user has here')
    .option('--dry-run', 'say what would happen, and change nothing')
    .option('--all-or-nothing', 'import nobody if one user cannot be imported')
    .option('--no-hashes', 'leave the hashes of passwords out')
    .option('--no-events', 'send no user.created webhooks')
    .addHelpText('after', NOTES)
  withJson(command).action(async (file: string, options: Options) => {
    if (options.dryRun && options.ids !== undefined) command.error('error: --dry-run gives no ids: leave --ids out')
    if (options.hashParameters !== undefined && options.from !== 'firebase') {
      command.error('error: --hash-parameters is for --from firebase')
    }
    const config = loadConfig()
    const patient = { ...config, databaseTimeoutMs: Math.max(config.databaseTimeoutMs, PATIENCE_MS) }
    const result = await withCore(patient, async (core, logEvent) => {
      const { importUsers } = await import('./import/import-users.ts')
      const imported = await importUsers(core, file, toImportOptions(options))
      if (imported.imported > 0 && !options.dryRun) {
        logEvent('users import', 'account_import', { count: imported.imported })
      }
      return imported
    })
    await (options.json ? printJson(toJson(result)) : print(resultText(result, options)))
    for (const notice of noticesOf(result)) printNotice(notice)
    if (result.failed > 0) process.exitCode = 1
  })
}

const NOTES = `
FILE is - for standard input. A user who is there already, by id or else by email, is left as is, so that the command
can be run again. A line that cannot be imported is named, the others are imported, and the exit code is 1.
The fields of a line: id, email, username, roles, password or password_hash, email_verified, disabled, created_at,
identities (provider, issuer, subject, email).`

const toImportOptions = (options: Options): ImportOptions => ({
  from: options.from,
  hashParameters: options.hashParameters === undefined ? undefined : readParameters(options.hashParameters),
  ids: options.ids,
  dryRun: options.dryRun ?? false,
  allOrNothing: options.allOrNothing ?? false,
  withoutHashes: !options.hashes,
  announces: options.events,
})

const readParameters = (file: string): string => {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw new AppError('not_found', `--hash-parameters ${file} cannot be read (${code})`)
  }
}

const toJson = ({ imported, existing, failed, skipped, losses }: ImportResult) => ({
  imported,
  existing,
  failed,
  skipped,
  not_carried_over: Object.fromEntries(losses),
})

const resultText = ({ imported, existing, failed }: ImportResult, { dryRun, allOrNothing }: Options): string => {
  const isStopped = failed > 0 && allOrNothing
  const verb = dryRun ? 'Would import' : 'Imported'
  return (
    `${verb} ${countText(isStopped ? 0 : imported)}. ${existing} ${existing === 1 ? 'was' : 'were'} there already, ` +
    `${failed} cannot be imported.${isStopped ? ' Nobody is imported, because of --all-or-nothing.' : ''}\n`
  )
}

const countText = (count: number): string => (count === 1 ? '1 user' : `${count} users`)

const noticesOf = ({ imported, skipped, losses }: ImportResult): string[] => [
  ...(skipped > 0 ? [`${skipped} entries of the file are accounts of programs, and were left out`] : []),
  ...[...losses].map(([loss, count]) => `${countText(count)} lose something that is not carried over: ${loss}`),
  ...(imported > 0 ? [`a file holds no sessions: ${countText(imported)} will have to sign in again`] : []),
]
