import { createAccountPage } from '../web/account/account-page.ts'
import { createActivityPage, createDevicesPage } from '../web/account/list-pages.ts'
import { createAnswerClient } from '../web/authorize/answer-client.ts'
import { createClientLogoutPage } from '../web/authorize/client-logout-page.ts'
import { createConsentPage } from '../web/authorize/consent-page.ts'
import { createProblemPage } from '../web/authorize/problem-page.ts'
import {
  createAskForCodePage,
  createPasskeyNeededPage,
  createSignInLinkPage,
  createTypeCodePage,
} from '../web/email-sign-in/pages.ts'
import {
  createNewEmailConfirmedPage,
  createNewEmailPage,
  createNewEmailTakenPage,
  createUndoEmailPage,
  createUndoWaitsPage,
} from '../web/links/email-pages.ts'
import { createInvitationPage } from '../web/links/invitation-page.ts'
import { createNotMePage } from '../web/links/not-me-page.ts'
import { createOtherWaysInPage } from '../web/links/other-ways-in-page.ts'
import {
  createForgotPasswordPage,
  createForgotWithoutMailPage,
  createLinkSentPage,
  createResetPasswordPage,
} from '../web/links/password-pages.ts'
import {
  createConfirmEmailPage,
  createConfirmSignupPage,
  createEmailConfirmedPage,
  createEmailTakenPage,
  createProveAccountPage,
} from '../web/links/verification-pages.ts'
import { createLoginPage } from '../web/login/login-page.ts'
import { createLogoutPage } from '../web/logout/logout-page.ts'
import { createLinkAccountPage } from '../web/providers/link-account-page.ts'
import {
  createReauthenticationPage,
  createStepUpImpossiblePage,
} from '../web/reauthentication/reauthentication-page.ts'
import { createFirstFactorPage } from '../web/second-factor/first-factor-page.ts'
import { createSecondFactorPage } from '../web/second-factor/second-factor-page.ts'
import { createLoginCodePage, createLoginEnrolPage } from '../web/sign-in-code/code-page.ts'
import { createCheckMailPage } from '../web/sign-in/check-mail-page.ts'
import { createProviderProblemPage } from '../web/sign-in/provider-problem-page.ts'
import { createRecoveryCodesFile, createRecoveryCodesPage } from '../web/sign-in/recovery-codes-page.ts'
import { createRedirectLoopPage } from '../web/sign-in/redirect-loop-page.ts'
import { createSignupPage } from '../web/signup/signup-page.ts'
import { createWelcomePage } from '../web/welcome/welcome-page.ts'
import { createFrame, type FrameSettings } from '../web/site/frame.ts'

/** Creates all pages for one appearance. Each function takes a view and returns a whole document. */
export const createAllPages = (settings: FrameSettings, frame = createFrame(settings)) => {
  const { layout } = frame
  const mailLayout = { ...layout, emailSignIn: true }
  return {
    ...frame,
    login: createLoginPage(layout),
    loginWithBoth: createLoginPage(layout, 'both'),
    loginCode: createLoginCodePage(layout),
    loginEnrol: createLoginEnrolPage(layout),
    signup: createSignupPage(layout),
    logout: createLogoutPage(layout),
    account: createAccountPage(layout),
    devices: createDevicesPage(layout),
    activity: createActivityPage(layout),
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
    checkMail: createCheckMailPage(layout),
    confirmEmail: createConfirmEmailPage(layout),
    proveAccount: createProveAccountPage(layout),
    confirmSignup: createConfirmSignupPage(layout),
    emailConfirmed: createEmailConfirmedPage(layout),
    emailTaken: createEmailTakenPage(layout),
    otherWaysIn: createOtherWaysInPage(layout),
    notMe: createNotMePage(layout),
    invitation: createInvitationPage(layout),
    newEmail: createNewEmailPage(layout),
    newEmailConfirmed: createNewEmailConfirmedPage(layout),
    newEmailTaken: createNewEmailTakenPage(layout),
    undoEmail: createUndoEmailPage(layout),
    undoWaits: createUndoWaitsPage(layout),
    askForCode: createAskForCodePage(mailLayout),
    typeCode: createTypeCodePage(mailLayout),
    signInLink: createSignInLinkPage(mailLayout),
    passkeyNeeded: createPasskeyNeededPage(mailLayout),
    /** Pages that differ where users sign in by mail. */
    byMail: {
      login: createLoginPage(mailLayout),
      signup: createSignupPage(mailLayout),
      account: createAccountPage(mailLayout),
      invitation: createInvitationPage(mailLayout),
      resetPassword: createResetPasswordPage(mailLayout),
      undoEmail: createUndoEmailPage(mailLayout),
      reauthentication: createReauthenticationPage(mailLayout),
    },
    secondFactor: createSecondFactorPage(layout),
    recoveryCodes: createRecoveryCodesPage(layout),
    consent: createConsentPage(layout),
    authorizeProblem: createProblemPage(layout),
    answerClient: createAnswerClient(layout, 'https://app.example.com/auth'),
    clientLogout: createClientLogoutPage(layout),
    recoveryCodesFile: createRecoveryCodesFile(layout),
  }
}

export type AllPages = ReturnType<typeof createAllPages>
