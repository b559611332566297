import type { Command } from 'commander'
import { AppError } from '../lib/errors.ts'
import type { User } from '../accounts/accounts.ts'
import { addCommand, type JsonOption, withJson } from './command.ts'
import type { CommandContext } from './command-context.ts'
import { confirm, requireTerminalOrYes, withYes, type YesOption } from './terminal/confirmation.ts'
import { print, printJson, printNotice } from './terminal/output.ts'
import { userToJson } from './user-output.ts'
import { deliverNow, requireWebhooks } from './webhook-delivery.ts'
import { requireUser, withCore } from './with-core.ts'

interface DeleteOptions extends JsonOption, YesOption {
  deliver?: boolean
}

/** `svc users delete` */
export const addUsersDelete = (users: Command, { loadConfig }: CommandContext): void => {
  const deletion = addCommand(users, 'delete <user>', 'delete an account permanently', [
    'svc users delete ada@example.com',
    'svc users delete ada --yes --deliver',
  ]).option('--deliver', 'deliver the webhook from this command, not from the running service')
  withYes(withJson(deletion)).action(async (name: string, { yes, deliver, json }: DeleteOptions) => {
    requireTerminalOrYes(deletion, yes)
    const config = loadConfig()
    if (deliver) requireWebhooks(config)
    await withCore(config, async (core, logEvent) => {
      const user = await requireUser(core, name)
      if (!yes) await requireConfirmation(user)
      await core.users.delete(user.id)
      logEvent('users delete', 'account_delete', { userId: user.id })
      await (json ? printJson(userToJson(user)) : print(`Deleted ${user.email}, id ${user.id}.\n`))
      if (deliver) await deliverNow(core, { type: 'user.deleted', userId: user.id })
    })
  })
}

const requireConfirmation = async ({ email, id }: User): Promise<void> => {
  // On a line of its own, because a question that is longer than a line of the terminal is drawn wrongly.
  printNotice(`this is about ${email}, id ${id}`)
  if (!(await confirm('Delete the account permanently?'))) throw new AppError('forbidden', 'nothing was deleted')
}
