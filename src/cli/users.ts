import type { AccountEventName } from '../lib/account-event.ts'
import type { User } from '../accounts/accounts.ts'
import { type Argument, command, type CommandRow, group, option, splitWords } from './command/command.ts'
import { type Core, requireUser } from './command/with-core.ts'
import { printNotice } from './terminal/output.ts'
import { confirm, requireTerminalOrYes } from './terminal/prompt.ts'
import { userToJson } from './user-output.ts'
import { create, invite } from './users-create.ts'
import { list, show } from './users-find.ts'
import { resetLink, resetSecondFactor, setPassword, signInLink } from './users-recover.ts'
import { exportCommand, importCommand } from './users-transfer.ts'
import { deliverNow, requireWebhooks } from './webhook-events.ts'

interface ChangeRow<Given, Args extends Argument[]> extends Omit<CommandRow<Given, Args>, 'run'> {
  event: AccountEventName
  apply: (core: Core, user: User, args: Args, options: Given) => Promise<void>
  result: (user: User, options: Given) => string
  warning?: (user: User) => string | undefined
}

/** Makes a command that changes one user, logs the account event, and prints the user. */
const change = <Given, Args extends Argument[]>({ event, apply, result, warning, ...row }: ChangeRow<Given, Args>) =>
  command<Given, [string, ...Args]>({
    ...row,
    run: (call, name, ...args) =>
      call.withCore(async ({ core, logEvent }) => {
        const before = await requireUser(core, name)
        await apply(core, before, args, call.options)
        logEvent(event, { userId: before.id })
        const user = await requireUser(core, before.id)
        await call.result(userToJson(user), result(user, call.options))
        const text = warning?.(user)
        if (text) printNotice(text)
      }),
  })

/** It does the same as a change by the user, but sends no link to the new address. */
const setEmail = change({
  args: '<user> <email>',
  text: 'change the email address of an account',
  examples: [
    'svc users set-email ada ada@new.example',
    'svc users set-email ada ada@new.example --verified',
    'svc users set-email ada ada@new.example --verified --stolen',
  ],
  notes: `\
Links that were sent before no longer work. While mail is on, the old address gets a message
with a link that undoes the change, if it was verified; for 72 hours nobody else can take it.
With --stolen, or if the account is disabled, it gets no message, every link that would put
another address back ends, and so do all sessions. Also with the address that the account has.
Without --verified a new address counts as not verified.`,
  options: {
    verified: option.flag('--verified', 'you know that the address belongs to the user'),
    stolen: option.flag('--stolen', 'other addresses of the account may belong to a thief'),
  },
  event: 'email_change',
  apply: ({ users: accounts }, { id }, [email]: [string], { verified: emailVerified, stolen }) =>
    accounts.setEmail(id, email, { emailVerified, stolen }),
  result: ({ email }, { verified }) => `The email address is ${email} now${verified ? ', and verified' : ''}.`,
})

const verifyEmail = change({
  args: '<user>',
  text: 'mark the email address of a user as verified',
  examples: ['svc users verify-email ada@example.com'],
  notes: `\
You vouch for it that the address belongs to the user who made the account. They keep it:
the owner of the address cannot take it over any more.`,
  event: 'email_verification',
  apply: ({ users: accounts }, { id }) => accounts.change(id, { emailVerified: true }),
  result: ({ email }) => `${email} counts as verified.`,
})

const setUsername = change({
  args: '<user> <username>',
  text: 'change the username of a user',
  examples: ['svc users set-username ada@example.com ada-l'],
  event: 'username_change',
  apply: ({ users: accounts }, { id }, [username]: [string]) => accounts.change(id, { username }),
  result: ({ email, username }) => `${email} has the username ${username}.`,
})

const setName = change({
  args: '<user> [name]',
  text: 'change the name of a person; without a name, remove it',
  examples: ['svc users set-name ada "Ada Lovelace"', 'svc users set-name ada'],
  event: 'name_change',
  apply: ({ users: accounts }, { id }, [name]: [string | undefined]) => accounts.change(id, { name: name ?? null }),
  result: ({ email, name }) => (name === null ? `${email} has no name now.` : `${email} has the name ${name}.`),
})

