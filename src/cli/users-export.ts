import type { Command } from 'commander'
import type { Config } from '../config/config.ts'
import type { ExportSummary } from '../accounts/accounts.ts'
import { addCommand } from './command.ts'
import type { CommandContext } from './command-context.ts'
import { printNotice } from './terminal/output.ts'
import { createTerminalProgress } from './terminal/progress.ts'
import { withCore } from './with-core.ts'
import { writing } from './writing.ts'

interface Options {
  /** False with --no-hashes. */
  hashes: boolean
  output?: string
}

/** All users are read as they were at one moment, for as long as that takes. */
const TIMEOUT_MS = 3_600_000

/** `svc users export` */
export const addUsersExport = (users: Command, { loadConfig }: CommandContext): void => {
  addCommand(users, 'export', 'print all users, one JSON object a line, as svc users import takes them', [
    'svc users export --output users.jsonl',
    'svc users export --no-hashes | jq -r .email',
  ])
    .option('--output <file>', 'write to a new file that only its owner can read')
    .option('--no-hashes', 'leave the hashes of passwords out')
    .addHelpText(
      'after',
      '\nThe lines hold no sessions, second factors and passkeys: users sign in again where they are imported.',
    )
    .action(async ({ output, hashes }: Options) => {
      const config: Config = { ...loadConfig(), databaseTimeoutMs: TIMEOUT_MS }
      const summary = await withCore(config, async (core) => {
        const exportUsers = await core.userExport()
        const progress = createTerminalProgress()
        // Both would write to the terminal.
        const isShown = output !== undefined || !process.stdout.isTTY
        let done = 0
        return writing(output, (write) =>
          exportUsers({
            withHashes: hashes,
            async onPage(lines, users, total) {
              await write(lines)
              done += users
              if (isShown) progress.show('export', done, total, 'users')
            },
          }),
        ).finally(() => progress.stop())
      })
      for (const notice of noticesOf(summary, hashes)) printNotice(notice)
    })
}

const noticesOf = ({ users: count, withSessions, withCodes, withPasskeys }: ExportSummary, hashes: boolean) => [
  `exported ${count} users, ${withSessions} of them with sessions, which are not exported: they will sign in again`,
  ...(withCodes + withPasskeys > 0 ? [factorsText(withCodes, withPasskeys)] : []),
  ...(count > 0 && hashes ? ['the lines hold password hashes: keep them secret, and delete them after use'] : []),
  ...(count > 0 && !hashes ? ['the lines hold no password hashes: users who have a password will need a new one'] : []),
]

const factorsText = (withCodes: number, withPasskeys: number): string =>
  `one-time codes of ${usersText(withCodes)} and passkeys of ${usersText(withPasskeys)} are not exported: they will ` +
  'have to set them up again'

const usersText = (count: number): string => (count === 1 ? '1 user' : `${count} users`)
