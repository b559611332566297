import { type HtmlFragment, html } from '../../lib/html.ts'
import type { Layout } from './layout.ts'
import { t } from '../../languages/texts.ts'
import { entryHref } from './providers.ts'

interface Carried {
  /** This was typed, or is the address of the account. */
  email: string
  returnTo?: string | undefined
}

const forgotHref = ({ email, returnTo }: Carried): string => entryHref('/auth/password/forgot', returnTo, email)

const forgotText = ({ passwords }: Layout): string => t(passwords ? 'login.forgot' : 'login.forgot_without_passwords')

/**
 * A user who has forgotten the password can ask for a link or, while no mail is sent, ask the people who run the
 * service.
 */
export const forgotLink = (layout: Layout, carried: Carried): HtmlFragment => {
  const { mailIsOn, passwords, support } = layout
  return html`<p class="about">${
    mailIsOn
      ? html`<a href="${forgotHref(carried)}">${forgotText(layout)}</a>`
      : t.html(passwords ? 'login.forgot_support' : 'login.trouble_support', { support: support.sentence() })
  }</p>`
}

/** Makes the link that stands beside the label of a password. While no mail is sent, `forgotLink` is below the form. */
export const forgotBeside = (layout: Layout, carried: Carried): HtmlFragment | undefined =>
  layout.mailIsOn
    ? html`<a class="aside" href="${forgotHref(carried)}">${forgotText(layout)}</a>
`
    : undefined

/** Makes the line that replaces that link. */
export const forgotBelow = (layout: Layout, carried: Carried): HtmlFragment | undefined =>
  layout.mailIsOn ? undefined : forgotLink(layout, carried)

const resetTexts = {
  forgot: 'Forgot your password?',
  forgotAbout: 'Enter your email address, and we send you a link to choose a new password.',
  forgotButton: 'Send me a link',
  backToLogin: 'Back to login',

  sent: 'Check your mail',
  sentAbout: 'If there is an account, we have sent a link. Follow it to choose a new password.',
  sentAdvice: (appName: string): string =>
    `Nothing there after a few minutes? Look among the spam, and check the address that you entered. If that does not help, ask whoever runs ${appName}.`,
  tryAgain: 'Enter the address again',

  /** This is shown while no mail is sent. */
  askOperator: (appName: string): string => `Ask whoever runs ${appName}.`,
  withoutMail: (appName: string): string => `Ask whoever runs ${appName} for a link to choose a new password.`,

  reset: 'Choose a new password',
  resetFor: 'This is for the account',
  resetAbout: 'Saving it logs you in here, and logs you out everywhere else.',
  resetLeaves: 'You are logged in here with another account, which this logs out:',
  resetButton: 'Save and log in',

  waysIn: 'Is all of this yours?',
  waysInAbout:
    'Your new password is saved, and you are logged in. Besides the password, each of these gets into your account. Remove what is not yours.',
  goOn: 'All of this is mine',
}

/** These replace them if users have no passwords: a link connects a provider to the account. */
const WITHOUT_PASSWORDS: typeof resetTexts = {
  ...resetTexts,
  forgot: 'Can’t log in?',
  forgotAbout: 'Enter your email address, and we send you a link that lets you into your account.',
  sentAbout: 'If there is an account, we have sent a link. It is there to choose what you log in with.',
  withoutMail: (appName: string): string => `Ask whoever runs ${appName} for a link that lets you into your account.`,
  reset: 'Back into your account',
  resetAbout: 'Choose what you log in with from now on. It logs out every device that was logged in.',
  waysInAbout:
    'You are logged in. Each of these gets into your account. Remove what is not yours, and what you no longer use.',
}

export const resetTextsOf = ({ passwords }: { passwords: boolean }): typeof resetTexts =>
  passwords ? resetTexts : WITHOUT_PASSWORDS
