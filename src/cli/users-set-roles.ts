import type { Command } from 'commander'
import type { User } from '../accounts/accounts.ts'
import { changeUser } from './change-user.ts'
import { addCommand, type JsonOption, withJson } from './command.ts'
import type { CommandContext } from './command-context.ts'
import { splitRoles } from './users-create.ts'

/** `svc users set-roles` */
export const addUsersSetRoles = (users: Command, context: CommandContext): void => {
  const setRoles = addCommand(
    users,
    'set-roles <user> [roles...]',
    'replace the roles of a user; without roles, remove all',
    [
      'svc users set-roles ada admin editor',
      'svc users set-roles ada@example.com admin,editor',
      'svc users set-roles ada',
    ],
  )
  withJson(setRoles).action((name: string, roles: string[], { json }: JsonOption) =>
    changeUser(context, name, {
      command: 'users set-roles',
      event: 'roles_change',
      json,
      apply: (core, { id }) => core.users.setRoles(id, splitRoles(roles)),
      result: (user) =>
        `${user.email} has ${user.roles.length > 0 ? `the roles ${user.roles.join(' ')}` : 'no roles'}.`,
      warning: unverifiedWarning,
    }),
  )
}

/** An account that its user made with an unverified email loses its roles when the owner of the email reclaims it. */
const unverifiedWarning = ({ email, roles, isSelfMade, emailVerifiedAtMs }: User): string | undefined =>
  isSelfMade && roles.length > 0 && emailVerifiedAtMs === undefined
    ? `${email} is not verified: make sure that you know who uses this account. If the owner of the address takes it over, it loses its roles`
    : undefined
