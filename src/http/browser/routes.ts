import type { RouteDeps } from '../deps.ts'
import { type RequestContext, redirect } from '../request-context.ts'
import type { Route } from '../route.ts'
import { createAccount } from './account.ts'
import { createLogin } from './login.ts'
import { createLoginRedirect } from './login-redirect.ts'
import { createLogout } from './logout.ts'
import { createProviderRoutes } from './oauth/routes.ts'
import { createReauthentication } from './reauthentication.ts'
import { createRedirectSignedIn } from './redirect-signed-in.ts'
import { createSignup } from './signup.ts'

const ONE_YEAR_SECONDS = 31_536_000

/** The routes that a person opens. */
export const createBrowserRoutes = (deps: RouteDeps): Route[] => {
  const entryDeps = { ...deps, redirectSignedIn: createRedirectSignedIn(deps) }
  const login = createLogin(entryDeps)
  const signup = createSignup(entryDeps)
  const logout = createLogout(deps)
  const account = createAccount(deps)
  const confirmation = createReauthentication(deps)
  const open = { guard: 'none', speaks: 'html' } as const
  const own = { guard: 'session', speaks: 'html' } as const
  const get = { method: 'GET' } as const
  const post = { method: 'POST', csrf: 'token' } as const
  return [
    {
      ...get,
      ...open,
      path: '/auth',
      answer: async (context: RequestContext) =>
        redirect((await deps.findCurrentSession(context)) ? '/auth/account' : '/auth/login'),
    },
    { ...get, ...open, path: '/auth/login', answer: login.show },
    { ...post, ...open, path: '/auth/login', answer: login.submit },
    { ...get, ...open, path: '/auth/login/redirect', answer: createLoginRedirect(deps.baseUrl) },
    { ...get, ...open, path: '/auth/signup', answer: signup.show },
    { ...post, ...open, path: '/auth/signup', answer: signup.submit },
    { ...get, ...open, path: '/auth/logout', answer: logout.show },
    { ...post, ...open, path: '/auth/logout', answer: logout.submit },
    { ...get, ...own, path: '/auth/account', answer: account.show },
    { ...post, ...own, path: '/auth/account/username', answer: account.changeUsername },
    { ...post, ...own, path: '/auth/account/password', answer: account.changePassword },
    { ...post, ...own, path: '/auth/account/sessions', answer: account.endSessions },
    { ...post, ...own, path: '/auth/account/identities', answer: account.unlink },
    { ...post, ...own, path: '/auth/account/delete', answer: account.delete },
    { ...get, ...own, path: '/auth/account/confirm', answer: confirmation.show },
    { ...post, ...own, path: '/auth/account/confirm', answer: confirmation.submit },
    // A refused form is shown under the address that it was sent to; who opens that again gets the page.
    ...['username', 'password', 'sessions', 'identities', 'delete'].map(
      (form): Route => ({ ...get, ...open, path: `/auth/account/${form}`, answer: () => redirect('/auth/account') }),
    ),
    ...createProviderRoutes(deps),
    ...deps.pages.assets.map(
      ({ path, contentType, body }): Route => ({
        ...get,
        guard: 'none',
        speaks: 'asset',
        frequent: true,
        path: path as Route['path'],
        answer: () => ({ status: 200, contentType, body, cacheSeconds: ONE_YEAR_SECONDS }),
      }),
    ),
  ]
}
