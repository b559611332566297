import { isLoopbackUrl } from '../lib/url.ts'
import type { Asset } from '../pages/site/assets.ts'
import type { ProviderView } from '../pages/site/providers.ts'
import { createGetJwkSet } from '../api/v1/get-jwk-set.ts'
import { createGetOpenApi } from '../api/openapi/get-open-api.ts'
import { getUser } from '../api/v1/get-user.ts'
import { createGetReadiness, getHealth } from '../api/v1/health.ts'
import { createRefreshSession } from '../api/v1/refresh-session.ts'
import { createServerApiRoutes } from '../api/v2/server-api-routes.ts'
import { createHome } from './login/home.ts'
import { createLoginRedirect } from './login/login-redirect.ts'
import { createProviderHandlers } from './providers/provider-handlers.ts'
import { createPasskeyHandlers } from './passkeys/passkey-handlers.ts'
import { createPageHandlers } from './page-handlers.ts'
import { createRecoveryHandlers } from './links/recovery-handlers.ts'
import { createGetSessionScript } from './site/session-script.ts'
import { createCheck } from '../api/check/check.ts'
import { FORWARD_PATH } from '../api/check/original-request.ts'
import type { RouteDeps } from '../http/deps.ts'
import type { ApiVersion } from '../api/openapi/openapi.ts'
import { redirect } from '../http/response.ts'
import type { Route } from '../http/route.ts'
import { stepUpAfterLogin } from '../http/step-up.ts'
import type { Application } from '../http/server.ts'
import { withoutSwitchedOff } from './switched-off.ts'

export const application: Application = {
  createRoutes: (deps) => createRoutes(deps),
  loadKeyRequests: async (deps) => (await import('../api/v2/api-requests.ts')).createApiRequests(deps),
}

