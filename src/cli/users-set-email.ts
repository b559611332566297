import type { Command } from 'commander'
import { changeUser } from './change-user.ts'
import { addCommand, type JsonOption, withJson } from './command.ts'
import type { CommandContext } from './command-context.ts'

interface SetEmailOptions extends JsonOption {
  verified?: boolean
  stolen?: boolean
}

const HELP = `
Links that were sent before no longer work. While mail is on, the old address gets a message
with a link that undoes the change, if it was verified; for 72 hours nobody else can take it.
With --stolen, or if the account is disabled, it gets no message, every link that would put
another address back ends, and so do all sessions. Also with the address that the account has.
Without --verified a new address counts as not verified.`

/** `svc users set-email`: the same as a change by the user, without a link to the new address. */
export const addUsersSetEmail = (users: Command, context: CommandContext): void => {
  const setEmail = addCommand(users, 'set-email <user> <email>', 'change the email address of an account', [
    'svc users set-email ada ada@new.example',
    'svc users set-email ada ada@new.example --verified',
    'svc users set-email ada ada@new.example --verified --stolen',
  ])
    .addHelpText('after', HELP)
    .option('--verified', 'you know that the address belongs to the user')
    .option('--stolen', 'other addresses of the account may belong to a thief')
  withJson(setEmail).action((name: string, email: string, { verified, stolen, json }: SetEmailOptions) =>
    changeUser(context, name, {
      command: 'users set-email',
      event: 'email_change',
      json,
      apply: (core, { id }) => core.users.setEmail(id, email, { emailVerified: verified, stolen }),
      result: (user) => `The email address is ${user.email} now${verified ? ', and verified' : ''}.`,
    }),
  )
}
