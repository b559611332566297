/** The texts of the page behind "This wasn't me". */
export const notMeTexts = {
  title: 'Was this not you?',
  account: 'This is about the account',
  newBrowser: 'Someone logged in to it in a browser where nobody had logged in to it before.',
  connected: (provider: string): string => `${provider} was connected to it, and can log in to it since then.`,
  about: 'If it was not you, we make your account safe now:',
  disconnects: (provider: string): string => `${provider} is disconnected.`,
  endsSessions: 'Every device is logged out.',
  asksPassword: 'You choose a new password on the next page.',
  /** Where users have no passwords. */
  asksProvider: 'You choose what you log in with on the next page.',
  button: 'This wasn’t me',
  otherwise: 'If it was you, close this page. Nothing changes.',
} as const
