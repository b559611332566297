import type { Command } from 'commander'
import { addCommand } from './command.ts'
import type { CommandContext } from './command-context.ts'
import { addMailList } from './mail-list.ts'
import { addMailResend } from './mail-resend.ts'
import { addMailTest } from './mail-test.ts'

/** `svc mail`: the commands about messages to users. */
export const addMail = (program: Command, context: CommandContext): void => {
  const mail = addCommand(program, 'mail', 'test the mail server, list messages, send them again', [
    'svc mail test ada@example.com',
    'svc mail list',
  ])
  addMailTest(mail, context)
  addMailList(mail, context)
  addMailResend(mail, context)
}
