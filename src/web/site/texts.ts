import type { NamedProblem } from '../../http/form-view.ts'
import { passkeyNameProblem } from './passkey-texts.ts'
import { anyOfText } from '../../languages/formats.ts'
import { codeProblems } from './second-factor-texts.ts'

const counted = (count: number, one: string, many: string): string => `${count} ${count === 1 ? one : many}`

/** Rounds up: 90 → "2 minutes". The text is never shorter than the wait. */
const wait = (seconds: number): string => {
  if (seconds < 60) return counted(Math.max(1, Math.ceil(seconds)), 'second', 'seconds')
  if (seconds < 3600) return counted(Math.ceil(seconds / 60), 'minute', 'minutes')
  return counted(Math.ceil(seconds / 3600), 'hour', 'hours')
}

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

interface Failure {
  title: string
  advice: string
}

const failures: ReadonlyMap<number, Failure> = new Map([
  [400, { title: 'That request can’t be answered', advice: 'Check the address, or go back and try again.' }],
  [401, { title: 'You are not logged in', advice: 'Log in, then try again.' }],
  [403, { title: 'That request was refused', advice: 'Go back, reload the page, and try again.' }],
  [404, { title: 'Page not found', advice: 'Check the address, or start from one of these pages.' }],
  [405, { title: 'That can’t be done here', advice: 'Go back and try again from the page before.' }],
  [408, { title: 'That took too long', advice: 'Check your connection, go back, and try again.' }],
  [413, { title: 'That was too much at once', advice: 'Go back and shorten what you entered.' }],
  [415, { title: 'That format isn’t understood', advice: 'Go back and use the form on the page.' }],
  [429, { title: 'Too many requests', advice: 'Wait a little, then try again.' }],
  [503, { title: 'Back in a moment', advice: 'You are not logged out. Reload this page shortly.' }],
])

