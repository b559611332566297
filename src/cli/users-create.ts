import type { Command } from 'commander'
import type { User } from '../accounts/accounts.ts'
import { addCommand, type JsonOption, withJson } from './command.ts'
import type { CommandContext } from './command-context.ts'
import { print, printJson, printNotice } from './terminal/output.ts'
import { readPassword } from './terminal/read-password.ts'
import { userToJson } from './user-output.ts'
import { deliverNow, requireWebhooks } from './webhook-delivery.ts'
import { withCore } from './with-core.ts'

interface CreateOptions extends JsonOption {
  email?: string
  username?: string
  role?: string[]
  deliver?: boolean
}

/** Splits roles that are given as separate arguments, with commas, or both. */
export const splitRoles = (names: string[]): string[] => names.flatMap((name) => name.split(','))

/** `svc users create` */
export const addUsersCreate = (users: Command, { loadConfig }: CommandContext): void => {
  const create = addCommand(users, 'create [email]', 'create an account', [
    'svc users create ada@example.com',
    'svc users create ada@example.com --username ada --role admin --role editor',
    'svc users create --email ada@example.com --json < password.txt',
  ])
    .addHelpText(
      'after',
      '\nOn a terminal, svc asks for the password. Otherwise it reads one line from standard input.' +
        '\nWith SVC_PASSWORDS=off there is no password to give.',
    )
    .option('--email <email>', 'the email address, in place of the argument')
    .option('--username <username>', 'the username; the default is derived from the email address')
    .option('--role <role>', 'a role; can be repeated', addRole)
    .option('--deliver', 'deliver the webhook from this command, not from the running service')
  withJson(create).action(async (argument: string | undefined, options: CreateOptions) => {
    const email = requireOneEmail(create, argument, options.email)
    const config = loadConfig()
    if (options.deliver) requireWebhooks(config)
    await withCore(config, async (core, logEvent) => {
      const { username, role = [] } = options
      const user = await core.users.create({
        email,
        username,
        roles: splitRoles(role),
        password: config.passwords ? await readPassword() : undefined,
        emailVerified: true,
      })
      logEvent('users create', 'account_create', { userId: user.id })
      await (options.json
        ? printJson(userToJson(user))
        : print(`Created ${user.email}, username ${user.username}, id ${user.id}.\n`))
      if (!config.passwords) printNotice(firstSignInText(user))
      if (options.deliver) await deliverNow(core, { type: 'user.created', userId: user.id })
    })
  })
}

const firstSignInText = ({ email, username }: User): string =>
  `${email} signs in with a provider that has verified this address, or by the link that svc users reset-link ${username} prints`

export const addRole = (role: string, roles: string[] | undefined): string[] | undefined => [...(roles ?? []), role]

const requireOneEmail = (create: Command, argument: string | undefined, option: string | undefined): string => {
  const emails = [argument, option].filter((email) => email !== undefined)
  if (emails.length > 1) create.error('error: give the email address once')
  return emails[0] ?? create.error('error: an email address is missing')
}
