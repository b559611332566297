import type { Command } from 'commander'
import { toTimestamp } from '../lib/time.ts'
import { addCommand, type JsonOption, withJson } from './command.ts'
import type { CommandContext } from './command-context.ts'
import { requireMail } from './require-mail.ts'
import { print, printJson, printNotice } from './terminal/output.ts'
import { userToJson } from './user-output.ts'
import { addRole, splitRoles } from './users-create.ts'
import { requireUser, withCore } from './with-core.ts'

interface InviteOptions extends JsonOption {
  username?: string
  role?: string[]
  mail?: boolean
}

const HELP = `
The account exists at once, with its roles. Nobody can enter it before its link was
followed, or the owner of the address comes with a provider that has verified it. Give
the link to the owner of the address and to nobody else. With --mail, svc mails it.
Inviting the same address again makes another link, until it was entered.`

/** `svc users invite` */
export const addUsersInvite = (users: Command, { loadConfig }: CommandContext): void => {
  const invite = addCommand(users, 'invite <email>', 'create an account, and a link with which its user enters it', [
    'svc users invite ada@example.com --role editor',
    'svc users invite ada@example.com --mail',
  ])
    .addHelpText('after', HELP)
    .option('--username <username>', 'the username; the default is derived from the email address')
    .option('--role <role>', 'a role; can be repeated', addRole)
    .option('--mail', 'mail the link to the user, and do not print it')
  withJson(invite).action((email: string, { username, role, mail: isMailed = false, json }: InviteOptions) =>
    withCore(loadConfig(), async (core, logEvent) => {
      if (isMailed) await requireMail(core)
      const roles = role && splitRoles(role)
      const invited = await core.recovery.invitations.invite({ email, username, roles, isMailed })
      logEvent('users invite', 'account_invite', { userId: invited.userId })
      const user = await requireUser(core, invited.userId)
      const expiresAt = toTimestamp(invited.expiresAtMs)
      if (json)
        return printJson({
          ...userToJson(user),
          ...(!isMailed && { url: invited.url }),
          mailed: isMailed,
          expires_at: expiresAt,
        })
      if (isMailed) return print(`${user.email} gets a link by mail. It is good until ${expiresAt}.\n`)
      printNotice(`this link is for ${user.email} alone. It works once, until ${expiresAt}`)
      return print(`${invited.url}\n`)
    }),
  )
}
