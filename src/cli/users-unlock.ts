import type { Command } from 'commander'
import { changeUser } from './change-user.ts'
import { addCommand, type JsonOption, withJson } from './command.ts'
import type { CommandContext } from './command-context.ts'

/** `svc users unlock` */
export const addUsersUnlock = (users: Command, context: CommandContext): void => {
  const unlock = addCommand(users, 'unlock <user>', 'let a user log in again at once after too many wrong passwords', [
    'svc users unlock ada@example.com',
  ])
  withJson(unlock).action((name: string, { json }: JsonOption) =>
    changeUser(context, name, {
      command: 'users unlock',
      event: 'account_unlock',
      json,
      apply: (core, { id }) => core.users.unlock(id),
      result: ({ email }) => `${email} can log in again.`,
    }),
  )
}
