/** The texts of the page behind "This wasn't me". */
export const notMeTexts = {
  title: 'Was this not you?',
  account: 'This is about the account',
  /** What the user was told of, by the purpose of the link. */
  happened: {
    not_me: (provider: string): string => `${provider} was connected to it, and can log in to it since then.`,
    not_my_browser: (): string => 'Someone logged in to it in a browser where nobody had logged in to it before.',
    not_my_passkey: (): string => 'A passkey was added to it, and logs in to it since then.',
    not_my_second_factor: (): string => 'An authenticator app was set up for it, and logging in takes its codes.',
  },
  about: 'If it was not you, we make your account safe now:',
  /** What goes. */
  removes: {
    not_me: (provider: string): string => `${provider} is disconnected.`,
    not_my_browser: undefined,
    not_my_passkey: (): string => 'That passkey is removed, and so are recovery codes that were made since.',
    not_my_second_factor: (): string =>
      'The authenticator app is removed, and so are recovery codes that were made since.',
  },
  endsSessions: 'Every device is logged out.',
  setsPassword: 'Your new password replaces the old one, which someone else may know.',
  leaves: 'You are logged in here with another account, which this logs out:',
  /** Where the account has no password. */
  asksPassword: 'You choose a new password on the next page.',
  /** Where users have no passwords. */
  asksProvider: 'You choose what you log in with on the next page.',
  button: 'This wasn’t me',
  buttonWithPassword: 'This wasn’t me: save and log in',
  otherwise: 'If it was you, close this page. Nothing changes.',
} as const
