import type { ScreenServices } from './site/frame.ts'
import { PREFLIGHT_HEADERS } from '../http/oauth-errors.ts'
import { noContent, redirect } from '../http/response.ts'
import type { Route } from '../http/route.ts'
import type { RouteDeps } from '../http/services.ts'
import { ACCOUNT_PATH } from '../http/step-up.ts'
import { type Awaitable, after } from '../lib/awaitable.ts'
import { AppError } from '../lib/errors.ts'
import { once } from '../lib/on-demand.ts'

/** Gives a module that is loaded from the start. */
export const at =
  <Module>(module: Module): (() => Module) =>
  () =>
    module

/**
 * Loads a module with the first request for it. From then on it is there at once: a promise would cost each request more
 * than its cookies and its route.
 */
export const loadedFirst = <Module>(load: () => Promise<Module>): (() => Awaitable<Module>) => {
  let loaded: Module | undefined
  const loadOnce = once(async () => {
    loaded = await load()
    return loaded
  })
  return () => loaded ?? loadOnce()
}

/** The rows of screens are made from these services. */
export type ScreenDeps = Omit<ScreenServices, 'directory'>

/** Makes the module of a screen once. */
export const screen = <Module>(
  deps: ScreenDeps,
  load: (given: ScreenDeps) => Promise<Module>,
): (() => Awaitable<Module>) => loadedFirst(async () => load(deps))

/** Gives modules that are loaded together with the first request for one of them, one for each row. */
export const partsOf = <Parts extends object>(load: () => Awaitable<Parts>) => {
  const parts = loadedFirst(async () => load())
  return <Name extends keyof Parts>(name: Name): (() => Awaitable<Parts[Name]>) =>
    () =>
      after(parts(), (loaded) => loaded[name])
}

/**
 * A refused form is shown under the address that it was sent to. Opening that address again leads to the page of the
 * form.
 */
export const reopenedForms = (routes: readonly Route[]): Route[] => {
  const pages = new Set(routes.filter(({ method }) => method === 'GET').map(({ path }) => path))
  return routes
    .filter(({ method, responseKind, path }) => method === 'POST' && responseKind === 'html' && !pages.has(path))
    .map(({ path, guard, needs }) => ({
      method: 'GET',
      path,
      guard: 'none',
      responseKind: 'html',
      ...(needs && { needs }),
      module: at({ show: () => redirect(guard === 'session' ? ACCOUNT_PATH : '/auth/login') }),
    }))
}

/** Answers the question of a browser before a request from another origin (Fetch standard, 3.2.2). */
export const preflights = (routes: readonly Route[]): Route[] => {
  const open = new Map(routes.filter(({ anyOrigin }) => anyOrigin).map(({ path, needs = 'clients' }) => [path, needs]))
  const module = at({ handle: () => ({ ...noContent, headers: PREFLIGHT_HEADERS }) })
  const row = { method: 'OPTIONS', guard: 'none', responseKind: 'oauth', anyOrigin: true } as const
  return [...open].map(([path, needs]) => ({ ...row, path, needs, module }))
}

/** Leaves out the rows whose setting is off: these are 404, and are not 405 when their path has a page. */
export const withoutSwitchedOff = (
  routes: readonly Route[],
  {
    usernames,
    names,
    passwords,
    emailSignIn,
    passkeys,
    hasClients,
    clientsRegister,
  }: Pick<
    RouteDeps,
    'usernames' | 'names' | 'passwords' | 'emailSignIn' | 'passkeys' | 'hasClients' | 'clientsRegister'
  >,
): Route[] => {
  const settings = {
    usernames,
    names: names !== 'off',
    passwords,
    email_sign_in: emailSignIn,
    passwords_or_mail: passwords || emailSignIn,
    passkeys: passkeys.isOn,
    clients: hasClients,
    registration: hasClients && clientsRegister,
  }
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
  module: at({
    act() {
      throw new AppError('not_found', 'There is nothing here.')
    },
  }),
})
