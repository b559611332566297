import type { Command } from 'commander'
import { changeUser } from './change-user.ts'
import { addCommand, type JsonOption, withJson } from './command.ts'
import type { CommandContext } from './command-context.ts'

/** `svc users disable` */
export const addUsersDisable = (users: Command, context: CommandContext): void => {
  const disable = addCommand(users, 'disable <user>', 'disable an account and end all its sessions', [
    'svc users disable ada',
  ])
  withJson(disable).action((name: string, { json }: JsonOption) =>
    changeUser(context, name, {
      command: 'users disable',
      event: 'account_disable',
      json,
      apply: (core, { id }) => core.users.change(id, { disabled: true }),
      result: ({ email }) => `${email} is disabled, and all its sessions have ended.`,
    }),
  )
}
