import type { ProviderView } from '../../../pages/pages.ts'
import type { RouteDeps } from '../../deps.ts'
import { redirect } from '../../request-context.ts'
import type { Route } from '../../route.ts'
import { createProviderSignIn } from './sign-in.ts'

/** The routes of each provider (specification section 4.2 rule 5). */
export const createProviderRoutes = (deps: RouteDeps): Route[] =>
  deps.providers.flatMap((provider) => routesOf(deps, provider))

const routesOf = (deps: RouteDeps, provider: ProviderView): Route[] => {
  const signIn = createProviderSignIn(deps, provider)
  const path = `/auth/oauth/${provider.name}` as const
  const open = { guard: 'none', speaks: 'html' } as const
  const get = { method: 'GET' } as const
  const post = { method: 'POST', csrf: 'token' } as const
  return [
    { ...post, ...open, path, answer: signIn.start },
    { ...get, isSafe: false, ...open, path: `${path}/callback`, answer: signIn.callback },
    { method: 'POST', csrf: 'changes_nothing', ...open, path: `${path}/callback`, answer: signIn.relay },
    { ...post, ...open, path: `${path}/link`, answer: signIn.proveByPassword },
    { ...post, ...open, path: `${path}/claim`, answer: signIn.claim },
    // A page that was shown under the address of a form, and is opened again.
    ...[path, `${path}/link` as const, `${path}/claim` as const].map(
      (form): Route => ({ ...get, ...open, path: form, answer: () => redirect('/auth/login') }),
    ),
  ]
}
