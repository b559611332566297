import type { Command } from 'commander'
import { changeUser } from './change-user.ts'
import { addCommand, type JsonOption, withJson } from './command.ts'
import type { CommandContext } from './command-context.ts'

/** `svc users set-username` */
export const addUsersSetUsername = (users: Command, context: CommandContext): void => {
  const setUsername = addCommand(users, 'set-username <user> <username>', 'change the username of a user', [
    'svc users set-username ada@example.com ada-l',
  ])
  withJson(setUsername).action((name: string, username: string, { json }: JsonOption) =>
    changeUser(context, name, {
      command: 'users set-username',
      event: 'username_change',
      json,
      apply: (core, { id }) => core.users.change(id, { username }),
      result: (user) => `${user.email} has the username ${user.username}.`,
    }),
  )
}
