import type { Awaitable } from '../../lib/awaitable.ts'
import { once } from '../../lib/on-demand.ts'
import type { RouteDeps } from '../../http/deps.ts'
import type { Documentation } from '../../http/route.ts'

/**
 * The routes of the server API (CONTRACT.md 10). Many installations have no backend that calls it, so a route is loaded
 * with the first request for it, or for the OpenAPI document.
 */
export const createServerApiRoutes = (deps: RouteDeps) => {
  const withDirectory = once(async () => ({ ...deps, directory: await deps.loadDirectory() }))
  const sessions = once(async () => (await import('./sessions.ts')).createSessionRoutes(deps))
  return {
    users: {
      list: routeOnDemand(async () => (await import('./list-users.ts')).createListUsers(await withDirectory())),
      find: routeOnDemand(async () => (await import('./find-user.ts')).createFindUser(await withDirectory())),
      create: routeOnDemand(async () => (await import('./create-user.ts')).createCreateUser(await withDirectory())),
      change: routeOnDemand(async () => (await import('./change-user.ts')).createChangeUser(await withDirectory())),
      delete: routeOnDemand(async () => (await import('./delete-user.ts')).createDeleteUser(deps)),
      resetSecondFactors: routeOnDemand(async () =>
        (await import('./reset-second-factors.ts')).createResetSecondFactors(deps),
      ),
      createLink: routeOnDemand(async () => (await import('./create-link.ts')).createCreateLink(await withDirectory())),
    },
    audit: {
      list: routeOnDemand(async () => (await import('./list-audit.ts')).createListAudit(deps)),
    },
    sessions: {
      list: routeOnDemand(async () => (await sessions()).list),
      endAll: routeOnDemand(async () => (await sessions()).endAll),
      find: routeOnDemand(async () => (await import('./find-session.ts')).createFindSession(deps)),
      end: routeOnDemand(async () => (await sessions()).end),
    },
  }
}

interface LoadedRoute<Args extends unknown[], Result> {
  documentation: Documentation
  handle: (...args: Args) => Awaitable<Result>
}

const routeOnDemand = <Args extends unknown[], Result>(load: () => Promise<LoadedRoute<Args, Result>>) => {
  const loaded = once(load)
  return {
    documentation: async () => (await loaded()).documentation,
    handle: async (...args: Args): Promise<Result> => (await loaded()).handle(...args),
  }
}
