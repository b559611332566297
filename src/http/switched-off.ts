import type { RouteDeps } from './deps.ts'
import type { Route } from './route.ts'

/** The rows without those whose setting is off: their paths are 404. */
export const withoutSwitchedOff = (routes: readonly Route[], settings: Pick<RouteDeps, 'usernames'>): Route[] =>
  routes.filter(({ needs }) => needs === undefined || settings[needs])
