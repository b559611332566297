import { createAccountPage } from './account/account-page.ts'
import type { AccountView } from './account/account-view.ts'
import {
  type ReauthenticationView,
  createReauthenticationPage,
  createStepUpImpossiblePage,
} from './account/reauthentication-page.ts'
import {
  type NewEmailView,
  type UndoEmailView,
  type UndoWaitsView,
  createNewEmailConfirmedPage,
  createNewEmailPage,
  createNewEmailTakenPage,
  createUndoEmailPage,
  createUndoWaitsPage,
} from './links/email-pages.ts'
import { type InvitationView, createInvitationPage } from './links/invitation-page.ts'
import { type NotMeView, createNotMePage } from './links/not-me-page.ts'
import { type OtherWaysInView, createOtherWaysInPage } from './links/other-ways-in-page.ts'
import {
  type ForgotPasswordView,
  type ResetPasswordView,
  createForgotPasswordPage,
  createForgotWithoutMailPage,
  createLinkSentPage,
  createResetPasswordPage,
} from './links/password-pages.ts'
import { type VerificationPages, createVerificationPages } from './links/verification-pages.ts'
import { type LoginView, createLoginPage } from './login/login-page.ts'
import { type RedirectLoopView, createRedirectLoopPage } from './login/redirect-loop-page.ts'
import { type WelcomeView, createWelcomePage } from './login/welcome-page.ts'
import { type LogoutView, createLogoutPage } from './logout/logout-page.ts'
import { type LinkAccountView, createLinkAccountPage } from './providers/link-account-page.ts'
import { type ProviderProblemView, createProviderProblemPage } from './providers/provider-problem-page.ts'
import {
  type LoginCodeView,
  type LoginEnrolView,
  createLoginCodePage,
  createLoginEnrolPage,
} from './sign-in-code/code-page.ts'
import { type FirstFactorView, createFirstFactorPage } from './sign-in-code/first-factor-page.ts'
import {
  type RecoveryCodesView,
  type SecondFactorView,
  createRecoveryCodesFile,
  createRecoveryCodesPage,
  createSecondFactorPage,
} from './sign-in-code/second-factor-page.ts'
import { type SignupView, createSignupPage } from './signup/signup-page.ts'
import { type Frame, type FrameSettings, createFrame } from './site/frame.ts'

export { type AccountDone, isAccountDone, type SectionId } from './site/account-done.ts'
export { shownActivity } from './account/account-activity.ts'
export type { Asset } from './site/assets.ts'
export type { FirstFactorView } from './sign-in-code/first-factor-page.ts'
export type { LoginCodeView } from './sign-in-code/code-page.ts'

/** Each function takes a view and returns a whole document. */
export interface Pages extends Frame, VerificationPages {
  login(view: LoginView): string
  loginCode(view: LoginCodeView): string
  loginEnrol(view: LoginEnrolView): string
  signup(view: SignupView): string
  logout(view: LogoutView): string
  account(view: AccountView): string
  reauthentication(view: ReauthenticationView): string
  stepUpImpossible(): string
  firstFactor(view: FirstFactorView): string
  linkAccount(view: LinkAccountView): string
  providerProblem(view: ProviderProblemView): string
  redirectLoop(view: RedirectLoopView): string
  welcome(view: WelcomeView): string
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
  undoWaits(view: UndoWaitsView): string
  secondFactor(view: SecondFactorView): string
  recoveryCodes(view: RecoveryCodesView): string
  /** Makes a text file. */
  recoveryCodesFile(content: { email: string; codes: readonly string[] }): string
}

/** Creates the pages for one appearance. If no frame is given, `createFrame` makes it, and throws as it does. */
export const createPages = (settings: FrameSettings, frame = createFrame(settings)): Pages => {
  const { layout } = frame
  return {
    ...frame,
    login: createLoginPage(layout),
    loginCode: createLoginCodePage(layout),
    loginEnrol: createLoginEnrolPage(layout),
    signup: createSignupPage(layout),
    logout: createLogoutPage(layout),
    account: createAccountPage(layout, frame.passwordIcon),
    reauthentication: createReauthenticationPage(layout),
    stepUpImpossible: createStepUpImpossiblePage(layout),
    firstFactor: createFirstFactorPage(layout),
    linkAccount: createLinkAccountPage(layout),
    providerProblem: createProviderProblemPage(layout),
    redirectLoop: createRedirectLoopPage(layout),
    welcome: createWelcomePage(layout),
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
    undoWaits: createUndoWaitsPage(layout),
    secondFactor: createSecondFactorPage(layout),
    recoveryCodes: createRecoveryCodesPage(layout),
    recoveryCodesFile: createRecoveryCodesFile(layout),
  }
}
