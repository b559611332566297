import { createAccountPage } from './account.ts'
import { createFirstFactorPage, type FirstFactorView } from './first-factor.ts'
import { createFrame, type Frame, type FrameSettings } from './frame.ts'
import { createLinkAccountPage } from './link-account.ts'
import { createLoginCodePage, type LoginCodeView } from './login-code.ts'
import { createLoginEnrolPage, type LoginEnrolView } from './login-enrol.ts'
import { createLoginPage } from './login.ts'
import { createLogoutPage } from './logout.ts'
import { createProviderProblemPage } from './provider-problem.ts'
import { createReauthenticationPage, createStepUpImpossiblePage } from './reauthentication.ts'
import {
  createForgotPasswordPage,
  createForgotWithoutMailPage,
  createLinkSentPage,
} from './recovery/forgot-password.ts'
import type { NewEmailView, UndoEmailView, UndoWaitsView } from './recovery/email-views.ts'
import { createNewEmailConfirmedPage, createNewEmailPage, createNewEmailTakenPage } from './recovery/new-email.ts'
import { createNotMePage } from './recovery/not-me.ts'
import { createInvitationPage } from './recovery/invitation.ts'
import { createOtherWaysInPage } from './recovery/other-ways-in.ts'
import { createResetPasswordPage } from './recovery/reset-password.ts'
import { createUndoEmailPage, createUndoWaitsPage } from './recovery/undo-email.ts'
import { createVerificationPages, type VerificationPages } from './recovery/verification-pages.ts'
import type {
  ForgotPasswordView,
  NotMeView,
  InvitationView,
  OtherWaysInView,
  ResetPasswordView,
} from './recovery/views.ts'
import {
  createRecoveryCodesFile,
  createRecoveryCodesPage,
  createSecondFactorPage,
} from './second-factor/second-factor.ts'
import type { RecoveryCodesView, SecondFactorView } from './second-factor/views.ts'
import { createRedirectLoopPage } from './redirect-loop.ts'
import { createSignupPage } from './signup.ts'
import { createWelcomePage } from './welcome.ts'
import type {
  AccountView,
  LinkAccountView,
  LoginView,
  LogoutView,
  ProviderProblemView,
  ReauthenticationView,
  RedirectLoopView,
  SignupView,
  WelcomeView,
} from './views.ts'

export { type AccountDone, isAccountDone } from './account-done.ts'
export { shownActivity } from './activity-texts.ts'
export type { ActivityView } from './activity-view.ts'
export type { Asset } from './assets.ts'
export type { FirstFactorView } from './first-factor.ts'
export type * from './passkey-views.ts'
export type { LoginCodeView } from './login-code.ts'
export type * from './recovery/email-views.ts'
export type * from './recovery/verification-views.ts'
export type * from './recovery/views.ts'
export type * from './second-factor/views.ts'
export type * from './views.ts'
export { isFieldProblem } from './views.ts'

/** All pages. Each function takes a view and returns a whole document. */
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
  /** A text file. */
  recoveryCodesFile(content: { email: string; codes: readonly string[] }): string
}

/** Creates the pages for one appearance; without a frame, `createFrame` makes it, and throws as it does. */
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