/** These are all texts of the pages. Another language would be another object of this type. */
export const texts = {
  lang: 'en',
  /** The locale formats dates and times. */
  locale: 'en-GB',

  documentDescription: (appName: string): string =>
    `Log in to ${appName}, create an account, or look after the one you have.`,
  /** This comes before the title of a page whose form had an error. */
  wrongTitle: 'Error: ',

  email: 'Email',
  emailOrUsername: 'Email or username',
  lastUsed: 'Last used',
  username: 'Username',
  optional: '(optional)',
  password: 'Password',
  currentPassword: 'Current password',
  newPassword: 'New password',
  newPasswordHint: (least: number): string => `At least ${least} characters. A few unrelated words make a good one.`,
  passwordTooShort: (least: number): string => `Use at least ${least} characters.`,
  usernameHint: '3 to 30 letters, digits, _ or -. Left empty, it is made from your email.',
  usernameRule: '3 to 30 letters, digits, _ or -.',
  show: 'Show',
  hide: 'Hide',
  showPassword: 'Show password',
  hidePassword: 'Hide password',
  fieldProblems,
  credentialsWrong: 'The email or password is wrong. Check both and try again.',
  credentialsWrongOfBoth: 'The email, username or password is wrong. Check both fields and try again.',
  tooManyAttempts: (seconds: number): string => `Too many attempts. Try again in ${wait(seconds)}.`,
  codesLocked: {
    browsers:
      'Too many wrong codes in a row: this browser is not known, and codes of your app are refused in it until you set a new password. A recovery code or passkey still works, and so does a browser in which you have logged in before.',
    links:
      'Too many wrong codes in a row: this browser is not known, and codes of your app are refused on this page. A recovery code or passkey still works, and so does a browser in which you have logged in before.',
    anywhere:
      'Too many wrong codes in a row: codes of your app are refused until you use a recovery code or a passkey, or set a new password.',
  },
  outdated: 'This page was out of date, so nothing was changed. Check what you typed, and send it again.',
  loggedInElsewhere: 'Logged in already, in another tab?',
  goOn: 'Go on',
  cookieMissing:
    'Your browser sent no cookie of this site, so nothing was changed. Allow cookies for it, and send this again.',
  busy: (seconds: number): string => `There is a lot going on right now. Try again in ${wait(seconds)}.`,

  logIn: 'Log in',
  newHere: 'New here?',
  createAccount: 'Create an account',
  continueWith: (provider: string): string => `Continue with ${provider}`,
  or: 'or',
  noticeDeleted: 'Your account was deleted.',
  noticeSignedOut: 'You are logged out.',
  noticeSignInEnded: 'Your login was not finished in time, or something has changed since. Please begin again.',
  noticeCheckMail:
    'First confirm your email address: we have sent you a message. Open the link in it, and you are logged in.',

  signUp: 'Create your account',
  signUpButton: 'Create account',
  logInInstead: 'Log in with this email',
  alreadyHere: 'Already have an account?',
  signUpByProvider: 'An account here begins with one of these:',
  emailHint: (domains: readonly string[]): string => `An address of ${anyOfText(domains)}.`,
  emailNotAscii: (asciiForm: string): string => `Enter this address as ${asciiForm}.`,
  emailNotAccepted: (domains: readonly string[]): string => `Use an email address of ${anyOfText(domains)}.`,
  signUpClosed: 'New accounts aren’t open',
  signUpClosedAdvice: (appName: string): string => `Ask whoever runs ${appName} for an account.`,

  logOut: 'Log out',
  logOutQuestion: 'Log out?',
  logOutAs: 'You are logged in as',
  stay: 'Stay logged in',
  loggedOut: 'You are logged out',
  loggedOutAdvice: 'You can close this page, or log in again.',

  connect: (provider: string): string => `Connect ${provider}`,

  confirm: 'Confirm it’s you',
  confirmAbout: 'Log in once more, so that nobody else at this device can make this change.',
  confirmImpossible: (appName: string): string =>
    `There is nothing here by which you could log in once more. Ask whoever runs ${appName}.`,
  confirmButton: 'Confirm',
  backToAccount: 'Back to your account',

  account: 'Your account',
  onThisPage: 'On this page',
  connectedSince: 'Connected since',
  onlyWayIn: 'Your only way to log in, so it stays.',
  disconnect: 'Disconnect',
  disconnectOf: (provider: string, email: string | undefined): string =>
    email ? `Disconnect ${provider}, ${email}` : `Disconnect ${provider}`,

  errorStatus: (status: number): string => `Error ${status}`,
  failures,
  failureUnexpected: {
    title: 'Something went wrong',
    advice: 'It is not your fault. Try again in a moment.',
  },
  tryAgainIn: (seconds: number): string => `Try again in ${wait(seconds)}.`,
  requestId: 'When you ask for help, mention request',
  /** These words, in any text of the pages, become a link to the people who help. */
  askingForHelp: (appName: string): string[] => [
    `Ask whoever runs ${appName}`,
    `ask whoever runs ${appName}`,
    `tell whoever runs ${appName}`,
    `contact the people who run ${appName}`,
    'ask for help',
  ],
  forOperator: 'For the operator',
  startAgain: 'Start again',

  loop: 'You keep coming back here',
  loopAbout: (appName: string): string =>
    `${appName} sends you to log in again and again, although you are logged in as`,
  loopAdvice: (appName: string): string =>
    `This is not your fault: something about ${appName} is not set up right. Try again in a minute. If that does not help, contact the people who run ${appName}, and mention the number below.`,
  loopTryAgain: 'Try again',
  loopDetailsAbout: 'Five times within ten seconds, a user with a valid session was redirected to the login page from',
  loopCauses: 'Usual causes:',
  loopIssuer:
    'The application verifies the access token itself, and expects another audience (aud) or issuer (iss). The issuer is',
  loopClock: 'Its clock is wrong. Here it is',
  loopKeys: 'It verifies with old public keys, or with those of another service.',
  loopCookie: 'The cookie with the access token does not reach it, because a proxy drops or shortens cookies.',
  loopOutage: 'It redirects to the login page on every error, and not on 401 alone.',
  home: (appName: string): string => `Go to ${appName}`,

  deviceOn: (browser: string, system: string): string => `${browser} on ${system}`,
  deviceUnknown: 'Unknown device',
  justNow: 'just now',
  inUtc: (dateAndTime: string): string => `${dateAndTime} UTC`,
}
