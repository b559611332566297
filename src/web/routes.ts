import { createCheck } from '../api/check/check.ts'
import { FORWARD_PATH, isShownToPeople } from '../api/check/original-request.ts'
import { getUser } from '../api/v1/get-user.ts'
import { createGetJwkSet, createGetReadiness, getHealth } from '../api/v1/operation.ts'
import { createRefreshSession } from '../api/v1/refresh-session.ts'
import type { RequestContext } from '../http/request-context.ts'
import { type HttpResponse, redirect } from '../http/response.ts'
import type { Route, ShowAgain } from '../http/route.ts'
import type { Application } from '../http/server.ts'
import type { ProviderView, RouteDeps } from '../http/services.ts'
import { ACCOUNT_PATH, stepUpAfterLogin } from '../http/step-up.ts'

import { inLanguage } from '../languages/language.ts'
import { AppError } from '../lib/errors.ts'
import { isLoopbackUrl } from '../lib/url.ts'
import { acceptsGzip } from '../http/negotiation.ts'
import type { Asset } from './site/assets.ts'
import type { SiteFrame } from './site/frame.ts'
import { createLoginRedirect } from './login/login-redirect.ts'
import type { Awaitable } from '../lib/awaitable.ts'
import {
  at,
  loadedFirst,
  partsOf,
  preflights,
  reopenedForms,
  screen,
  type ScreenDeps,
  withoutSwitchedOff,
} from './rows.ts'
import { changePassword, createPasskeyEndpoints } from './account/well-known.ts'
import { createGetSessionScript } from './site/session-script.ts'

/** These limits apply to forms in which a signed-in user enters a password. They count each try and wrong passwords. */
const PASSWORD = ['passwordOfUser', 'passwordFormOfUser'] as const

/**
 * This is THE table of routes. Any other path is 404; `http/route.ts` says what the columns mean. A module is loaded
 * with the first request for it, or after the start, except for modules that are requested all the time.
 */
