import { AppError } from '../lib/errors.ts'
import type { RouteDeps } from '../http/deps.ts'
import type { Route } from '../http/route.ts'

/** The rows without those whose setting is off: these are 404, and not 405 where their path has a page. */
export const withoutSwitchedOff = (
  routes: readonly Route[],
  { usernames, passwords, passkeys }: Pick<RouteDeps, 'usernames' | 'passwords' | 'passkeys'>,
): Route[] => {
  const settings = { usernames, passwords, passkeys: passkeys.isOn }
  const isOn = ({ needs }: Route): boolean => needs === undefined || settings[needs]
  const pages = new Set(routes.filter(isOn).map(({ path }) => path))
  return routes.flatMap((route) => {
    if (isOn(route)) return [route]
    return route.method === 'POST' && pages.has(route.path) ? [notFoundAt(route.path)] : []
  })
}

const notFoundAt = (path: Route['path']): Route => ({
  method: 'POST',
  path,
  guard: 'none',
  csrf: 'changes_nothing',
  responseKind: 'html',
  handle() {
    throw new AppError('not_found', 'There is nothing here.')
  },
})
