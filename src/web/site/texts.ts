import type { NamedProblem } from '../../http/form-view.ts'
import { passkeyNameProblem } from './passkey-texts.ts'
import { codeProblems } from './second-factor-texts.ts'

const fieldProblems: Record<NamedProblem, string> = {
  email_missing: 'Enter your email address.',
  email_or_username_missing: 'Enter your email address or username.',
  email_invalid: 'Enter an email address such as name@example.com.',
  email_taken: 'There is already an account with this email address.',
  email_same: 'This is your email address already.',
  password_missing: 'Enter a password.',
  password_too_long: 'Use at most 256 characters.',
  password_common: 'This is a commonly used password, and among the first that are guessed. Choose another.',
  password_known: 'This password is known to others, and among those that are tried. Choose another.',
  password_repeats: 'This is the same few characters again and again, and easy to guess. Choose another.',
  password_same_as_account: 'Choose a password that is more than your email address or name with digits added.',
  password_same_as_site: 'Choose a password that is more than the name of this site with digits added.',
  password_wrong: 'That password is wrong.',
  username_invalid: 'Use 3 to 30 characters: letters from a to z, digits, _ and -.',
  username_taken: 'This username is taken. Choose another.',
  name_missing: 'Enter your name.',
  name_invalid: 'Use at most 100 characters, in one line. If you pasted your name, type it instead.',
  ...codeProblems,
  passkey_name: passkeyNameProblem,
}

/** These are all texts of the pages. Another language would be another object of this type. */
export const texts = {
  email: 'Email',
  username: 'Username',
  password: 'Password',
  currentPassword: 'Current password',
  usernameRule: '3 to 30 letters, digits, _ or -.',
  fieldProblems,
  continueWith: (provider: string): string => `Continue with ${provider}`,
  logOut: 'Log out',
  logOutAs: 'You are logged in as',
  connect: (provider: string): string => `Connect ${provider}`,

  confirm: 'Confirm it’s you',
  confirmAbout: 'Log in once more, so that nobody else at this device can make this change.',
  confirmImpossible: (appName: string): string =>
    `There is nothing here by which you could log in once more. Ask whoever runs ${appName}.`,
  confirmButton: 'Confirm',
  backToAccount: 'Back to your account',

  account: 'Your account',
  onThisPage: 'On this page',
  onlyWayIn: 'Your only way to log in, so it stays.',
  disconnect: 'Disconnect',
  disconnectOf: (provider: string, email: string | undefined): string =>
    email ? `Disconnect ${provider}, ${email}` : `Disconnect ${provider}`,

  errorStatus: (status: number): string => `Error ${status}`,
  /** These words, in any text of the pages, become a link to the people who help. */
  askingForHelp: (appName: string): string[] => [
    `Ask whoever runs ${appName}`,
    `ask whoever runs ${appName}`,
    `tell whoever runs ${appName}`,
    `contact the people who run ${appName}`,
    'ask for help',
  ],
  home: (appName: string): string => `Go to ${appName}`,
}
