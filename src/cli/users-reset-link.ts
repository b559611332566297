import type { Command } from 'commander'
import { toTimestamp } from '../lib/time.ts'
import { addCommand, type JsonOption, withJson } from './command.ts'
import type { CommandContext } from './command-context.ts'
import { requireMail } from './require-mail.ts'
import { print, printJson, printNotice } from './terminal/output.ts'
import { userToJson } from './user-output.ts'
import { requireUser, withCore } from './with-core.ts'

interface ResetLinkOptions extends JsonOption {
  mail?: boolean
}

const HELP = `
The link works once, and verifies the address of the account like one that was mailed:
give it to the owner of the address and to nobody else. With --mail, svc mails it.`

/** `svc users reset-link`: for a user who forgot the password, and cannot get mail or is on the phone. */
export const addUsersResetLink = (users: Command, { loadConfig }: CommandContext): void => {
  const resetLink = addCommand(users, 'reset-link <user>', 'make a link with which a user sets a new password', [
    'svc users reset-link ada',
    'svc users reset-link ada@example.com --mail',
  ])
    .addHelpText('after', HELP)
    .option('--mail', 'mail the link to the user, and do not print it')
  withJson(resetLink).action((name: string, { mail: isMailed = false, json }: ResetLinkOptions) =>
    withCore(loadConfig(), async (core, logEvent) => {
      const user = await requireUser(core, name)
      if (isMailed) await requireMail(core)
      const { url, expiresAtMs } = await core.recovery.reset.createByOperator(user.id, { isMailed })
      logEvent('users reset-link', 'password_reset_request', { userId: user.id })
      if (user.emailVerifiedAtMs === undefined) printNotice(unverifiedNotice(user.email))
      const expiresAt = toTimestamp(expiresAtMs)
      if (json) return printJson({ ...userToJson(user), ...(!isMailed && { url }), expires_at: expiresAt })
      if (isMailed) return print(`Mailed a link for a new password to ${user.email}. It is good until ${expiresAt}.\n`)
      printNotice(`a link for a new password of ${user.email}, good until ${expiresAt}`)
      return print(`${url}\n`)
    }),
  )
}

const unverifiedNotice = (email: string): string =>
  `${email} is not verified: the user of the link takes the account over, ` +
  'and its providers end, and its roles unless an operator made the account'
