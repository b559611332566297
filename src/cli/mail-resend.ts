import type { Command } from 'commander'
import { addCommand } from './command.ts'
import type { CommandContext } from './command-context.ts'
import { print } from './terminal/output.ts'
import { withCore } from './with-core.ts'

/** `svc mail resend` */
export const addMailResend = (mail: Command, { loadConfig }: CommandContext): void => {
  addCommand(mail, 'resend <id>', 'send a message again, with the same id', [
    'svc mail resend 019e6f3c-7f0a-7c11-a1b2-3c4d5e6f7a8b',
  ])
    .addHelpText(
      'after',
      '\nThe running service sends it. A message can be sent again for a week, while its link lives.',
    )
    .action((id: string) =>
      withCore(loadConfig(), async (core) => {
        const { purpose } = await core.mail.resend(id)
        await print(`${purpose} ${id}: waiting for the running service to send it.\n`)
      }),
    )
}
