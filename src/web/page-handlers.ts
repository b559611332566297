import { once, onDemand } from '../lib/on-demand.ts'
import type { RouteDeps } from '../http/deps.ts'
import { withPages } from './site/with-pages.ts'

const FORM = ['show', 'submit', 'showAgain'] as const

/** The handlers of the pages that users see without a link. Each is loaded with the first request for it. */
export const createPageHandlers = (deps: RouteDeps) => {
  // One for login and signup: it counts how often a browser comes back to either.
  const forEntry = once(async () => {
    const { createRedirectSignedIn } = await import('./sign-in/redirect-signed-in.ts')
    const given = await withPages(deps)
    return { ...given, redirectSignedIn: createRedirectSignedIn(given) }
  })
  return {
    login: onDemand(async () => (await import('./login/login.ts')).createLogin(await forEntry()), ...FORM),
    loginCode: onDemand(
      async () => (await import('./sign-in-code/login-code.ts')).createLoginCode(await withPages(deps)),
      ...FORM,
    ),
    loginEnrol: onDemand(
      async () => (await import('./sign-in-code/login-enrol.ts')).createLoginEnrol(await withPages(deps)),
      ...FORM,
    ),
    signup: onDemand(async () => (await import('./signup/signup.ts')).createSignup(await forEntry()), ...FORM),
    logout: onDemand(async () => (await import('./logout/logout.ts')).createLogout(await withPages(deps)), ...FORM),
    account: createAccountHandlers(deps),
    reauthentication: onDemand(
      async () =>
        (await import('./reauthentication/reauthentication.ts')).createReauthentication(await withPages(deps)),
      ...FORM,
    ),
    secondFactor: onDemand(
      async () => (await import('./second-factor/second-factor.ts')).createSecondFactorHandlers(await withPages(deps)),
      ...FORM,
    ),
    welcome: onDemand(
      async () => ({ show: (await import('./welcome/welcome.ts')).createWelcome(await withPages(deps)) }),
      'show',
    ),
  }
}

const createAccountHandlers = (deps: RouteDeps) => {
  const load = once(async () => (await import('./account/account.ts')).createAccount(await withPages(deps)))
  return {
    ...onDemand(
      load,
      'show',
      'changeEmail',
      'changeUsername',
      'changePassword',
      'changePasskey',
      'endSessions',
      'forgetTrustedBrowsers',
      'unlink',
      'delete',
    ),
    showAgain: onDemand(
      async () => (await load()).showAgain,
      'email',
      'username',
      'password',
      'passkey',
      'button',
      'deletion',
    ),
  }
}
