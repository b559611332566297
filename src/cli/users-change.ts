import type { Command } from 'commander'
import type { AccountEventName } from '../lib/account-event.ts'
import type { CommandContext } from './command-context.ts'
import { addCommand, type JsonOption, withJson } from './help.ts'
import { note, print, printJson } from './terminal/output.ts'
import { userToJson } from './user-columns.ts'
import { splitRoles } from './users-create.ts'
import { type Core, requireUser, type User, withCore } from './with-core.ts'

interface Change {
  command: string
  event: AccountEventName
  json: boolean | undefined
  apply: (core: Core, user: User) => Promise<void>
  /** What was done, for people. */
  done: (user: User) => string
  /** What the operator has to know besides, if anything. */
  warn?: (user: User) => string | undefined
}

/** Roles of an account whose email nobody has proved fall when its owner takes it over. */
const warnOfUnproved = ({ email, roles, emailVerifiedAtMs }: User): string | undefined =>
  roles.length > 0 && emailVerifiedAtMs === undefined
    ? `nobody has proved that ${email} is theirs: make sure that you know who has this account. If the owner of the address takes it over, it loses its roles`
    : undefined

/** `set-roles`, `disable`, `enable`. */
export const addUserChanges = (users: Command, { loadConfig }: CommandContext): void => {
  const change = (name: string, { command, event, json, apply, done, warn }: Change) =>
    withCore(loadConfig(), async (core, record) => {
      const before = await requireUser(core, name)
      await apply(core, before)
      record(command, event, { userId: before.id })
      const user = await requireUser(core, before.id)
      await (json ? printJson(userToJson(user)) : print(`${done(user)}\n`))
      const warning = warn?.(user)
      if (warning) note(warning)
    })

  const setRoles = addCommand(
    users,
    'set-roles <user> [roles...]',
    'replace the roles of a user; none takes all away',
    [
      'svc users set-roles ada admin editor',
      'svc users set-roles ada@example.com admin,editor',
      'svc users set-roles ada',
    ],
  )
  withJson(setRoles).action((name: string, roles: string[], { json }: JsonOption) =>
    change(name, {
      command: 'users set-roles',
      event: 'roles_change',
      json,
      apply: (core, { id }) => core.users.setRoles(id, splitRoles(roles)),
      done: (user) => `${user.email} has ${user.roles.length > 0 ? `the roles ${user.roles.join(' ')}` : 'no roles'}.`,
      warn: warnOfUnproved,
    }),
  )

  const disable = addCommand(users, 'disable <user>', 'keep a user out and end every session', [
    'svc users disable ada',
  ])
  withJson(disable).action((name: string, { json }: JsonOption) =>
    change(name, {
      command: 'users disable',
      event: 'account_disable',
      json,
      apply: (core, { id }) => core.users.setDisabled(id, true),
      done: ({ email }) => `${email} is disabled, and every session is ended.`,
    }),
  )

  const enable = addCommand(users, 'enable <user>', 'let a disabled user log in again', ['svc users enable ada'])
  withJson(enable).action((name: string, { json }: JsonOption) =>
    change(name, {
      command: 'users enable',
      event: 'account_enable',
      json,
      apply: (core, { id }) => core.users.setDisabled(id, false),
      done: ({ email }) => `${email} can log in again.`,
    }),
  )
}
