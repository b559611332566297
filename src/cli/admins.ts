import type {
  AdministratorInvitation,
  AdministratorRole,
  ListedAdministrator,
} from '../administrators/administrators.ts'
import { oneOf } from '../config/parsers.ts'
import { toTimestamp } from '../lib/time.ts'
import { command, group, option } from './command/command.ts'
import { print, printJson, printNotice } from './terminal/output.ts'
import type { Column } from './terminal/table.ts'
import { timestampOrNull, toMinute } from './terminal/text.ts'

/** The roles, as the policy of the pages has them. A command that asks for one does not load the subject for it. */
const roles = oneOf<AdministratorRole>('look', 'change')

const ROLE_OPTION = option.parsed('--role <role>', 'look: see everything; change: do everything', roles)

const toJson = ({
  id,
  name,
  email,
  role,
  passkeys,
  createdAtMs,
  lastUsedAtMs,
  inviteExpiresAtMs,
}: ListedAdministrator) => ({
  id,
  name,
  email,
  role,
  passkeys,
  created_at: toTimestamp(createdAtMs),
  last_used_at: timestampOrNull(lastUsedAtMs),
  invited_until: timestampOrNull(inviteExpiresAtMs),
})

/** Prints a link, which is the result; what is known of it goes to standard error. */
const printInvitation = async (
  { url, expiresAtMs, administrator }: AdministratorInvitation,
  isJson: boolean,
): Promise<void> => {
  const { name, role, email } = administrator
  if (isJson) return printJson({ name, email, role, url, expires_at: toTimestamp(expiresAtMs) })
  printNotice(`this link is for ${name} (${email}) alone. It works once, until ${toTimestamp(expiresAtMs)}`)
  return print(`${url}\n`)
}

const invite = command({
  args: '<name>',
  text: 'make an administrator, and print the link with which they come in',
  examples: [
    'svc admins invite grace --email grace@example.com --role look',
    'svc admins invite alan --email alan@example.com --role change',
  ],
  notes: `Anyone who opens the link within the hour makes the passkey of this administrator: give it to
nobody else. Administrators are not users, and have nothing to do with the roles of users.`,
  options: { email: option.text('--email <email>', 'where notices go'), role: ROLE_OPTION },
  async run(call, name: string) {
    const { email = call.usageError('give --email'), role = call.usageError('give --role') } = call.options
    await call.withCore(async ({ core, logEvent }) => {
      const { invite: make } = await core.loadAdministrators()
      const invitation = await make({ name, email, role })
      logEvent('administrator_invite', { administrator: name })
      await printInvitation(invitation, call.json)
    })
  },
})

const minuteOr = (timeMs: number | undefined, otherwise: string): string =>
  timeMs === undefined ? otherwise : toMinute(timeMs)

const COLUMNS: Column<ListedAdministrator>[] = [
  { title: 'name', value: ({ name }) => name },
  { title: 'role', value: ({ role }) => role },
  { title: 'email', value: ({ email }) => email, minWidth: 16 },
  { title: 'passkeys', value: ({ passkeys }) => String(passkeys) },
  { title: 'last used (UTC)', value: ({ lastUsedAtMs }) => minuteOr(lastUsedAtMs, 'never') },
  { title: 'invited until (UTC)', value: ({ inviteExpiresAtMs }) => minuteOr(inviteExpiresAtMs, ''), optional: true },
]

const list = command({
  text: 'list the administrators',
  examples: ['svc admins list', 'svc admins list --json'],
  run: (call) =>
    call.withCore(async ({ core }) => {
      await call.list([await (await core.loadAdministrators()).list()], {
        columns: COLUMNS,
        toJson,
        empty: 'there are no administrators yet: svc admins invite makes one',
      })
    }),
})

const setRole = command({
  args: '<name>',
  text: 'change the role of an administrator, and end their sessions',
  examples: ['svc admins set-role grace --role change'],
  options: { role: ROLE_OPTION },
  async run(call, name: string) {
    const { role = call.usageError('give --role') } = call.options
    await call.withCore(async ({ core, logEvent }) => {
      const { administrator, sessions } = await (await core.loadAdministrators()).setRole(name, role)
      logEvent('administrator_role_change', { administrator: name })
      const json = { name, email: administrator.email, role, ended_sessions: sessions }
      await call.result(json, `The role of ${name} is ${role}. Sessions that ended: ${sessions}.`)
    })
  },
})

const reset = command({
  args: '<name>',
  text: 'end the sessions and passkeys of an administrator, and print a new link',
  examples: ['svc admins reset grace'],
  run: (call, name: string) =>
    call.withCore(async ({ core, logEvent }) => {
      const { sessions, passkeys, ...invitation } = await (await core.loadAdministrators()).reset(name)
      logEvent('administrator_reset', { administrator: name })
      if (!call.json) printNotice(`passkeys that are gone: ${passkeys}; sessions that ended: ${sessions}`)
      await printInvitation(invitation, call.json)
    }),
})

const remove = command({
  args: '<name>',
  text: 'remove an administrator, with passkeys and sessions',
  examples: ['svc admins remove grace'],
  run: (call, name: string) =>
    call.withCore(async ({ core, logEvent }) => {
      const { administrator, sessions } = await (await core.loadAdministrators()).remove(name)
      logEvent('administrator_remove', { administrator: name })
      const json = { name, email: administrator.email, role: administrator.role, ended_sessions: sessions }
      await call.result(json, `Removed the administrator ${name}. Sessions that ended: ${sessions}.`)
    }),
})

export const admins = group({
  text: 'make, list and remove administrators, who help users at SVC_ADMIN_URL',
  examples: [
    'svc admins invite grace --email grace@example.com --role look',
    'svc admins list',
    'svc admins remove grace',
  ],
  commands: { invite, list, 'set-role': setRole, reset, remove },
})
