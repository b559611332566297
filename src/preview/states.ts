import { NOT_ME_PURPOSES } from '../links/link.ts'
import type { SignInView } from '../web/sign-in/ways-in.ts'
import type { AccountView, PasskeysView } from '../web/account/account-view.ts'
import type { ReauthenticationView } from '../web/reauthentication/reauthentication-page.ts'
import type { NotMeView } from '../web/links/not-me-page.ts'
import type { InvitationView } from '../web/links/invitation-page.ts'
import type { LoginView } from '../web/login/login-page.ts'
import type { AllPages } from './pages.ts'
import type { LinkAccountView } from '../web/providers/link-account-page.ts'
import type { ProviderProblemView } from '../web/sign-in/provider-problem-page.ts'
import type { SignupView } from '../web/signup/signup-page.ts'
import { APPLICATIONS, EVERYTHING } from './account-everything.ts'
import { clientStatesOf } from './client-states.ts'
import { emailSignInStatesOf } from './email-sign-in-states.ts'
import { secondFactorStatesOf } from './second-factor-states.ts'
import type { Sample } from './sample.ts'

const PURPOSES = ['reset', 'reset', 'verify', 'signup', 'new_email', 'undo', 'invite', 'not_me', 'sign_in'] as const
const STATES = ['used', 'replaced', 'ended', 'expired', 'unknown'] as const

const linkOf = ({ text, ...it }: Sample) => ({
  csrfToken: text,
  token: text,
  email: it.email,
  otherEmail: it.otherEmail,
})
const proveAccount = (it: Sample) => ({ ...linkOf(it), passwords: true, hasPassword: true, errors: {} })
const confirmSignup = (it: Sample) => ({
  ...linkOf(it),
  otherEmail: undefined,
  choosesPassword: false,
  username: undefined,
  errors: {},
})