const createRoutes = (given: RouteDeps, { layout, iconOf, assets, findAsset }: SiteFrame): Route[] => {
  const deps = { ...given, layout, iconOf }
  // Login and signup share one module, which counts how often a browser comes back to either.
  const entry = screen(deps, async (given) => {
    const { createRedirectSignedIn } = await import('./sign-in/redirect-signed-in.ts')
    return { ...given, redirectSignedIn: createRedirectSignedIn(given) }
  })
  const login = loadedFirst(async () => (await import('./login/login.ts')).createLogin(await entry()))
  const loginCode = screen(deps, async (given) => (await import('./sign-in-code/login-code.ts')).createLoginCode(given))
  const loginEnrol = screen(deps, async (given) =>
    (await import('./sign-in-code/login-enrol.ts')).createLoginEnrol(given),
  )
  const askForCode = loadedFirst(async () =>
    (await import('./email-sign-in/ask-for-code.ts')).createAskForCode(await entry()),
  )
  const typeCode = loadedFirst(async () => (await import('./email-sign-in/type-code.ts')).createTypeCode(await entry()))
  const signInLink = screen(deps, async (given) =>
    (await import('./email-sign-in/sign-in-link.ts')).createSignInLink(given),
  )
  const signup = loadedFirst(async () => (await import('./signup/signup.ts')).createSignup(await entry()))
  const logout = screen(deps, async (given) => (await import('./logout/logout.ts')).createLogout(given))
  const language = screen(deps, async (given) => (await import('./language/language.ts')).createChooseLanguage(given))
  const account = partsOf(screen(deps, async (given) => (await import('./account/account.ts')).createAccount(given)))
  const lists = partsOf(screen(deps, async (given) => (await import('./account/lists.ts')).createAccountLists(given)))
  const confirm = screen(deps, async (given) =>
    (await import('./reauthentication/reauthentication.ts')).createReauthentication(given),
  )
  const secondFactor = screen(deps, async (given) => {
    const [{ createSecondFactorHandlers }] = await Promise.all([
      import('./second-factor/second-factor.ts'),
      import('../second-factor/factor-changes.ts'),
    ])
    return createSecondFactorHandlers(given)
  })
  const firstFactor = screen(deps, async (given) =>
    (await import('./second-factor/first-factor.ts')).createFirstFactorLink(given),
  )
  const forgotPassword = screen(deps, async (given) =>
    (await import('./links/forgot-password.ts')).createForgotPassword(given),
  )
  const resetPassword = screen(deps, async (given) =>
    (await import('./links/reset-password.ts')).createResetPassword(given),
  )
  const notMe = screen(deps, async (given) => (await import('./links/not-me.ts')).createNotMeLink(given))
  const invitation = screen(deps, async (given) => (await import('./links/invitation.ts')).createInvitation(given))
  const waysIn = screen(deps, async (given) => (await import('./links/ways-in.ts')).createWaysIn(given))
  const verifyEmail = screen(deps, async (given) => (await import('./links/verify-email.ts')).createVerifyEmail(given))
  const undoEmail = screen(deps, async (given) => (await import('./links/undo-email.ts')).createUndoEmail(given))
  const authorize = screen(deps, async (given) => {
    const [{ createAuthorize }, clients] = await Promise.all([import('./authorize/authorize.ts'), deps.loadClients()])
    return createAuthorize({ ...given, clients })
  })
  const consent = screen(deps, async (given) => {
    const [{ createConsent }, clients] = await Promise.all([import('./authorize/consent.ts'), deps.loadClients()])
    return createConsent({ ...given, clients })
  })
  const clientLogout = partsOf(
    screen(deps, async (given) => {
      const [logouts, clients] = await Promise.all([import('./authorize/client-logout.ts'), deps.loadClients()])
      return logouts.createClientLogout({ ...given, clients })
    }),
  )
  const welcome = screen(deps, async (given) => (await import('./welcome/welcome.ts')).createWelcome(given))
  const passkeyLogin = partsOf(
    screen(deps, async (given) => (await import('./passkeys/passkey-login.ts')).createPasskeyLogin(given)),
  )
  const addPasskey = partsOf(
    screen(deps, async (given) => (await import('./passkeys/add-passkey.ts')).createAddPasskey(given)),
  )
  const users = partsOf(async () => {
    const [api, directory] = await Promise.all([import('../api/v2/users.ts'), deps.loadDirectory()])
    return api.createUserRoutes({ ...deps, directory })
  })
  const credentials = partsOf(async () => {
    const [api, directory] = await Promise.all([import('../api/v2/credentials.ts'), deps.loadDirectory()])
    return api.createCredentialRoutes({ ...deps, directory })
  })
  const sessions = partsOf(async () => (await import('../api/v2/sessions.ts')).createSessionRoutes(deps))
  const audit = loadedFirst(async () => {
    const [{ createListAudit }] = await Promise.all([import('../api/v2/list-audit.ts'), import('../audit/reading.ts')])
    return createListAudit(deps)
  })
  const revocations = loadedFirst(async () => {
    const [{ createListRevocations }, feed] = await Promise.all([
      import('../api/v2/revocations.ts'),
      deps.loadRevocationFeed(),
    ])
    return createListRevocations({ ...deps, feed })
  })
  const clients = partsOf(async () => {
    const [{ createTokenRoutes }, loaded] = await Promise.all([import('../api/oauth2/token.ts'), deps.loadClients()])
    return createTokenRoutes(loaded)
  })
  const registry = partsOf(async () => {
    const [{ createClientRoutes }, loaded] = await Promise.all([import('../api/v2/clients.ts'), deps.loadClients()])
    return createClientRoutes({ ...deps, ...loaded })
  })
  const grants = partsOf(async () => {
    const [{ createGrantRoutes }, loaded] = await Promise.all([import('../api/v2/grants.ts'), deps.loadClients()])
    return createGrantRoutes({ ...deps, ...loaded })
  })
  const userInfo = loadedFirst(async () =>
    (await import('../api/oauth2/userinfo.ts')).createUserInfo(await deps.loadClients()),
  )
  const introspect = loadedFirst(async () =>
    (await import('../api/oauth2/introspect.ts')).createIntrospect({ ...deps, ...(await deps.loadClients()) }),
  )
  const discovery = loadedFirst(async () =>
    (await import('../api/oauth2/discovery.ts')).createDiscoveryDocument(await deps.loadClients()),
  )
  const register = loadedFirst(async () =>
    (await import('../api/oauth2/register.ts')).createRegister(await deps.loadClients()),
  )
  const openApi = (version: 'v1' | 'v2') =>
    loadedFirst(async () =>
      (await import('../api/openapi/openapi.ts')).createGetOpenApi({ ...deps, version, listRoutes: () => routes }),
    )
  const check = at(createCheck(deps))
  const home = at({
    show: async (context: RequestContext) =>
      redirect((await deps.findCurrentSession(context)) ? ACCOUNT_PATH : '/auth/login'),
  })

  // biome-ignore format: a table is read by its columns
  const routes: Route[] = [
    // Pages and forms
    { method: 'GET',  path: '/auth',                         guard: 'none',                         responseKind: 'html', module: home },
    { method: 'GET',  path: '/auth/',                        guard: 'none',                         responseKind: 'html', module: home },
    { method: 'GET',  path: '/auth/login',                   guard: 'none',                         responseKind: 'html', module: login },
    { method: 'POST', path: '/auth/login',                   guard: 'none',          csrf: 'token', responseKind: 'html', needs: 'passwords', module: login, event: 'login', limits: 'login', outcome: 'login' },
    { method: 'GET',  path: '/auth/login/code',              guard: 'none',                         responseKind: 'html', module: loginCode },
    { method: 'POST', path: '/auth/login/code',              guard: 'none',          csrf: 'token', responseKind: 'html', module: loginCode },
    { method: 'GET',  path: '/auth/login/enrol',             guard: 'none',                         responseKind: 'html', module: loginEnrol },
    // This is limited as on the account page: a right first code costs a hash for each recovery code.
    { method: 'POST', path: '/auth/login/enrol',             guard: 'none',          csrf: 'token', responseKind: 'html', module: loginEnrol, event: 'login', limits: ['passwordFormOfUser'] },
    { method: 'GET',  path: '/auth/login/redirect',          guard: 'none',                         responseKind: 'html', module: at({ show: createLoginRedirect(deps) }) },
    { method: 'GET',  path: '/auth/login/email',             guard: 'none',                         responseKind: 'html', needs: 'email_sign_in', module: askForCode },
    { method: 'POST', path: '/auth/login/email',             guard: 'none',          csrf: 'token', responseKind: 'html', needs: 'email_sign_in', module: askForCode, event: 'login_email_request' },
    { method: 'GET',  path: '/auth/login/email/code',        guard: 'none',                         responseKind: 'html', needs: 'email_sign_in', module: typeCode },
    { method: 'POST', path: '/auth/login/email/code',        guard: 'none',          csrf: 'token', responseKind: 'html', needs: 'email_sign_in', module: typeCode, event: 'login', outcome: 'login' },
    // Operators make such links too, while users do not sign in by mail.
    { method: 'GET',  path: '/auth/login/email/link',        guard: 'none',                         responseKind: 'html', holdsToken: true, module: signInLink },
    { method: 'POST', path: '/auth/login/email/link',        guard: 'none',          csrf: 'token', responseKind: 'html', holdsToken: true, module: signInLink, event: 'login', outcome: 'login' },
    { method: 'GET',  path: '/auth/signup',                  guard: 'none',                         responseKind: 'html', module: signup },
    { method: 'POST', path: '/auth/signup',                  guard: 'none',          csrf: 'token', responseKind: 'html', needs: 'passwords', module: signup, event: 'signup', limits: ['signupOfAddress'], outcome: 'signup' },
    { method: 'GET',  path: '/auth/logout',                  guard: 'none',                         responseKind: 'html', module: logout },
    { method: 'POST', path: '/auth/logout',                  guard: 'none',          csrf: 'token', responseKind: 'html', answersScripts: true, module: logout },
    { method: 'POST', path: '/auth/language',                guard: 'none',          csrf: 'token', responseKind: 'html', module: language, event: 'language_change', limits: ['languageOfUser'] },
    { method: 'GET',  path: '/auth/account',                 guard: 'session',                      responseKind: 'html', module: account('page') },
    { method: 'POST', path: '/auth/account/email',           guard: 'session',       csrf: 'token', responseKind: 'html', module: account('email') },
    { method: 'POST', path: '/auth/account/email/verify',    guard: 'session',       csrf: 'token', responseKind: 'html', module: account('verification'), event: 'email_verification_request' },
    { method: 'POST', path: '/auth/account/username',        guard: 'session',       csrf: 'token', responseKind: 'html', needs: 'usernames', module: account('username'), event: 'username_change', limits: ['usernameOfUser'] },
    { method: 'POST', path: '/auth/account/name',            guard: 'session',       csrf: 'token', responseKind: 'html', needs: 'names', module: account('name'), event: 'name_change', limits: ['nameOfUser'] },
    { method: 'POST', path: '/auth/account/password',        guard: 'session',       csrf: 'token', responseKind: 'html', needs: 'passwords', module: account('password'), event: 'password_change', limits: PASSWORD },
    { method: 'POST', path: '/auth/account/sessions',        guard: 'session',       csrf: 'token', responseKind: 'html', module: account('sessions'), event: 'session_end' },
    { method: 'GET',  path: '/auth/account/devices',         guard: 'session',                      responseKind: 'html', module: lists('devices'), returnAfterLogin: () => '/auth/account/devices' },
    { method: 'GET',  path: '/auth/account/activity',        guard: 'session',                      responseKind: 'html', module: lists('activity'), returnAfterLogin: () => '/auth/account/activity' },
    { method: 'POST', path: '/auth/account/data',            guard: 'session',       csrf: 'token', responseKind: 'html', module: account('data'), event: 'account_export', limits: ['exportOfUser'] },
    { method: 'POST', path: '/auth/account/browsers',        guard: 'session',       csrf: 'token', responseKind: 'html', module: account('browsers'), event: 'trusted_browsers_forget' },
    { method: 'POST', path: '/auth/account/applications',    guard: 'session',       csrf: 'token', responseKind: 'html', needs: 'clients', module: account('applications'), event: 'client_disconnect' },
    { method: 'POST', path: '/auth/account/identities',      guard: 'session',       csrf: 'token', responseKind: 'html', module: account('identities'), event: 'provider_disconnect' },
    { method: 'POST', path: '/auth/account/passkeys',        guard: 'session',       csrf: 'token', responseKind: 'html', needs: 'passkeys', module: account('passkeys') },
    { method: 'POST', path: '/auth/account/delete',          guard: 'session',       csrf: 'token', responseKind: 'html', module: account('deletion'), event: 'account_delete', limits: PASSWORD },
    { method: 'GET',  path: '/auth/account/confirm',         guard: 'session',                      responseKind: 'html', module: confirm, returnAfterLogin: stepUpAfterLogin(deps) },
    { method: 'POST', path: '/auth/account/confirm',         guard: 'session',       csrf: 'token', responseKind: 'html', needs: 'passwords', module: confirm, event: 'reauthentication', limits: PASSWORD, returnAfterLogin: stepUpAfterLogin(deps) },
    // Second factors
    { method: 'GET',  path: '/auth/account/second-factor',   guard: 'session',                      responseKind: 'html', module: secondFactor },
    { method: 'POST', path: '/auth/account/second-factor',   guard: 'session',       csrf: 'token', responseKind: 'html', module: secondFactor, limits: PASSWORD },
    { method: 'GET',  path: '/auth/account/first-factor',    guard: 'none',                         responseKind: 'html', holdsToken: true, module: firstFactor },
    { method: 'POST', path: '/auth/account/first-factor',    guard: 'none',          csrf: 'token', responseKind: 'html', holdsToken: true, module: firstFactor, event: 'second_factor_link_request' },
    // The OAuth server. A `GET` gives a code.
    { method: 'GET',  path: '/auth/oauth2/authorize',        guard: 'none', isSafe: false,          responseKind: 'html', needs: 'clients', module: authorize },
    { method: 'POST', path: '/auth/oauth2/authorize',        guard: 'none', csrf: 'changes_nothing', responseKind: 'html', needs: 'clients', module: authorize },
    { method: 'POST', path: '/auth/oauth2/consent',          guard: 'none',          csrf: 'token', responseKind: 'html', needs: 'clients', module: consent, event: 'client_allow', limits: ['consentOfUser'] },
    { method: 'GET',  path: '/auth/oauth2/logout',           guard: 'none', isSafe: false,          responseKind: 'html', isShownOnce: true, needs: 'clients', module: clientLogout('ask') },
    { method: 'POST', path: '/auth/oauth2/logout',           guard: 'none', csrf: 'changes_nothing', responseKind: 'html', needs: 'clients', module: clientLogout('ask') },
    { method: 'POST', path: '/auth/oauth2/logout/confirm',   guard: 'none',          csrf: 'token', responseKind: 'html', needs: 'clients', module: clientLogout('confirmed') },
    // Ways back into an account
    { method: 'GET',  path: '/auth/password/forgot',         guard: 'none',                         responseKind: 'html', module: forgotPassword },
    { method: 'POST', path: '/auth/password/forgot',         guard: 'none',          csrf: 'token', responseKind: 'html', module: forgotPassword, event: 'password_reset_request' },
    { method: 'GET',  path: '/auth/password/reset',          guard: 'none',                         responseKind: 'html', holdsToken: true, module: resetPassword },
    { method: 'POST', path: '/auth/password/reset',          guard: 'none',          csrf: 'token', responseKind: 'html', holdsToken: true, needs: 'passwords_or_mail', module: resetPassword, event: 'password_reset' },
    { method: 'GET',  path: '/auth/account/not-me',          guard: 'none',                         responseKind: 'html', holdsToken: true, module: notMe },
    { method: 'POST', path: '/auth/account/not-me',          guard: 'none',          csrf: 'token', responseKind: 'html', holdsToken: true, module: notMe, event: 'not_me' },
    { method: 'GET',  path: '/auth/invite',                  guard: 'none',                         responseKind: 'html', holdsToken: true, module: invitation },
    // This is limited, since a taken username shows that an account has it, and since each try costs a hash.
    { method: 'POST', path: '/auth/invite',                  guard: 'none',          csrf: 'token', responseKind: 'html', holdsToken: true, needs: 'passwords_or_mail', module: invitation, event: 'invitation_accept', limits: ['usernameOfUser', 'passwordFormOfUser'] },
    { method: 'GET',  path: '/auth/account/ways-in',         guard: 'session',                      responseKind: 'html', module: waysIn },
    { method: 'GET',  path: '/auth/email/verify',            guard: 'none',                         responseKind: 'html', holdsToken: true, module: verifyEmail },
    { method: 'POST', path: '/auth/email/verify',            guard: 'none',          csrf: 'token', responseKind: 'html', holdsToken: true, module: verifyEmail },
    { method: 'GET',  path: '/auth/email/undo',              guard: 'none',                         responseKind: 'html', holdsToken: true, module: undoEmail },
    { method: 'POST', path: '/auth/email/undo',              guard: 'none',          csrf: 'token', responseKind: 'html', holdsToken: true, needs: 'passwords_or_mail', module: undoEmail, event: 'email_undo' },
    // The proxy rewrites the same paths of the origin to these.
    { method: 'GET',  path: '/auth/.well-known/change-password',   guard: 'none',                   responseKind: 'html', needs: 'passwords', module: at(changePassword) },
    { method: 'GET',  path: '/auth/.well-known/passkey-endpoints', guard: 'none',                   responseKind: 'json', needs: 'passkeys', module: at(createPasskeyEndpoints(deps)) },
    // The application has this address. A request for it reaches svc only while the application is being set up.
    ...(isLoopbackUrl(deps.baseUrl) ? [{ method: 'GET', path: '/', guard: 'none', responseKind: 'html', module: welcome } satisfies Route] : []),
    // Proxies ask these questions about each request of an application.
    { method: 'ANY',  path: '/auth/check',                   guard: 'access_token',                 responseKind: 'check', frequent: true, isShownToPeople, module: check },
    { method: 'ANY',  path: FORWARD_PATH, isPrefix: true,    guard: 'access_token',                 responseKind: 'check', frequent: true, isShownToPeople, module: check },
    // JSON
    { method: 'GET',  path: '/auth/api/v1/user',             guard: 'access_token',                 responseKind: 'json', frequent: true, module: at(getUser) },
    { method: 'POST', path: '/auth/api/v1/sessions/refresh', guard: 'refresh_token', csrf: 'token', responseKind: 'json', module: at(createRefreshSession(deps)) },
    { method: 'GET',  path: '/auth/.well-known/jwks.json',   guard: 'none',                         responseKind: 'json', frequent: true, anyOrigin: deps.hasClients, module: at(createGetJwkSet(deps)) },
    { method: 'GET',  path: '/auth/health',                  guard: 'none',                         responseKind: 'json', frequent: true, module: at(getHealth) },
    { method: 'GET',  path: '/auth/ready',                   guard: 'none',                         responseKind: 'json', frequent: true, module: at(createGetReadiness(deps)) },
    { method: 'GET',  path: '/auth/api/v1/openapi.json',     guard: 'none',                         responseKind: 'json', module: openApi('v1') },
    // Clients of the OAuth server send these requests. The proxy sends the last two paths of the origin here.
    { method: 'POST', path: '/auth/oauth2/token',            guard: 'none',      csrf: 'no_cookie', responseKind: 'oauth', needs: 'clients', anyOrigin: true, module: clients('token') },
    { method: 'POST', path: '/auth/oauth2/revoke',           guard: 'none',      csrf: 'no_cookie', responseKind: 'oauth', needs: 'clients', anyOrigin: true, module: clients('revoke') },
    { method: 'POST', path: '/auth/oauth2/register',         guard: 'none',      csrf: 'no_cookie', responseKind: 'oauth', takesJson: true, needs: 'registration', anyOrigin: true, module: register },
    { method: 'GET',  path: '/auth/oauth2/userinfo',         guard: 'none',                         responseKind: 'oauth', needs: 'clients', anyOrigin: true, module: userInfo },
    { method: 'POST', path: '/auth/oauth2/userinfo',         guard: 'none',      csrf: 'no_cookie', responseKind: 'oauth', needs: 'clients', anyOrigin: true, module: userInfo },
    { method: 'POST', path: '/auth/oauth2/introspect',       guard: 'none',      csrf: 'no_cookie', responseKind: 'oauth', needs: 'clients', frequent: true, module: introspect },
    { method: 'GET',  path: '/auth/.well-known/openid-configuration',             guard: 'none',    responseKind: 'oauth', needs: 'clients', anyOrigin: true, module: discovery },
    { method: 'GET',  path: '/auth/.well-known/oauth-authorization-server',       guard: 'none',    responseKind: 'oauth', needs: 'clients', anyOrigin: true, module: discovery },
    { method: 'GET',  path: '/.well-known/oauth-authorization-server/auth',       guard: 'none',    responseKind: 'oauth', needs: 'clients', anyOrigin: true, module: discovery },
    { method: 'GET',  path: '/.well-known/openid-configuration/auth',             guard: 'none',    responseKind: 'oauth', needs: 'clients', anyOrigin: true, module: discovery },
    // The script of the pages sends these requests.
    { method: 'POST', path: '/auth/passkeys/login/options',    guard: 'none',        csrf: 'token', responseKind: 'json', takesJson: true, needs: 'passkeys', module: passkeyLogin('options') },
    { method: 'POST', path: '/auth/passkeys/login',            guard: 'none',        csrf: 'token', responseKind: 'json', takesJson: true, needs: 'passkeys', module: passkeyLogin('submit') },
    { method: 'POST', path: '/auth/passkeys/register/options', guard: 'none',        csrf: 'token', responseKind: 'json', takesJson: true, needs: 'passkeys', module: addPasskey('options') },
    { method: 'POST', path: '/auth/passkeys/register',         guard: 'none',        csrf: 'token', responseKind: 'json', takesJson: true, needs: 'passkeys', module: addPasskey('submit') },
    // Pages of the application load this.
    { method: 'GET',  path: '/auth/session.js',              guard: 'none',                         responseKind: 'asset', frequent: true, module: at({ handle: createGetSessionScript(deps) }) },
    // The server API
    { method: 'GET',    path: '/auth/api/v2/users',                     guard: 'api_key', scope: 'users:read',                         responseKind: 'json', module: users('list') },
    { method: 'POST',   path: '/auth/api/v2/users',                     guard: 'api_key', scope: 'users:write',       csrf: 'api_key', responseKind: 'json', module: users('create') },
    { method: 'GET',    path: '/auth/api/v2/users/{id}',                guard: 'api_key', scope: 'users:read',                         responseKind: 'json', module: users('find') },
    { method: 'PATCH',  path: '/auth/api/v2/users/{id}',                guard: 'api_key', scope: 'users:write',       csrf: 'api_key', responseKind: 'json', module: users('change') },
    { method: 'DELETE', path: '/auth/api/v2/users/{id}',                guard: 'api_key', scope: 'users:write',       csrf: 'api_key', responseKind: 'json', module: users('delete') },
    { method: 'POST',   path: '/auth/api/v2/users/{id}/links',          guard: 'api_key', scope: 'credentials:write', csrf: 'api_key', responseKind: 'json', module: credentials('createLink') },
    { method: 'DELETE', path: '/auth/api/v2/users/{id}/second-factors', guard: 'api_key', scope: 'credentials:write', csrf: 'api_key', responseKind: 'json', module: credentials('resetSecondFactors') },
    { method: 'GET',    path: '/auth/api/v2/users/{id}/sessions',       guard: 'api_key', scope: 'sessions:read',                      responseKind: 'json', module: sessions('list') },
    { method: 'DELETE', path: '/auth/api/v2/users/{id}/sessions',       guard: 'api_key', scope: 'sessions:write',    csrf: 'api_key', responseKind: 'json', module: sessions('endAll') },
    { method: 'GET',    path: '/auth/api/v2/sessions/{id}',             guard: 'api_key', scope: 'sessions:read',                      responseKind: 'json', module: sessions('find') },
    { method: 'DELETE', path: '/auth/api/v2/sessions/{id}',             guard: 'api_key', scope: 'sessions:write',    csrf: 'api_key', responseKind: 'json', module: sessions('end') },
    { method: 'GET',    path: '/auth/api/v2/users/{id}/grants',         guard: 'api_key', scope: 'sessions:read',                      responseKind: 'json', needs: 'clients', module: grants('list') },
    { method: 'DELETE', path: '/auth/api/v2/users/{id}/grants/{grant}', guard: 'api_key', scope: 'sessions:write',    csrf: 'api_key', responseKind: 'json', needs: 'clients', module: grants('end') },
    { method: 'GET',    path: '/auth/api/v2/clients',                   guard: 'api_key', scope: 'clients:read',                       responseKind: 'json', needs: 'clients', module: registry('list') },
    { method: 'POST',   path: '/auth/api/v2/clients',                   guard: 'api_key', scope: 'clients:write',     csrf: 'api_key', responseKind: 'json', needs: 'clients', module: registry('create') },
    { method: 'GET',    path: '/auth/api/v2/clients/{id}',              guard: 'api_key', scope: 'clients:read',                       responseKind: 'json', needs: 'clients', module: registry('find') },
    { method: 'PATCH',  path: '/auth/api/v2/clients/{id}',              guard: 'api_key', scope: 'clients:write',     csrf: 'api_key', responseKind: 'json', needs: 'clients', module: registry('change') },
    { method: 'DELETE', path: '/auth/api/v2/clients/{id}',              guard: 'api_key', scope: 'clients:write',     csrf: 'api_key', responseKind: 'json', needs: 'clients', module: registry('delete') },
    { method: 'POST',   path: '/auth/api/v2/clients/{id}/secrets',      guard: 'api_key', scope: 'clients:write',     csrf: 'api_key', responseKind: 'json', needs: 'clients', module: registry('rotateSecret') },
    { method: 'GET',    path: '/auth/api/v2/audit',                     guard: 'api_key', scope: 'audit:read',                         responseKind: 'json', module: audit },
    { method: 'GET',    path: '/auth/api/v2/revocations',               guard: 'api_key', scope: 'revocations:read', frequent: true,   responseKind: 'json', module: revocations },
    { method: 'GET',    path: '/auth/api/v2/openapi.json',              guard: 'none',                                              responseKind: 'json', module: openApi('v2') },
    // Each provider and each file of the pages has its own rows.
    ...deps.providers.flatMap((provider) => providerRoutes(deps, provider, { reset: resetPassword, undo: undoEmail })),
    ...assets.map(assetRoute),
    { method: 'GET',  path: '/auth/assets/{file}',           guard: 'none',                         responseKind: 'asset', frequent: true, module: at({ handle: createFindAsset(deps, findAsset) }) },
  ]
  return withoutSwitchedOff([...routes, ...reopenedForms(routes), ...preflights(routes)], deps)
}

