import type { Command } from 'commander'
import { changeUser } from './change-user.ts'
import { addCommand, type JsonOption, withJson } from './command.ts'
import type { CommandContext } from './command-context.ts'

/** `svc users enable` */
export const addUsersEnable = (users: Command, context: CommandContext): void => {
  const enable = addCommand(users, 'enable <user>', 'let a disabled user log in again', ['svc users enable ada'])
  withJson(enable).action((name: string, { json }: JsonOption) =>
    changeUser(context, name, {
      command: 'users enable',
      event: 'account_enable',
      json,
      apply: (core, { id }) => core.users.change(id, { disabled: false }),
      result: ({ email }) => `${email} can log in again.`,
    }),
  )
}
