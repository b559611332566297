import type { Command } from 'commander'
import { addCommand } from './command.ts'
import type { CommandContext } from './command-context.ts'
import { addUsersCreate } from './users-create.ts'
import { addUsersDelete } from './users-delete.ts'
import { addUsersDisable } from './users-disable.ts'
import { addUsersEnable } from './users-enable.ts'
import { addUsersExport } from './users-export.ts'
import { addUsersImport } from './users-import.ts'
import { addUsersInvite } from './users-invite.ts'
import { addUsersList } from './users-list.ts'
import { addUsersResetLink } from './users-reset-link.ts'
import { addUsersResetSecondFactor } from './users-reset-second-factor.ts'
import { addUsersSetEmail } from './users-set-email.ts'
import { addUsersSetPassword } from './users-set-password.ts'
import { addUsersSetRoles } from './users-set-roles.ts'
import { addUsersSetUsername } from './users-set-username.ts'
import { addUsersShow } from './users-show.ts'
import { addUsersUnlock } from './users-unlock.ts'
import { addUsersVerifyEmail } from './users-verify-email.ts'

/** `svc users`: the commands about accounts. */
export const addUsers = (program: Command, context: CommandContext): void => {
  const users = addCommand(program, 'users', 'list, show, create, change and delete accounts', [
    'svc users list',
    'svc users create ada@example.com --role admin',
    'svc users disable ada',
  ]).addHelpText('after', '\nUSER is an id, an email or a username.')
  users.commandsGroup('Find:')
  addUsersList(users, context)
  addUsersShow(users, context)
  users.commandsGroup('New accounts:')
  addUsersCreate(users, context)
  addUsersInvite(users, context)
  addUsersImport(users, context)
  addUsersExport(users, context)
  users.commandsGroup('Change:')
  addUsersSetEmail(users, context)
  addUsersVerifyEmail(users, context)
  addUsersSetUsername(users, context)
  addUsersSetRoles(users, context)
  users.commandsGroup('Help a user to log in:')
  addUsersResetLink(users, context)
  addUsersSetPassword(users, context)
  addUsersResetSecondFactor(users, context)
  addUsersUnlock(users, context)
  users.commandsGroup('Close:')
  addUsersDisable(users, context)
  addUsersEnable(users, context)
  addUsersDelete(users, context)
  users.commandsGroup('Help:').helpCommand('help [command]', 'show help for a command')
}