const setRoles = change({
  args: '<user> [roles...]',
  text: 'replace the roles of a user; without roles, remove all',
  examples: [
    'svc users set-roles ada admin editor',
    'svc users set-roles ada@example.com admin,editor',
    'svc users set-roles ada',
  ],
  event: 'roles_change',
  apply: ({ users: accounts }, { id }, [roles]: [string[]]) => accounts.change(id, { roles: splitWords(roles) }),
  result: ({ email, roles }) => `${email} has ${roles.length > 0 ? `the roles ${roles.join(' ')}` : 'no roles'}.`,
  // An account that its user made with an unverified email loses its roles when the owner of the email reclaims it.
  warning: ({ email, roles, isSelfMade, emailVerifiedAtMs }) =>
    isSelfMade && roles.length > 0 && emailVerifiedAtMs === undefined
      ? `${email} is not verified: make sure that you know who uses this account. If the owner of the address takes it over, it loses its roles`
      : undefined,
})

const unlock = change({
  args: '<user>',
  text: 'let a user log in again at once after too many wrong passwords',
  examples: ['svc users unlock ada@example.com'],
  event: 'account_unlock',
  apply: ({ users: accounts }, { id }) => accounts.unlock(id),
  result: ({ email }) => `${email} can log in again.`,
})

const disable = change({
  args: '<user>',
  text: 'disable an account and end all its sessions',
  examples: ['svc users disable ada'],
  event: 'account_disable',
  apply: ({ users: accounts }, { id }) => accounts.change(id, { disabled: true }),
  result: ({ email }) => `${email} is disabled, and all its sessions have ended.`,
})

const enable = change({
  args: '<user>',
  text: 'let a disabled user log in again',
  examples: ['svc users enable ada'],
  event: 'account_enable',
  apply: ({ users: accounts }, { id }) => accounts.change(id, { disabled: false }),
  result: ({ email }) => `${email} can log in again.`,
})

const deletion = command({
  args: '<user>',
  text: 'delete an account permanently',
  examples: ['svc users delete ada@example.com', 'svc users delete ada --yes --deliver'],
  options: { deliver: option.flag('--deliver', 'deliver the webhook from this command, not from the running service') },
  asks: true,
  async run(call, name: string) {
    requireTerminalOrYes(call)
    const config = call.loadConfig()
    const { deliver } = call.options
    if (deliver) requireWebhooks(config)
    await call.withCore(async ({ core, logEvent }) => {
      const user = await requireUser(core, name)
      const { id, email } = user
      // A question that is longer than a line of the terminal is drawn wrongly, so the user has a line of its own.
      if (!call.yes) printNotice(`this is about ${email}, id ${id}`)
      await confirm(call, 'Delete the account permanently?', 'nothing was deleted')
      await core.users.delete(id)
      logEvent('account_delete', { userId: id })
      await call.result(userToJson(user), `Deleted ${email}, id ${id}.`)
      if (deliver) await deliverNow(core, { type: 'user.deleted', userId: id })
    }, config)
  },
})

export const users = group({
  text: 'list, show, create, change and delete accounts',
  examples: ['svc users list', 'svc users create ada@example.com --role admin', 'svc users disable ada'],
  notes: 'USER is an id, an email or a username.',
  commands: {
    'Find:': { list, show },
    'New accounts:': { create, invite, import: importCommand, export: exportCommand },
    'Change:': {
      'set-email': setEmail,
      'verify-email': verifyEmail,
      'set-username': setUsername,
      'set-name': setName,
      'set-roles': setRoles,
    },
    'Help a user to log in:': {
      'reset-link': resetLink,
      'sign-in-link': signInLink,
      'set-password': setPassword,
      'reset-second-factor': resetSecondFactor,
      unlock,
    },
    'Close:': { disable, enable, delete: deletion },
  },
})
