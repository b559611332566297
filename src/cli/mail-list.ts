import type { Command } from 'commander'
import { addCommand, type JsonOption, withJson } from './command.ts'
import type { CommandContext } from './command-context.ts'
import { MAIL_COLUMNS, messageToJson } from './mail-output.ts'
import { parseLimit } from './parse-limit.ts'
import { printList } from './terminal/output.ts'
import { withCore } from './with-core.ts'

const DEFAULT_LIMIT = 50

interface ListOptions extends JsonOption {
  limit: number
  failed?: boolean
}

/** `svc mail list` */
export const addMailList = (mail: Command, { loadConfig }: CommandContext): void => {
  const list = addCommand(mail, 'list', 'list messages and their state, the newest first', [
    'svc mail list',
    'svc mail list --failed --limit 500 --json | jq -r ".[].id"',
  ])
    .option('--limit <count>', 'maximum number of messages', parseLimit, DEFAULT_LIMIT)
    .option('--failed', 'only messages that were given up')
    .addHelpText('after', '\nWhat a message says is never shown, because it may hold a link into an account.')
  withJson(list).action(({ limit, failed, json }: ListOptions) =>
    withCore(loadConfig(), async (core) => {
      const messages = await core.mail.list(limit, failed)
      const listing = {
        columns: MAIL_COLUMNS,
        toJson: messageToJson,
        empty: `there are no ${failed ? 'failed ' : ''}messages`,
      }
      await printList([messages], listing, json)
    }),
  )
}
