import type { ReauthenticationView } from '../web/reauthentication/reauthentication-page.ts'
import type { AskForCodeView, SignInLinkView, TypeCodeView } from '../web/email-sign-in/pages.ts'
import type { LoginView } from '../web/login/login-page.ts'
import type { SignupView } from '../web/signup/signup-page.ts'
import type { AllPages } from './pages.ts'
import type { Sample } from './sample.ts'

/** The pages of sign-in by mail in every state that they can be in, as `states.ts` has the others. */
export const emailSignInStatesOf = (it: Sample): Record<string, (pages: AllPages) => string> => {
  const { text } = it
  const form = { csrfToken: text, returnTo: text, email: it.email, errors: {} }
  const providers = [{ name: text, label: it.provider, iconUrl: it.iconUrl }]
  const login: LoginView = { ...form, providers, passwords: true, signupOpen: true }
  const signup: SignupView = {
    ...form,
    username: it.username,
    acceptedDomains: [],
    byPassword: false,
    providers,
    closed: false,
  }
  const ask: AskForCodeView = form
  const code: TypeCodeView = { ...form, signupOpen: true, isNew: true }
  const name = { value: text, isRequired: true }
  const link: SignInLinkView = {
    csrfToken: text,
    token: text,
    email: it.email,
    browser: 'own',
    makesAccount: false,
    reclaims: false,
    otherEmail: undefined,
    errors: {},
  }
  const confirm: ReauthenticationView = {
    csrfToken: text,
    email: it.email,
    hasPassword: false,
    hasPasskeys: false,
    byMail: true,
    code: undefined,
    providers: [],
    returnTo: text,
    acr: text,
    target: text,
    setsUpNext: false,
    errors: {},
  }
  return {
    'login with a button for a code by mail': (pages) => pages.byMail.login(login),
    'login by mail in place of passwords': (pages) => pages.byMail.login({ ...login, passwords: false }),
    'login by mail alone': (pages) => pages.byMail.login({ ...login, passwords: false, providers: [] }),
    'login, last by mail': (pages) => pages.byMail.login({ ...login, passwords: false, lastWay: 'email' }),
    'signup by mail': (pages) => pages.byMail.signup({ ...signup, byMail: true }),
    'code by mail, asked for': (pages) => pages.askForCode(ask),
    'code by mail, asked for without an address': (pages) =>
      pages.askForCode({ ...ask, email: '', errors: { email: 'email_missing' } }),
    'code by mail, asked for too often': (pages) =>
      pages.askForCode({ ...ask, problem: { kind: 'too_many_attempts', retryAfterSeconds: 95, requestId: 'r-1' } }),
    'code by mail': (pages) => pages.typeCode(code),
    'code by mail, refused': (pages) => pages.typeCode({ ...code, isNew: false, errors: { code: 'mail_code_wrong' } }),
    'code by mail, for a new account': (pages) => pages.typeCode({ ...code, isNew: false, code: text, name }),
    'code by mail, for a new account without a name': (pages) =>
      pages.typeCode({ ...code, isNew: false, code: text, name, errors: { name: 'name_missing' } }),
    'code by mail, to confirm': (pages) => pages.typeCode({ ...code, confirms: { acr: text } }),
    'link that logs in': (pages) => pages.signInLink(link),
    'link that logs in, in another browser': (pages) =>
      pages.signInLink({ ...link, browser: 'other', otherEmail: it.otherEmail }),
    'link that logs in, of an operator': (pages) => pages.signInLink({ ...link, browser: 'operator' }),
    'link that logs in, to an account that nobody has proved': (pages) =>
      pages.signInLink({ ...link, reclaims: true, browser: 'other' }),
    'link that makes an account': (pages) => pages.signInLink({ ...link, makesAccount: true, name }),
    'link that makes an account, without a name': (pages) =>
      pages.signInLink({ ...link, makesAccount: true, name, errors: { name: 'name_missing' } }),
    'link of an account with a passkey': (pages) => pages.passkeyNeeded({ email: it.email }),
    're-authentication by mail': (pages) => pages.byMail.reauthentication(confirm),
    're-authentication by mail or a provider': (pages) => pages.byMail.reauthentication({ ...confirm, providers }),
  }
}
