import { createAccountPage } from './account.ts'
import { type Asset, createAssets } from './assets.ts'
import { type ProviderTargets, policyFor } from './content-security-policy.ts'
import { createErrorPage } from './error.ts'
import type { Branding } from './branding.ts'
import { createLayout } from './layout.ts'
import { createLinkAccountPage } from './link-account.ts'
import { createLoginPage } from './login.ts'
import { createLogoutPage } from './logout.ts'
import { createNotSentPage, type NotSentView } from './not-sent.ts'
import { createProviderIcons } from './provider-icons.ts'
import { createProviderProblemPage } from './provider-problem.ts'
import { createReauthenticationPage } from './reauthentication.ts'
import { createDeadLinkPage } from './recovery/dead-link.ts'
import {
  createForgotPasswordPage,
  createForgotWithoutMailPage,
  createLinkSentPage,
} from './recovery/forgot-password.ts'
import type { NewEmailView, UndoEmailView } from './recovery/email-views.ts'
import { createNewEmailConfirmedPage, createNewEmailPage, createNewEmailTakenPage } from './recovery/new-email.ts'
import { createNotMePage } from './recovery/not-me.ts'
import { createInvitationPage } from './recovery/invitation.ts'
import { createOtherWaysInPage } from './recovery/other-ways-in.ts'
import { createResetPasswordPage } from './recovery/reset-password.ts'
import { createUndoEmailPage, createUndoneButDisabledPage } from './recovery/undo-email.ts'
import { createVerificationPages, type VerificationPages } from './recovery/verification-pages.ts'
import type {
  DeadLinkView,
  ForgotPasswordView,
  NotMeView,
  InvitationView,
  OtherWaysInView,
  ResetPasswordView,
} from './recovery/views.ts'
import { createRedirectLoopPage } from './redirect-loop.ts'
import { createSignupPage } from './signup.ts'
import { createWelcomePage } from './welcome.ts'
import type {
  AccountView,
  ErrorView,
  LinkAccountView,
  LoginView,
  LogoutView,
  ProviderProblemView,
  ReauthenticationView,
  RedirectLoopView,
  SignupView,
  WelcomeView,
} from './views.ts'

export type { Asset } from './assets.ts'
export type { ProviderTargets } from './content-security-policy.ts'
export type { Branding } from './branding.ts'
export type * from './recovery/email-views.ts'
export type * from './recovery/verification-views.ts'
export type * from './recovery/views.ts'
export type * from './views.ts'
export { createSessionScript } from './session-script.ts'
export { isFieldProblem } from './views.ts'

/** All pages. Each function takes a view and returns a whole document. */
export interface Pages extends VerificationPages {
  /** Stylesheet, script and icons; their paths change with their content. */
  assets: Asset[]
  /** The `Content-Security-Policy` header of a page that may have been opened on these hosts. */
  contentSecurityPolicy: (hosts: readonly string[]) => string
  login(view: LoginView): string
  signup(view: SignupView): string
  logout(view: LogoutView): string
  account(view: AccountView): string
  reauthentication(view: ReauthenticationView): string
  linkAccount(view: LinkAccountView): string
  providerProblem(view: ProviderProblemView): string
  notSent(view: NotSentView): string
  redirectLoop(view: RedirectLoopView): string
  welcome(view: WelcomeView): string
  deadLink(view: DeadLinkView): string
  forgotPassword(view: ForgotPasswordView): string
  forgotWithoutMail(): string
  linkSent(): string
  resetPassword(view: ResetPasswordView): string
  otherWaysIn(view: OtherWaysInView): string
  notMe(view: NotMeView): string
  invitation(view: InvitationView): string
  newEmail(view: NewEmailView): string
  newEmailConfirmed(newEmail: string): string
  newEmailTaken(view: Pick<NewEmailView, 'email' | 'newEmail'>): string
  undoEmail(view: UndoEmailView): string
  emailUndoneButDisabled(email: string): string
  error(view: ErrorView): string
  /** The path of the built-in icon of a well-known provider, by its name in the configuration. */
  iconOf(providerName: string): string | undefined
}

const NO_PROVIDERS: ProviderTargets = { iconUrls: [], formActions: [] }

/**
 * Creates the pages for one name, logo, accent colour and list of providers; reads the stylesheet and the script.
 * Throws a TypeError on an invalid colour, address or source.
 */
export const createPages = ({
  providers = NO_PROVIDERS,
  ...branding
}: Branding & { providers?: ProviderTargets }): Pages => {
  const assets = createAssets(branding.appName, branding.accentColor)
  const icons = createProviderIcons()
  const layout = createLayout(branding, assets)
  return {
    assets: [assets.style, assets.script, assets.icon, ...icons.assets],
    contentSecurityPolicy: policyFor(branding.logoUrl, providers),
    iconOf: icons.iconOf,
    login: createLoginPage(layout),
    signup: createSignupPage(layout),
    logout: createLogoutPage(layout),
    account: createAccountPage(layout, icons.password),
    reauthentication: createReauthenticationPage(layout),
    linkAccount: createLinkAccountPage(layout),
    providerProblem: createProviderProblemPage(layout),
    notSent: createNotSentPage(layout),
    redirectLoop: createRedirectLoopPage(layout),
    welcome: createWelcomePage(layout),
    deadLink: createDeadLinkPage(layout),
    forgotPassword: createForgotPasswordPage(layout),
    forgotWithoutMail: createForgotWithoutMailPage(layout),
    linkSent: createLinkSentPage(layout),
    resetPassword: createResetPasswordPage(layout),
    ...createVerificationPages(layout),
    otherWaysIn: createOtherWaysInPage(layout),
    notMe: createNotMePage(layout),
    invitation: createInvitationPage(layout),
    newEmail: createNewEmailPage(layout),
    newEmailConfirmed: createNewEmailConfirmedPage(layout),
    newEmailTaken: createNewEmailTakenPage(layout),
    undoEmail: createUndoEmailPage(layout),
    emailUndoneButDisabled: createUndoneButDisabledPage(layout),
    error: createErrorPage(layout),
  }
}
