import { toTimestamp } from '../lib/time.ts'
import { command, option } from './command/command.ts'
import { requireUser } from './command/with-core.ts'
import { print, printJson, printNotice } from './terminal/output.ts'
import { readPassword } from './terminal/prompt.ts'
import { userToJson } from './user-output.ts'
import { requireMail } from './users-recover.ts'
import { deliverNow, requireWebhooks } from './webhook-events.ts'

const USERNAME = option.text('--username <username>', 'the username; the default is derived from the email address')
const NAME = option.text('--name <name>', 'the name of the person')
const LANGUAGE = option.text('--language <tag>', 'the language of their messages, such as de or pt-BR')
const ROLES = option.words('--role <role>', 'a role; can be repeated')

export const create = command({
  args: '[email]',
  text: 'create an account',
  examples: [
    'svc users create ada@example.com',
    'svc users create ada@example.com --username ada --role admin --role editor',
    'svc users create --email ada@example.com --json < password.txt',
  ],
  notes:
    'On a terminal, svc asks for the password. Otherwise it reads one line from standard input.' +
    '\nWith SVC_PASSWORDS=off there is no password to give.',
  options: {
    email: option.text('--email <email>', 'the email address, in place of the argument'),
    username: USERNAME,
    name: NAME,
    language: LANGUAGE,
    roles: ROLES,
    deliver: option.flag('--deliver', 'deliver the webhook from this command, not from the running service'),
  },
  async run({ options, loadConfig, withCore, result, usageError }, argument: string | undefined) {
    const { username, name, language, roles = [], deliver } = options
    if (argument !== undefined && options.email !== undefined) usageError('give the email address once')
    const email = argument ?? options.email ?? usageError('an email address is missing')
    const config = loadConfig()
    if (deliver) requireWebhooks(config)
    await withCore(async ({ core, logEvent }) => {
      const password = config.passwords ? await readPassword() : undefined
      const user = await core.users.create({ email, username, name, language, roles, password, emailVerified: true })
      logEvent('account_create', { userId: user.id })
      await result(userToJson(user), `Created ${user.email}, username ${user.username}, id ${user.id}.`)
      if (!config.passwords)
        printNotice(
          `${user.email} signs in with a provider that has verified this address, or by the link that svc users reset-link ${user.username} prints`,
        )
      if (deliver) await deliverNow(core, { type: 'user.created', userId: user.id })
    }, config)
  },
})

export const invite = command({
  args: '<email>',
  text: 'create an account, and a link with which its user enters it',
  examples: ['svc users invite ada@example.com --role editor', 'svc users invite ada@example.com --mail'],
  notes: `\
The account exists at once, with its roles. Nobody can enter it before its link was
followed, or the owner of the address comes with a provider that has verified it. Give
the link to the owner of the address and to nobody else. With --mail, svc mails it.
Inviting the same address again makes another link, until it was entered.`,
  options: {
    username: USERNAME,
    name: NAME,
    language: LANGUAGE,
    roles: ROLES,
    isMailed: option.flag('--mail', 'mail the link to the user, and do not print it'),
  },
  run: ({ options: { isMailed = false, ...given }, json, withCore }, email: string) =>
    withCore(async ({ core, logEvent }) => {
      if (isMailed) requireMail(core)
      const { userId, url, expiresAtMs } = await core.links.invitations.invite({ email, isMailed, ...given })
      logEvent('account_invite', { userId })
      const user = await requireUser(core, userId)
      const expiresAt = toTimestamp(expiresAtMs)
      if (json)
        return printJson({ ...userToJson(user), ...(!isMailed && { url }), mailed: isMailed, expires_at: expiresAt })
      if (isMailed) return print(`${user.email} gets a link by mail. It is good until ${expiresAt}.\n`)
      printNotice(`this link is for ${user.email} alone. It works once, until ${expiresAt}`)
      return print(`${url}\n`)
    }),
})