/** Creates the rows of all routes; the frame makes their pages. */
export const createApplication = (frame: SiteFrame): Application => ({
  createRoutes: (deps) => createRoutes(deps, frame),
  loadKeyRequests: async (deps) => (await import('../api/v2/api-requests.ts')).createApiRequests(deps),
})

type LinkPages = Record<'reset' | 'undo', () => Awaitable<{ showAgain: ShowAgain }>>

/** The routes of one provider (CONTRACT.md 4.3). */
const providerRoutes = (deps: ScreenDeps, provider: ProviderView, linkPages: LinkPages): Route[] => {
  const base = `/auth/oauth/${provider.name}` as const
  const given = screen(deps, async (services) => {
    const [reset, undo] = await Promise.all([linkPages.reset(), linkPages.undo()])
    return { ...services, provider, linkPages: { reset, undo } }
  })
  const start = loadedFirst(async () => (await import('./providers/start.ts')).createProviderStart(await given()))
  const link = loadedFirst(async () => (await import('./providers/link-account.ts')).createLinkAccount(await given()))
  const linkPart = partsOf(link)
  const callback = loadedFirst(async () => {
    const { askForProof } = (await link()).page
    return (await import('./providers/callback.ts')).createProviderCallback({ ...(await given()), askForProof })
  })

  // biome-ignore format: a table is read by its columns
  return [
    { method: 'POST', path: base,               guard: 'none', csrf: 'token',           responseKind: 'html', holdsToken: true, module: start },
    { method: 'GET',  path: `${base}/callback`, guard: 'none',                          responseKind: 'html', holdsToken: true, isSafe: false, isShownOnce: true, module: callback },
    { method: 'POST', path: `${base}/callback`, guard: 'none', csrf: 'changes_nothing', responseKind: 'html', module: callback },
    { method: 'GET',  path: `${base}/link`,     guard: 'none',                          responseKind: 'html', module: linkPart('page') },
    { method: 'POST', path: `${base}/link`,     guard: 'none', csrf: 'token',           responseKind: 'html', needs: 'passwords', module: linkPart('byPassword'), event: 'login', limits: 'login' },
    { method: 'POST', path: `${base}/claim`,    guard: 'none', csrf: 'token',           responseKind: 'html', module: linkPart('reclaim') },
  ]
}

