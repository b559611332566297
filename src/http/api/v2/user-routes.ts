import type { RouteDeps } from '../../deps.ts'
import { createChangeUser } from './change-user.ts'
import { createCreateLink } from './create-link.ts'
import { createCreateUser } from './create-user.ts'
import { createDeleteUser } from './delete-user.ts'
import { createFindUser } from './find-user.ts'
import { createListUsers } from './list-users.ts'

/** The routes of the server API about users (CONTRACT.md 10.5). */
export const createUserRoutes = (deps: RouteDeps) => ({
  list: createListUsers(deps),
  find: createFindUser(deps),
  create: createCreateUser(deps),
  change: createChangeUser(deps),
  delete: createDeleteUser(deps),
  createLink: createCreateLink(deps),
})
