import type { Command } from 'commander'
import { AppError } from '../lib/errors.ts'
import type { CommandContext } from './command-context.ts'
import { deliverNow, requireWebhooks } from './delivery.ts'
import { addCommand, type JsonOption, withJson } from './help.ts'
import { confirms, requireConfirmable, withYes, type YesOption } from './terminal/confirmation.ts'
import { note, print, printJson } from './terminal/output.ts'
import { userToJson } from './user-columns.ts'
import { requireUser, type User, withCore } from './with-core.ts'

interface DeleteOptions extends JsonOption, YesOption {
  deliver?: boolean
}

export const addUserDeletion = (users: Command, { loadConfig }: CommandContext): void => {
  const deletion = addCommand(users, 'delete <user>', 'delete an account for good', [
    'svc users delete ada@example.com',
    'svc users delete ada --yes --deliver',
  ]).option('--deliver', 'send the webhook from here instead of leaving it to the service')
  withYes(withJson(deletion)).action(async (name: string, { yes, deliver, json }: DeleteOptions) => {
    requireConfirmable(deletion, yes)
    const config = loadConfig()
    if (deliver) requireWebhooks(config)
    await withCore(config, async (core, record) => {
      const user = await requireUser(core, name)
      if (!yes) await requireConsent(user)
      await core.users.delete(user.id)
      record('users delete', 'account_delete', { userId: user.id })
      await (json ? printJson(userToJson(user)) : print(`Deleted ${user.email}, id ${user.id}.\n`))
      if (deliver) await deliverNow(core, { type: 'user.deleted', userId: user.id })
    })
  })
}

const requireConsent = async ({ email, id }: User): Promise<void> => {
  // On a line of its own: a question that is longer than the terminal's line is drawn wrongly.
  note(`this is about ${email}, id ${id}`)
  if (!(await confirms('Delete the account for good?'))) throw new AppError('forbidden', 'nothing was deleted')
}
