import type { ExportSummary } from '../accounts/accounts.ts'
import { command, option, readOptionFile } from './command/command.ts'
import { EXPORT_TIMEOUT_MS } from './command/with-core.ts'
import type { Format } from './import/from/format.ts'
import type { ImportResult } from './import/import-users.ts'
import { printNotice } from './terminal/output.ts'
import { writing } from './terminal/output-file.ts'
import { createTerminalProgress } from './terminal/progress.ts'
import { countText } from './terminal/text.ts'

/** svc reads the exports of these systems, which stand in the order of their names. */
const FORMATS: Record<string, () => Promise<Format>> = {
  auth0: async () => (await import('./import/from/auth0.ts')).auth0,
  clerk: async () => (await import('./import/from/clerk.ts')).clerk,
  firebase: async () => (await import('./import/from/firebase.ts')).firebase,
  keycloak: async () => (await import('./import/from/keycloak.ts')).keycloak,
  kratos: async () => (await import('./import/from/kratos.ts')).kratos,
}

/** A batch may wait for a busy database server: a request may fail, but an import would have to be run again. */
const IMPORT_PATIENCE_MS = 30_000

export const importCommand = command({
  args: '<file>',
  text: 'add the users of a file, one JSON object a line',
  examples: [
    'svc users import users.jsonl --dry-run',
    'svc users import users.jsonl --ids ids.jsonl',
    'svc users import --from keycloak myrealm-realm.json',
    'svc users export | ssh other-host svc users import -',
  ],
  notes: `\
FILE is - for standard input. A user who is there already, by id or else by email, is left as is, so that the command
can be run again. A line that cannot be imported is named, the others are imported, and the exit code is 1.
The fields of a line: id, email, username, name, roles, password or password_hash, email_verified, disabled, created_at,
identities (provider, issuer, subject, email).`,
  options: {
    from: option.choice('--from <system>', 'read what this system exports', Object.keys(FORMATS)),
    hashParameters: option.text('--hash-parameters <file>', 'the hash_config of a Firebase project'),
    ids: option.text('--ids <file>', 'write which id each user has here'),
    dryRun: option.flag('--dry-run', 'say what would happen, and change nothing'),
    allOrNothing: option.flag('--all-or-nothing', 'import nobody if one user cannot be imported'),
    withHashes: option.unless('--no-hashes', 'leave the hashes of passwords out'),
    announces: option.unless('--no-events', 'send no user.created webhooks'),
  },
  async run(call, file: string) {
    const { hashParameters, dryRun = false, allOrNothing = false, ...given } = call.options
    if (dryRun && given.ids !== undefined) call.usageError('--dry-run gives no ids: leave --ids out')
    if (hashParameters !== undefined && given.from !== 'firebase')
      call.usageError('--hash-parameters is for --from firebase')
    const config = call.loadConfig()
    const result = await call.withCore(
      async ({ core, logEvent }) => {
        const { importUsers } = await import('./import/import-users.ts')
        const parameters =
          hashParameters === undefined ? undefined : readOptionFile('--hash-parameters', hashParameters)
        const format = given.from === undefined ? undefined : await FORMATS[given.from]?.()
        const options = { ...given, format, dryRun, allOrNothing, hashParameters: parameters }
        const imported = await importUsers(core, file, options)
        if (imported.imported > 0 && !dryRun) logEvent('account_import', { count: imported.imported })
        return imported
      },
      { ...config, databaseTimeoutMs: Math.max(config.databaseTimeoutMs, IMPORT_PATIENCE_MS) },
    )
    await call.result(importToJson(result), importText(result, { dryRun, allOrNothing }))
    for (const notice of importNotices(result)) printNotice(notice)
    if (result.failed > 0) process.exitCode = 1
  },
})

const importToJson = ({ imported, existing, failed, skipped, losses }: ImportResult) => ({
  imported,
  existing,
  failed,
  skipped,
  not_carried_over: Object.fromEntries(losses),
})

const importText = (
  { imported, existing, failed }: ImportResult,
  { dryRun, allOrNothing }: { dryRun: boolean; allOrNothing: boolean },
): string => {
  const isStopped = failed > 0 && allOrNothing
  return (
    `${dryRun ? 'Would import' : 'Imported'} ${countText(isStopped ? 0 : imported, 'user')}. ` +
    `${existing} ${existing === 1 ? 'was' : 'were'} there already, ${failed} cannot be imported.` +
    (isStopped ? ' Nobody is imported, because of --all-or-nothing.' : '')
  )
}

const importNotices = ({ imported, skipped, losses }: ImportResult): string[] => [
  ...(skipped > 0 ? [`${skipped} entries of the file are accounts of programs, and were left out`] : []),
  ...[...losses].map(([loss, count]) => `${countText(count, 'user')} lose something that is not carried over: ${loss}`),
  ...(imported > 0 ? [`a file holds no sessions: ${countText(imported, 'user')} will have to sign in again`] : []),
]

export const exportCommand = command({
  text: 'print all users, one JSON object a line, as svc users import takes them',
  examples: ['svc users export --output users.jsonl', 'svc users export --no-hashes | jq -r .email'],
  notes: 'The lines hold no sessions, second factors and passkeys: users sign in again where they are imported.',
  options: {
    output: option.text('--output <file>', 'write to a new file that only its owner can read'),
    withHashes: option.unless('--no-hashes', 'leave the hashes of passwords out'),
  },
  json: false,
  async run({ options: { output, withHashes }, loadConfig, withCore }) {
    const summary = await withCore(
      async ({ core }) => {
        const exportUsers = await core.userExport()
        const progress = createTerminalProgress()
        // Both would write to the terminal.
        const isShown = output !== undefined || !process.stdout.isTTY
        let done = 0
        return writing(output, (write) =>
          exportUsers({
            withHashes,
            async onPage(lines, users, total) {
              await write(lines)
              done += users
              if (isShown) progress.show('export', done, total, 'users')
            },
          }),
        ).finally(() => progress.stop())
      },
      { ...loadConfig(), databaseTimeoutMs: EXPORT_TIMEOUT_MS },
    )
    for (const notice of exportNotices(summary, withHashes)) printNotice(notice)
  },
})

const exportNotices = ({ users: count, withSessions, withCodes, withPasskeys }: ExportSummary, withHashes: boolean) => [
  `exported ${count} users, ${withSessions} of them with sessions, which are not exported: they will sign in again`,
  ...(withCodes + withPasskeys > 0
    ? [
        `one-time codes of ${countText(withCodes, 'user')} and passkeys of ${countText(withPasskeys, 'user')} are not ` +
          'exported: they will have to set them up again',
      ]
    : []),
  ...(count === 0
    ? []
    : [
        withHashes
          ? 'the lines hold password hashes: keep them secret, and delete them after use'
          : 'the lines hold no password hashes: users who have a password will need a new one',
      ]),
]
