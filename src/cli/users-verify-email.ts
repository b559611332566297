import type { Command } from 'commander'
import { changeUser } from './change-user.ts'
import { addCommand, type JsonOption, withJson } from './command.ts'
import type { CommandContext } from './command-context.ts'

const HELP = `
You vouch for it that the address belongs to the user who made the account. They keep it:
the owner of the address cannot take it over any more.`

/** `svc users verify-email` */
export const addUsersVerifyEmail = (users: Command, context: CommandContext): void => {
  const verifyEmail = addCommand(users, 'verify-email <user>', 'mark the email address of a user as verified', [
    'svc users verify-email ada@example.com',
  ]).addHelpText('after', HELP)
  withJson(verifyEmail).action((name: string, { json }: JsonOption) =>
    changeUser(context, name, {
      command: 'users verify-email',
      event: 'email_verification',
      json,
      apply: (core, { id }) => core.users.change(id, { emailVerified: true }),
      result: ({ email }) => `${email} counts as verified.`,
    }),
  )
}