/** THE table of routes. Any other path is 404; `route.ts` says what the columns mean. */
export const createRoutes = (deps: RouteDeps): Route[] => {
  const { login, loginCode, loginEnrol, signup, logout, account, reauthentication, secondFactor, welcome } =
    createPageHandlers(deps)
  const { forgotPassword, resetPassword, otherWaysIn, notMe, ...links } = createRecoveryHandlers(deps)
  const { invitation, verifyEmail, undoEmail, sendVerification, firstFactor } = links
  const passkeys = createPasskeyHandlers(deps)
  const check = createCheck(deps)
  const { users: apiUsers, audit: apiAudit, sessions: apiSessions } = createServerApiRoutes(deps)
  const getOpenApi = (version: ApiVersion) => createGetOpenApi({ ...deps, version, listRoutes: () => routes })

  // biome-ignore format: a table is read by its columns
  const routes: Route[] = [
    // Pages and forms
    { method: 'GET',  path: '/auth',                         guard: 'none',                         responseKind: 'html', handle: createHome(deps) },
    { method: 'GET',  path: '/auth/',                        guard: 'none',                         responseKind: 'html', handle: createHome(deps) },
    { method: 'GET',  path: '/auth/login',                   guard: 'none',                         responseKind: 'html', handle: login.show },
    { method: 'POST', path: '/auth/login',                   guard: 'none',          csrf: 'token', responseKind: 'html', needs: 'passwords', handle: login.submit, showAgain: login.showAgain },
    { method: 'GET',  path: '/auth/login/code',              guard: 'none',                         responseKind: 'html', handle: loginCode.show },
    { method: 'POST', path: '/auth/login/code',              guard: 'none',          csrf: 'token', responseKind: 'html', handle: loginCode.submit, showAgain: loginCode.showAgain },
    { method: 'GET',  path: '/auth/login/enrol',             guard: 'none',                         responseKind: 'html', handle: loginEnrol.show },
    { method: 'POST', path: '/auth/login/enrol',             guard: 'none',          csrf: 'token', responseKind: 'html', handle: loginEnrol.submit, showAgain: loginEnrol.showAgain },
    { method: 'GET',  path: '/auth/login/redirect',          guard: 'none',                         responseKind: 'html', handle: createLoginRedirect(deps) },
    { method: 'GET',  path: '/auth/signup',                  guard: 'none',                         responseKind: 'html', handle: signup.show },
    { method: 'POST', path: '/auth/signup',                  guard: 'none',          csrf: 'token', responseKind: 'html', needs: 'passwords', handle: signup.submit, showAgain: signup.showAgain },
    { method: 'GET',  path: '/auth/logout',                  guard: 'none',                         responseKind: 'html', handle: logout.show },
    { method: 'POST', path: '/auth/logout',                  guard: 'none',          csrf: 'token', responseKind: 'html', answersScripts: true, handle: logout.submit, showAgain: logout.showAgain },
    { method: 'GET',  path: '/auth/account',                 guard: 'session',                      responseKind: 'html', handle: account.show },
    { method: 'POST', path: '/auth/account/email',           guard: 'session',       csrf: 'token', responseKind: 'html', handle: account.changeEmail, showAgain: account.showAgain.email },
    { method: 'POST', path: '/auth/account/username',        guard: 'session',       csrf: 'token', responseKind: 'html', needs: 'usernames', handle: account.changeUsername, showAgain: account.showAgain.username },
    { method: 'POST', path: '/auth/account/password',        guard: 'session',       csrf: 'token', responseKind: 'html', needs: 'passwords', handle: account.changePassword, showAgain: account.showAgain.password },
    { method: 'POST', path: '/auth/account/sessions',        guard: 'session',       csrf: 'token', responseKind: 'html', handle: account.endSessions, showAgain: account.showAgain.button },
    { method: 'POST', path: '/auth/account/browsers',        guard: 'session',       csrf: 'token', responseKind: 'html', handle: account.forgetTrustedBrowsers, showAgain: account.showAgain.button },
    { method: 'POST', path: '/auth/account/identities',      guard: 'session',       csrf: 'token', responseKind: 'html', handle: account.unlink, showAgain: account.showAgain.button },
    { method: 'POST', path: '/auth/account/passkeys',        guard: 'session',       csrf: 'token', responseKind: 'html', needs: 'passkeys', handle: account.changePasskey, showAgain: account.showAgain.passkey },
    { method: 'POST', path: '/auth/account/delete',          guard: 'session',       csrf: 'token', responseKind: 'html', handle: account.delete, showAgain: account.showAgain.deletion },
    { method: 'GET',  path: '/auth/account/confirm',         guard: 'session',                      responseKind: 'html', handle: reauthentication.show, returnAfterLogin: stepUpAfterLogin(deps) },
    { method: 'POST', path: '/auth/account/confirm',         guard: 'session',       csrf: 'token', responseKind: 'html', needs: 'passwords', handle: reauthentication.submit, showAgain: reauthentication.showAgain, returnAfterLogin: stepUpAfterLogin(deps) },
    // Second factors
    { method: 'GET',  path: '/auth/account/second-factor',   guard: 'session',                      responseKind: 'html', handle: secondFactor.show },
    { method: 'POST', path: '/auth/account/second-factor',   guard: 'session',       csrf: 'token', responseKind: 'html', handle: secondFactor.submit, showAgain: secondFactor.showAgain },
    { method: 'GET',  path: '/auth/account/first-factor',    guard: 'none',                         responseKind: 'html', holdsToken: true, handle: firstFactor.show },
    { method: 'POST', path: '/auth/account/first-factor',    guard: 'none',          csrf: 'token', responseKind: 'html', holdsToken: true, handle: firstFactor.submit, showAgain: firstFactor.showAgain },
    // Ways back into an account
    { method: 'GET',  path: '/auth/password/forgot',         guard: 'none',                         responseKind: 'html', handle: forgotPassword.show },
    { method: 'POST', path: '/auth/password/forgot',         guard: 'none',          csrf: 'token', responseKind: 'html', handle: forgotPassword.submit, showAgain: forgotPassword.showAgain },
    { method: 'GET',  path: '/auth/password/reset',          guard: 'none',                         responseKind: 'html', holdsToken: true, handle: resetPassword.show },
    { method: 'POST', path: '/auth/password/reset',          guard: 'none',          csrf: 'token', responseKind: 'html', holdsToken: true, needs: 'passwords', handle: resetPassword.submit, showAgain: resetPassword.showAgain },
    { method: 'GET',  path: '/auth/account/not-me',          guard: 'none',                         responseKind: 'html', holdsToken: true, handle: notMe.show },
    { method: 'POST', path: '/auth/account/not-me',          guard: 'none',          csrf: 'token', responseKind: 'html', holdsToken: true, handle: notMe.submit, showAgain: notMe.showAgain },
    { method: 'GET',  path: '/auth/invite',                  guard: 'none',                         responseKind: 'html', holdsToken: true, handle: invitation.show },
    { method: 'POST', path: '/auth/invite',                  guard: 'none',          csrf: 'token', responseKind: 'html', holdsToken: true, needs: 'passwords', handle: invitation.submit, showAgain: invitation.showAgain },
    { method: 'GET',  path: '/auth/account/ways-in',         guard: 'session',                      responseKind: 'html', handle: otherWaysIn.show },
    { method: 'GET',  path: '/auth/email/verify',            guard: 'none',                         responseKind: 'html', holdsToken: true, handle: verifyEmail.show },
    { method: 'POST', path: '/auth/email/verify',            guard: 'none',          csrf: 'token', responseKind: 'html', holdsToken: true, handle: verifyEmail.submit, showAgain: verifyEmail.showAgain },
    { method: 'GET',  path: '/auth/email/undo',              guard: 'none',                         responseKind: 'html', holdsToken: true, handle: undoEmail.show },
    { method: 'POST', path: '/auth/email/undo',              guard: 'none',          csrf: 'token', responseKind: 'html', holdsToken: true, needs: 'passwords', handle: undoEmail.submit, showAgain: undoEmail.showAgain },
    { method: 'POST', path: '/auth/account/email/verify',    guard: 'session',       csrf: 'token', responseKind: 'html', handle: sendVerification.submit, showAgain: account.showAgain.button },
    // A refused form is shown under the address that it was sent to. Opening that address again leads to the page.
    { method: 'GET',  path: '/auth/account/email',           guard: 'none',                         responseKind: 'html', handle: toAccount },
    { method: 'GET',  path: '/auth/account/username',        guard: 'none',                         responseKind: 'html', needs: 'usernames', handle: toAccount },
    { method: 'GET',  path: '/auth/account/password',        guard: 'none',                         responseKind: 'html', needs: 'passwords', handle: toAccount },
    { method: 'GET',  path: '/auth/account/sessions',        guard: 'none',                         responseKind: 'html', handle: toAccount },
    { method: 'GET',  path: '/auth/account/browsers',        guard: 'none',                         responseKind: 'html', handle: toAccount },
    { method: 'GET',  path: '/auth/account/identities',      guard: 'none',                         responseKind: 'html', handle: toAccount },
    { method: 'GET',  path: '/auth/account/passkeys',        guard: 'none',                         responseKind: 'html', needs: 'passkeys', handle: toAccount },
    { method: 'GET',  path: '/auth/account/email/verify',    guard: 'none',                         responseKind: 'html', handle: toAccount },
    { method: 'GET',  path: '/auth/account/delete',          guard: 'none',                         responseKind: 'html', handle: toAccount },
    // The application has this address. Only while it is being set up does a request for it reach svc.
    ...(isLoopbackUrl(deps.baseUrl) ? [{ method: 'GET',  path: '/', guard: 'none', responseKind: 'html', handle: welcome.show } satisfies Route] : []),
    // What proxies ask about each request of an application
    { method: 'ANY',  path: '/auth/check',                   guard: 'access_token',                 responseKind: 'check', frequent: true, ...check },
    { method: 'ANY',  path: FORWARD_PATH, isPrefix: true,    guard: 'access_token',                 responseKind: 'check', frequent: true, ...check },
    // JSON
    { method: 'GET',  path: '/auth/api/v1/user',             guard: 'access_token',                 responseKind: 'json', frequent: true, ...getUser },
    { method: 'POST', path: '/auth/api/v1/sessions/refresh', guard: 'refresh_token', csrf: 'token', responseKind: 'json', ...createRefreshSession(deps) },
    { method: 'GET',  path: '/auth/.well-known/jwks.json',   guard: 'none',                         responseKind: 'json', frequent: true, ...createGetJwkSet(deps) },
    { method: 'GET',  path: '/auth/health',                  guard: 'none',                         responseKind: 'json', frequent: true, ...getHealth },
    { method: 'GET',  path: '/auth/ready',                   guard: 'none',                         responseKind: 'json', frequent: true, ...createGetReadiness(deps) },
    { method: 'GET',  path: '/auth/api/v1/openapi.json',     guard: 'none',                         responseKind: 'json', ...getOpenApi('v1') },
    // For the script of the pages
    { method: 'POST', path: '/auth/passkeys/login/options',    guard: 'none',        csrf: 'token', responseKind: 'json', takesJson: true, needs: 'passkeys', ...passkeys.loginOptions },
    { method: 'POST', path: '/auth/passkeys/login',            guard: 'none',        csrf: 'token', responseKind: 'json', takesJson: true, needs: 'passkeys', ...passkeys.login },
    { method: 'POST', path: '/auth/passkeys/register/options', guard: 'none',        csrf: 'token', responseKind: 'json', takesJson: true, needs: 'passkeys', ...passkeys.registerOptions },
    { method: 'POST', path: '/auth/passkeys/register',         guard: 'none',        csrf: 'token', responseKind: 'json', takesJson: true, needs: 'passkeys', ...passkeys.register },
    // For pages of the application
    { method: 'GET',  path: '/auth/session.js',              guard: 'none',                         responseKind: 'asset', frequent: true, handle: createGetSessionScript(deps) },
    // The server API
    { method: 'GET',    path: '/auth/api/v2/users',                     guard: 'api_key', scope: 'users:read',                         responseKind: 'json', ...apiUsers.list },
    { method: 'POST',   path: '/auth/api/v2/users',                     guard: 'api_key', scope: 'users:write',       csrf: 'api_key', responseKind: 'json', ...apiUsers.create },
    { method: 'GET',    path: '/auth/api/v2/users/{id}',                guard: 'api_key', scope: 'users:read',                         responseKind: 'json', ...apiUsers.find },
    { method: 'PATCH',  path: '/auth/api/v2/users/{id}',                guard: 'api_key', scope: 'users:write',       csrf: 'api_key', responseKind: 'json', ...apiUsers.change },
    { method: 'DELETE', path: '/auth/api/v2/users/{id}',                guard: 'api_key', scope: 'users:write',       csrf: 'api_key', responseKind: 'json', ...apiUsers.delete },
    { method: 'POST',   path: '/auth/api/v2/users/{id}/links',          guard: 'api_key', scope: 'credentials:write', csrf: 'api_key', responseKind: 'json', ...apiUsers.createLink },
    { method: 'DELETE', path: '/auth/api/v2/users/{id}/second-factors', guard: 'api_key', scope: 'credentials:write', csrf: 'api_key', responseKind: 'json', ...apiUsers.resetSecondFactors },
    { method: 'GET',    path: '/auth/api/v2/users/{id}/sessions',       guard: 'api_key', scope: 'sessions:read',                      responseKind: 'json', ...apiSessions.list },
    { method: 'DELETE', path: '/auth/api/v2/users/{id}/sessions',       guard: 'api_key', scope: 'sessions:write',    csrf: 'api_key', responseKind: 'json', ...apiSessions.endAll },
    { method: 'GET',    path: '/auth/api/v2/sessions/{id}',             guard: 'api_key', scope: 'sessions:read',                      responseKind: 'json', ...apiSessions.find },
    { method: 'DELETE', path: '/auth/api/v2/sessions/{id}',             guard: 'api_key', scope: 'sessions:write',    csrf: 'api_key', responseKind: 'json', ...apiSessions.end },
    { method: 'GET',    path: '/auth/api/v2/audit',                     guard: 'api_key', scope: 'audit:read',                         responseKind: 'json', ...apiAudit.list },
    { method: 'GET',    path: '/auth/api/v2/openapi.json',              guard: 'none',                                              responseKind: 'json', ...getOpenApi('v2') },
    // Of each provider, and of each file of the pages
    ...deps.providers.flatMap((provider) => providerRoutes(deps, provider)),
    ...deps.frame.assets.map(assetRoute),
  ]
  return withoutSwitchedOff(routes, deps)
}

