import { ADMINISTRATOR_ROLES, type AdministratorRole } from '../administrators/administrator.ts'

/**
 * THE policy: the role that each action needs. The row of a route names its action, and no row does without one.
 */
const NEEDS = {
  'users.list': 'look',
  'user.view': 'look',
  'events.list': 'look',
  'deliveries.list': 'look',
  'clients.list': 'look',
  'system.view': 'look',
  'system.examine': 'look',
  /** An administrator's own passkeys and session. */
  'own.change': 'look',
  'events.export': 'change',
  'user.invite': 'change',
  'user.disable': 'change',
  'user.enable': 'change',
  'user.delete': 'change',
  'user.end_session': 'change',
  'user.end_sessions': 'change',
  'user.end_grant': 'change',
  'user.set_roles': 'change',
  'user.set_email': 'change',
  'user.verify_email': 'change',
  'user.set_username': 'change',
  'user.unlock': 'change',
  'user.reset_link': 'change',
  'user.invite_again': 'change',
  'user.reset_second_factor': 'change',
  'delivery.send': 'change',
  'client.end_grants': 'change',
  'client.disable': 'change',
  'client.enable': 'change',
} as const satisfies Record<string, AdministratorRole>

export type AdminAction = keyof typeof NEEDS

export const roleFor = (action: AdminAction): AdministratorRole => NEEDS[action]

export const may = (role: AdministratorRole, action: AdminAction): boolean =>
  ADMINISTRATOR_ROLES.indexOf(role) >= ADMINISTRATOR_ROLES.indexOf(NEEDS[action])