const ONE_YEAR_SECONDS = 31_536_000

const assetRoute = (asset: Asset): Route => ({
  method: 'GET',
  path: asset.path,
  guard: 'none',
  responseKind: 'asset',
  frequent: true,
  module: at({ handle: (context) => assetResponse(asset, context) }),
})

const assetResponse = ({ contentType, body, gzipped }: Asset, { headers }: RequestContext): HttpResponse => {
  const plain = { status: 200, contentType, body, cacheSeconds: ONE_YEAR_SECONDS, headers: ['vary', 'accept-encoding'] }
  return acceptsGzip(headers) ? { ...plain, gzipped: gzipped() } : plain
}

/** Handles the paths of files that differ by language. Each is made when it, or a page with it, is first asked for. */
const createFindAsset =
  ({ languages }: Pick<RouteDeps, 'languages'>, findAsset: SiteFrame['findAsset']) =>
  (context: RequestContext): HttpResponse => {
    const [path = ''] = context.target.split('?', 1)
    const tag = languages.find(/\.([\w-]+)\.[\da-f]+\.js$/.exec(path)?.[1] ?? 'en')
    const asset = tag && inLanguage(languages.get(tag), () => findAsset(path))
    if (asset) return assetResponse(asset, context)
    throw new AppError('not_found', 'There is nothing here.')
  }