/** The routes of one provider (CONTRACT.md 4.3). */
const providerRoutes = (deps: RouteDeps, provider: ProviderView): Route[] => {
  const { start, callback, relay, ...linkAccount } = createProviderHandlers({ ...deps, provider })
  const base = `/auth/oauth/${provider.name}` as const

  // biome-ignore format: a table is read by its columns
  return [
    { method: 'POST', path: base,               guard: 'none', csrf: 'token',           responseKind: 'html', holdsToken: true, handle: start },
    { method: 'GET',  path: `${base}/callback`, guard: 'none',                          responseKind: 'html', holdsToken: true, isSafe: false, handle: callback },
    { method: 'POST', path: `${base}/callback`, guard: 'none', csrf: 'changes_nothing', responseKind: 'html', handle: relay },
    { method: 'POST', path: `${base}/link`,     guard: 'none', csrf: 'token',           responseKind: 'html', needs: 'passwords', handle: linkAccount.linkByPassword, showAgain: linkAccount.showAgain },
    { method: 'POST', path: `${base}/claim`,    guard: 'none', csrf: 'token',           responseKind: 'html', handle: linkAccount.reclaim, showAgain: linkAccount.showAgain },
    // As above: the address of a form, opened again.
    { method: 'GET',  path: base,               guard: 'none',                          responseKind: 'html', handle: toLogin },
    { method: 'GET',  path: `${base}/link`,     guard: 'none',                          responseKind: 'html', handle: linkAccount.show },
    { method: 'GET',  path: `${base}/claim`,    guard: 'none',                          responseKind: 'html', handle: toLogin },
  ]
}

const ONE_YEAR_SECONDS = 31_536_000

const assetRoute = ({ path, contentType, body }: Asset): Route => ({
  method: 'GET',
  path,
  guard: 'none',
  responseKind: 'asset',
  frequent: true,
  handle: () => ({ status: 200, contentType, body, cacheSeconds: ONE_YEAR_SECONDS }),
})

const toAccount = () => redirect('/auth/account')
const toLogin = () => redirect('/auth/login')
