import assert from 'node:assert/strict'
import type { OriginDoor } from '../../../src/admin/entrance/origin-door.ts'
import type { AdminRoute } from '../../../src/admin/http/context.ts'
import type { MachineDoor } from '../../../src/admin/machine-door.ts'
import { machineRoutes, originRoutes } from '../../../src/admin/routes.ts'
import type { AdminServices } from '../../../src/admin/services.ts'
import type { Entrance } from '../../../src/administrators/administrators.ts'
import { ADMIN_URL } from './origin-admin.ts'

const services = { hasClients: true } as AdminServices

/** The tables of routes of both doors. The rows can be read; what their handlers need is missing. */
export const ADMIN_ROWS = {
  origin: originRoutes(services, { origin: ADMIN_URL } as OriginDoor, {} as Entrance),
  machine: machineRoutes(services, {} as MachineDoor),
}

export const writes = ({ method }: AdminRoute): boolean => method !== 'GET'
export const reads = ({ method }: AdminRoute): boolean => method !== 'POST'

export const nameOfRow = ({ method, path }: AdminRoute): string => `${method} ${path}`

/** What rows are about: an id for each `…/{id}`, and the query of those that need one. */
export type RowSubjects = { ids: Record<string, string>; queries: Record<string, string> }

/** The address of a row. A row with another template needs an example. */
export const pathOfRow = ({ path }: AdminRoute, { ids, queries }: RowSubjects): string => {
  const [template = ''] = /^.*\{\w+\}/.exec(path) ?? []
  const id = template === '' ? '' : (ids[template] ?? assert.fail(`an example of ${template}`))
  return path.replace(/\{\w+\}/, id) + (queries[path] ?? '')
}