/** Every page in every state that it can be in, by name, with a sample of what people and operators write. */
export const statesOf = (it: Sample): Record<string, (pages: AllPages) => string> => {
  const { text } = it
  const nowMs = Date.UTC(2026, 10, 21, 10, 47)
  const minutesAgo = (minutes: number): number => nowMs - minutes * 60_000
  const provider = { name: text, label: it.provider, iconUrl: it.iconUrl }
  const providers = [provider]
  const entry = { csrfToken: text, returnTo: text, email: it.email, providers: [], errors: {} }
  const login: LoginView = { ...entry, passwords: true, signupOpen: true }
  const signup: SignupView = { ...entry, username: it.username, acceptedDomains: [], byPassword: true, closed: false }
  const session = { userAgent: it.userAgent, address: it.address, createdAtMs: minutesAgo(90_000) }
  const activity = {
    atMs: minutesAgo(3),
    by: 'user' as const,
    userAgent: it.userAgent,
    address: it.address,
    method: text,
    application: it.application,
    reason: text,
    count: 1,
    isCurrent: false,
  }
  const account: AccountView = {
    csrfToken: text,
    user: { email: it.email, username: it.username, createdAtMs: minutesAgo(100_000) },
    nowMs,
    moreSessions: 7,
    sessions: [
      { ...session, id: `${text}1`, lastSeenAtMs: nowMs, current: true },
      { ...session, id: `${text}2`, lastSeenAtMs: minutesAgo(3), current: false },
      { ...session, id: `${text}3`, lastSeenAtMs: minutesAgo(60_000), current: false },
    ],
    email: {
      isVerified: true,
      requested: it.otherEmail,
      mailIsOn: true,
      canConfirm: true,
      isRecentlyAuthenticated: true,
    },
    newEmail: { value: it.otherEmail },
    username: { value: it.username },
    name: { value: it.person, isRequired: false },
    password: { errors: {} },
    data: { isRecentlyAuthenticated: true },
    deletion: {},
    activity: [
      { ...activity, type: 'login.succeeded', isCurrent: true },
      { ...activity, type: 'login.failed', count: 3 },
      { ...activity, type: 'grant.created' },
      { ...activity, type: 'user.roles_changed', by: 'operator' },
    ],
  }
  const list = {
    csrfToken: text,
    email: it.email,
    nowMs,
    isLater: false,
    nextCursor: text,
    hasPassword: true,
  } as const
  const linked = {
    id: `${text}1`,
    label: it.provider,
    iconUrl: it.iconUrl,
    email: it.email,
    linkedAtMs: nowMs,
    removable: true,
  }
  const signIn: SignInView = {
    hasPassword: true,
    isRecentlyAuthenticated: true,
    linked: [linked, { ...linked, id: `${text}2`, iconUrl: undefined, email: undefined }],
    linkable: [...providers, { name: text, label: it.provider }],
  }
  const passkey = { id: `${text}1`, name: text, addedAtMs: nowMs, lastUsedAtMs: nowMs, isSynced: true, removable: true }
  const passkeys: PasskeysView = {
    list: [passkey, { ...passkey, id: `${text}2`, lastUsedAtMs: undefined, isSynced: false, removable: false }],
    isRecentlyAuthenticated: true,
    offer: undefined,
    accepted: { rpId: text, userId: text, allAcceptedCredentialIds: [text] },
  }
  const withoutPassword: SignInView = { ...signIn, hasPassword: false, linked: [{ ...linked, removable: false }] }
  const shown = { csrfToken: text, email: it.email, hasPassword: true, providers, errors: {} }
  const reauthentication: ReauthenticationView = {
    ...shown,
    hasPasskeys: true,
    code: 'both',
    codeValue: text,
    returnTo: text,
    acr: text,
    target: text,
    setsUpNext: false,
  }
  const linkAccount: LinkAccountView = {
    ...shown,
    provider,
    pending: text,
    canReclaim: true,
    returnTo: text,
  }
  const problem: ProviderProblemView = {
    csrfToken: text,
    returnTo: text,
    provider,
    problem: 'unreachable',
    signedIn: false,
    requestId: text,
    email: it.email,
    canSignUp: true,
    accepted: [text],
    pending: text,
  }
  const limited = { kind: 'login_limited', of: 'in_network', retryAfterSeconds: 900, requestId: 'r-1' } as const
  const tooMany = { kind: 'too_many_attempts', retryAfterSeconds: 95, requestId: 'r-1' } as const
  const outdated = { kind: 'outdated', cookieMissing: false, requestId: 'r-3', details: text } as const
  const failure = (status: number, retryAfterSeconds?: number) => (pages: AllPages) =>
    pages.error({ status, message: text, requestId: text, retryAfterSeconds })

  const invitation: InvitationView = {
    csrfToken: text,
    token: text,
    email: it.email,
    otherEmail: undefined,
    username: it.username,
    byPassword: true,
    providers: [],
    errors: {},
  }
  const forgot = { csrfToken: text, returnTo: text, email: it.email, errors: {} }
  const reset = {
    csrfToken: text,
    token: text,
    email: it.email,
    otherEmail: undefined,
    providers: undefined,
    errors: {},
  }
  const notMyApp: NotMeView = {
    csrfToken: text,
    token: text,
    email: it.email,
    purpose: 'not_my_second_factor',
    provider: text,
    setsPassword: false,
    otherEmail: it.otherEmail,
    factor: { codes: false, recoveryCodes: true, passkeys: false },
    errors: { recovery_code: 'recovery_code_wrong' },
  }
  const notMe = Object.fromEntries(
    NOT_ME_PURPOSES.map((purpose) => [
      `this was not me: ${purpose}`,
      (pages: AllPages) => pages.notMe({ ...notMyApp, factor: undefined, setsPassword: true, purpose, errors: {} }),
    ]),
  )
  const deadLinks = Object.fromEntries(
    PURPOSES.map((purpose, index) => {
      const state = STATES[index % STATES.length] ?? 'used'
      return [`dead link: ${purpose}, ${state}`, (pages: AllPages) => pages.deadLink({ purpose, state })]
    }),
  )

  const newEmail = {
    csrfToken: text,
    token: text,
    email: it.email,
    newEmail: it.otherEmail,
    missing: undefined,
    errors: {},
  }
  const undoEmail = { ...newEmail, otherEmail: it.otherEmail, providers: undefined }

  const application = {
    clientId: text,
    name: it.application,
    place: it.host,
    scopes: [text, text],
    sinceMs: minutesAgo(90_000),
    lastUsedMs: minutesAgo(3),
  }

  return {
    ...clientStatesOf(it),
    'account with connected applications': (pages) =>
      pages.account({ ...account, applications: [application, { ...application, scopes: [] }], done: 'client' }),
    'account with everything and connected applications': (pages) =>
      pages.account({ ...EVERYTHING, applications: APPLICATIONS }),
    'account without connected applications': (pages) => pages.account({ ...account, applications: [] }),
    'new email': (pages) => pages.newEmail(newEmail),
    'new email in another browser': (pages) => pages.newEmail({ ...newEmail, missing: 'password' }),
    'new email in another browser, wrong password': (pages) =>
      pages.newEmail({ ...newEmail, missing: 'password', errors: { password: 'password_wrong' } }),
    'new email in another browser, without a password': (pages) => pages.newEmail({ ...newEmail, missing: 'login' }),
    'form of a user who was logged out': (pages) => pages.wasLoggedOut({ returnTo: text, requestId: text }),
    'form of the application, not sent': (pages) => pages.notSent({ returnTo: text, requestId: text }),
    'new email confirmed': (pages) => pages.newEmailConfirmed(it.email),
    'new email taken': (pages) => pages.newEmailTaken(newEmail),
    'undo of a change of email': (pages) => pages.undoEmail(undoEmail),
    'undo of a change of email, refused': (pages) =>
      pages.undoEmail({ ...undoEmail, otherEmail: undefined, errors: { password: 'password_common' } }),
    'undo of a change of email, with codes': (pages) =>
      pages.undoEmail({ ...undoEmail, factor: { codes: true, recoveryCodes: false, passkeys: false } }),
    'undo of a change of email, without passwords': (pages) => pages.undoEmail({ ...undoEmail, providers }),
    'undo of a change of email, by a login with a passkey': (pages) =>
      pages.undoEmail({ ...undoEmail, providers, factor: { codes: false, recoveryCodes: false, passkeys: true } }),
    'undo of a disabled account': (pages) => pages.undoWaits({ email: it.email, expiresAtMs: nowMs }),
    'check your mail after signup': (pages) => pages.checkMail({ email: it.email, after: 'signup', returnTo: text }),
    'check your mail after login': (pages) => pages.checkMail({ email: it.email, after: 'login', returnTo: undefined }),
    'email confirmed': (pages) => pages.emailConfirmed({ email: it.email }),
    'email taken since the signup': (pages) => pages.emailTaken({ email: it.email }),
    'confirm email': (pages) => pages.confirmEmail(linkOf(it)),
    'confirm email in another browser': (pages) => pages.proveAccount(proveAccount(it)),
    'confirm email in another browser, refused': (pages) =>
      pages.proveAccount({ ...proveAccount(it), errors: { password: 'password_wrong' } }),
    'take over refused': (pages) =>
      pages.proveAccount({ ...proveAccount(it), hasPassword: false, errors: { new_password: 'password_common' } }),
    'confirm email without passwords': (pages) => pages.proveAccount({ ...proveAccount(it), passwords: false }),
    'confirm signup': (pages) => pages.confirmSignup(confirmSignup(it)),
    'confirm signup in another browser, refused': (pages) =>
      pages.confirmSignup({
        ...confirmSignup(it),
        choosesPassword: true,
        username: it.username,
        errors: { password: 'password_common', username: 'username_taken' },
      }),
    login: (pages) => pages.login(login),
    'login without signup': (pages) => pages.login({ ...login, signupOpen: false, returnTo: undefined, email: '' }),
    'login with providers': (pages) => pages.login({ ...login, providers }),
    'login with providers, without signup': (pages) => pages.login({ ...login, providers, signupOpen: false }),
    'login, last with a password': (pages) => pages.login({ ...login, providers, lastWay: 'password' }),
    'login, last with a passkey': (pages) => pages.login({ ...login, providers, lastWay: 'passkey' }),
    'login, last with a provider': (pages) => pages.login({ ...login, providers, lastWay: providers[0]?.name }),
    'login with the email or the username': (pages) => pages.loginWithBoth({ ...login, email: '' }),
    'login with the email or the username, refused': (pages) =>
      pages.loginWithBoth({ ...login, problem: { kind: 'credentials_wrong', loginWith: 'both' } }),
    'login with the email or the username, incomplete': (pages) =>
      pages.loginWithBoth({ ...login, errors: { email: 'email_or_username_missing' } }),
    'login with many providers': (pages) =>
      pages.login({ ...login, providers: [...providers, ...providers, ...providers, ...providers, ...providers] }),
    'login without passwords': (pages) => pages.login({ ...login, passwords: false, providers }),
    'login by passkey alone': (pages) => pages.login({ ...login, passwords: false }),
    'login after deletion': (pages) => pages.login({ ...login, notice: 'deleted' }),
    'login after logout': (pages) => pages.login({ ...login, notice: 'signed_out' }),
    'login refused': (pages) => pages.login({ ...login, problem: { kind: 'credentials_wrong' } }),
    'login incomplete': (pages) =>
      pages.login({ ...login, errors: { email: 'email_missing', password: 'password_missing' } }),
    'login held up': (pages) => pages.login({ ...login, problem: tooMany }),
    'login limited': (pages) => pages.login({ ...login, problem: limited }),
    'login limited anywhere': (pages) => pages.login({ ...login, problem: { ...limited, of: 'anywhere' } }),
    'login limited in a known browser': (pages) =>
      pages.login({ ...login, problem: { ...limited, of: 'in_known_browser' } }),
    'login limited for the network': (pages) => pages.login({ ...login, problem: { ...limited, of: 'of_network' } }),
    'login of an old page': (pages) => pages.login({ ...login, problem: outdated }),
    signup: (pages) => pages.signup(signup),
    'signup with providers': (pages) => pages.signup({ ...signup, providers }),
    'signup refused': (pages) =>
      pages.signup({
        ...signup,
        errors: { email: 'email_taken', username: 'username_invalid', password: 'password_common' },
      }),
    'signup while busy': (pages) =>
      pages.signup({ ...signup, problem: { kind: 'busy', retryAfterSeconds: 2, requestId: 'r-2' } }),
    'signup closed': (pages) => pages.signup({ ...signup, closed: true }),
    'signup by providers': (pages) => pages.signup({ ...signup, byPassword: false, providers }),
    'signup of some domains': (pages) => pages.signup({ ...signup, acceptedDomains: [text, text] }),
    'signup of another domain': (pages) =>
      pages.signup({ ...signup, acceptedDomains: [text], errors: { email: { acceptedDomains: [text] } } }),
    'signup with a name': (pages) => pages.signup({ ...signup, name: { value: it.person, isRequired: false } }),
    'signup with a name that is missing': (pages) =>
      pages.signup({ ...signup, name: { value: '', isRequired: true }, errors: { name: 'name_missing' } }),
    'signup without usernames': (pages) => pages.signup({ ...signup, username: undefined }),
    'redirect loop': (pages) =>
      pages.redirectLoop({ email: it.email, returnTo: `/${text}`, issuer: text, nowMs, requestId: text }),
    logout: (pages) => pages.logout({ csrfToken: text, returnTo: text, signedIn: true, email: it.email }),
    'logged out': (pages) => pages.logout({ csrfToken: text, returnTo: undefined, signedIn: false }),
    account: (pages) => pages.account(account),
    'account with everything': (pages) => pages.account(EVERYTHING),
    'account without usernames': (pages) => pages.account({ ...account, username: undefined }),
    'account after a change': (pages) => pages.account({ ...account, done: 'password' }),
    'account with one session': (pages) => pages.account({ ...account, sessions: account.sessions.slice(0, 1) }),
    'account with another email refused': (pages) =>
      pages.account({ ...account, newEmail: { value: text, error: 'email_same' } }),
    'account with an unconfirmed email, before re-authentication': (pages) =>
      pages.account({
        ...account,
        email: { isVerified: false, mailIsOn: true, canConfirm: true, isRecentlyAuthenticated: false },
      }),
    'account without mail': (pages) =>
      pages.account({
        ...account,
        email: { isVerified: false, mailIsOn: false, canConfirm: false, isRecentlyAuthenticated: true },
      }),
    'name refused': (pages) =>
      pages.account({ ...account, name: { value: it.person, isRequired: false, problem: 'name_invalid' } }),
    'account without a name that is required': (pages) =>
      pages.account({ ...account, name: { value: '', isRequired: true } }),
    'username refused': (pages) =>
      pages.account({ ...account, username: { value: it.username, error: 'username_taken' } }),
    'password refused': (pages) =>
      pages.account({
        ...account,
        password: { errors: { current_password: 'password_wrong', new_password: { minLength: 8 } } },
      }),
    'deletion refused': (pages) => pages.account({ ...account, deletion: { error: 'password_wrong' } }),
    'account of an old page': (pages) =>
      pages.account({ ...account, problem: { ...outdated, cookieMissing: true }, username: { value: it.username } }),
    'account held up': (pages) => pages.account({ ...account, problem: tooMany }),
    'account with providers': (pages) => pages.account({ ...account, signIn, done: 'linked' }),
    'account with providers after a change of the password': (pages) =>
      pages.account({ ...account, signIn, done: 'password' }),
    'account with providers, before re-authentication': (pages) =>
      pages.account({ ...account, signIn: { ...signIn, isRecentlyAuthenticated: false } }),
    'account without password': (pages) => pages.account({ ...account, signIn: withoutPassword, done: 'confirmed' }),
    'account without password, before re-authentication': (pages) =>
      pages.account({ ...account, signIn: { ...withoutPassword, isRecentlyAuthenticated: false } }),
    'first password refused': (pages) =>
      pages.account({
        ...account,
        signIn: withoutPassword,
        password: { errors: { new_password: { minLength: 8 } } },
      }),
    'account without passkeys': (pages) =>
      pages.account({ ...account, passkeys: { ...passkeys, list: [], offer: 'after_password', accepted: undefined } }),
    'account without passkeys, after a sign-in by mail': (pages) =>
      pages.account({ ...account, passkeys: { ...passkeys, list: [], offer: 'after_mail', accepted: undefined } }),
    'account of a user who logs in by mail': (pages) =>
      pages.byMail.account({ ...account, signIn: withoutPassword, passkeys: { ...passkeys, list: [] } }),
    'account with passkeys': (pages) => pages.account({ ...account, passkeys, done: 'passkey_added' }),
    'account with passkeys, before re-authentication': (pages) =>
      pages.account({ ...account, passkeys: { ...passkeys, isRecentlyAuthenticated: false } }),
    'name of a passkey refused': (pages) =>
      pages.account({
        ...account,
        passkeys,
        refusedPasskeyName: { id: passkey.id, name: text, problem: 'passkey_name' },
      }),
    'account before re-authentication': (pages) =>
      pages.account({
        ...account,
        data: { isRecentlyAuthenticated: false },
        deletion: { isBehindConfirmation: true },
        secondFactor: { csrfToken: text, hasApp: undefined, recoveryCodes: 0, trustedBrowsers: 1 },
      }),
    'account without activity': (pages) => pages.account({ ...account, activity: [] }),
    devices: (pages) => pages.devices({ ...list, sessions: account.sessions, done: 'session' }),
    'devices, last page': (pages) =>
      pages.devices({ ...list, isLater: true, nextCursor: undefined, hasPassword: false, sessions: [] }),
    activity: (pages) => pages.activity({ ...list, activity: account.activity }),
    'activity, last page': (pages) =>
      pages.activity({ ...list, isLater: true, nextCursor: undefined, hasPassword: false, activity: [] }),
    're-authentication': (pages) => pages.reauthentication(reauthentication),
    're-authentication by provider': (pages) => pages.reauthentication({ ...reauthentication, hasPassword: false }),
    're-authentication by nothing': (pages) =>
      pages.reauthentication({ ...reauthentication, hasPassword: false, providers: [] }),
    're-authentication refused': (pages) =>
      pages.reauthentication({ ...reauthentication, errors: { password: 'password_wrong' } }),
    're-authentication held up': (pages) => pages.reauthentication({ ...reauthentication, problem: tooMany }),
    'link account': (pages) => pages.linkAccount(linkAccount),
    'link account by provider': (pages) => pages.linkAccount({ ...linkAccount, hasPassword: false }),
    'link account by the email alone': (pages) =>
      pages.linkAccount({ ...linkAccount, hasPassword: false, providers: [] }),
    'link account refused': (pages) => pages.linkAccount({ ...linkAccount, errors: { password: 'password_wrong' } }),
    'link account limited': (pages) => pages.linkAccount({ ...linkAccount, problem: limited }),
    'link account held up': (pages) => pages.linkAccount({ ...linkAccount, problem: tooMany }),
    'provider away': (pages) => pages.providerProblem({ ...problem, email: undefined, retryAfterSeconds: 5 }),
    'provider gave no email': (pages) => pages.providerProblem({ ...problem, problem: 'email_unverified' }),
    'provider gave an email of another domain': (pages) =>
      pages.providerProblem({ ...problem, problem: 'email_domain_not_accepted' }),
    'provider connected elsewhere': (pages) =>
      pages.providerProblem({ ...problem, problem: 'linked_elsewhere', signedIn: true, intent: 'link' }),
    'provider refused by a link': (pages) =>
      pages.providerProblem({ ...problem, problem: 'other_email', entry: { purpose: 'invite', token: text } }),
    'provider unknown': (pages) =>
      pages.providerProblem({ ...problem, problem: 'unreadable', provider: undefined, email: undefined }),
    welcome: (pages) => pages.welcome({ email: it.email, host: it.host, signupOpen: true, requestId: text }),
    'welcome, signed out': (pages) =>
      pages.welcome({ email: undefined, host: it.host, signupOpen: true, requestId: text }),
    'forgot password': (pages) => pages.forgotPassword(forgot),
    'forgot password refused': (pages) => pages.forgotPassword({ ...forgot, errors: { email: 'email_invalid' } }),
    'forgot password without mail': (pages) => pages.forgotWithoutMail(),
    'link sent': (pages) => pages.linkSent(),
    'reset password': (pages) => pages.resetPassword(reset),
    'reset password in place of another account': (pages) =>
      pages.resetPassword({ ...reset, otherEmail: it.otherEmail }),
    'reset without passwords': (pages) => pages.resetPassword({ ...reset, providers }),
    'reset without passwords, by mail': (pages) => pages.byMail.resetPassword({ ...reset, providers }),
    'undo of a change of email, without passwords, by mail': (pages) =>
      pages.byMail.undoEmail({ ...undoEmail, providers: [] }),
    'reset with codes and passkeys': (pages) =>
      pages.resetPassword({ ...reset, factor: { codes: true, recoveryCodes: true, passkeys: true } }),
    'reset with a recovery code, refused': (pages) => {
      const factor = { codes: false, recoveryCodes: true, passkeys: true }
      return pages.resetPassword({ ...reset, factor, errors: { recovery_code: 'recovery_code_wrong' } })
    },
    'reset without passwords, with a code': (pages) => {
      const factor = { codes: true, recoveryCodes: true, passkeys: false }
      return pages.resetPassword({ ...reset, providers, factor })
    },
    'reset without passwords, with passkeys alone': (pages) => {
      const factor = { codes: false, recoveryCodes: false, passkeys: true }
      return pages.resetPassword({ ...reset, providers, factor })
    },
    'reset with passkeys alone, refused': (pages) => {
      const factor = { codes: false, recoveryCodes: false, passkeys: true }
      return pages.resetPassword({ ...reset, factor, errors: { passkey_response: 'passkey_wrong' } })
    },
    'reset with passkeys alone, without one': (pages) => {
      const factor = { codes: false, recoveryCodes: false, passkeys: true }
      return pages.resetPassword({ ...reset, factor, errors: { code: 'code_missing' } })
    },
    'reset password refused': (pages) => pages.resetPassword({ ...reset, errors: { password: 'password_common' } }),
    invitation: (pages) => pages.invitation(invitation),
    'invitation in place of another account': (pages) =>
      pages.invitation({ ...invitation, otherEmail: it.otherEmail, username: undefined }),
    'invitation refused': (pages) =>
      pages.invitation({ ...invitation, errors: { password: 'password_common', username: 'username_taken' } }),
    'invitation held up': (pages) => pages.invitation({ ...invitation, problem: tooMany }),
    'invitation by providers': (pages) => pages.invitation({ ...invitation, byPassword: false, providers }),
    'invitation that ends with "Continue"': (pages) =>
      pages.byMail.invitation({ ...invitation, byPassword: false, providers }),
    'invitation with providers': (pages) => pages.invitation({ ...invitation, providers }),
    'other ways in': (pages) =>
      pages.otherWaysIn({ csrfToken: text, returnTo: `/${text}`, linked: signIn.linked, passkeys: passkeys.list }),
    'passkeys as the other ways in': (pages) =>
      pages.otherWaysIn({ csrfToken: text, returnTo: '/', linked: [], passkeys: passkeys.list }),
    ...emailSignInStatesOf(it),
    ...secondFactorStatesOf(it),
    ...deadLinks,
    ...notMe,
    'this was not me, a wrong recovery code': (pages) => pages.notMe(notMyApp),
    'this was not me, a bad password': (pages) =>
      pages.notMe({ ...notMyApp, setsPassword: true, errors: { password: 'password_common' } }),
    'error 400': failure(400),
    'error 403': failure(403),
    'error 403 of an old page': (pages) =>
      pages.error({ status: 403, message: text, requestId: text, retryAfterSeconds: undefined, returnTo: text }),
    'error 404': failure(404),
    'error 409': failure(409),
    'error 410': failure(410),
    'error 422': failure(422),
    'error 429': failure(429, 30),
    'error 500': failure(500),
    'error 503': failure(503, 2),
  }
}
