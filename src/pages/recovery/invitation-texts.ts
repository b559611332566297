/** The texts of the page of an invitation. */
export const invitationTexts = {
  title: (appName: string): string => `Join ${appName}`,
  invited: (appName: string): string => `You are invited to ${appName}. The email address of your account is`,
  byPassword: 'Choose a password to log in with from now on.',
  byBoth: 'Choose a password to log in with from now on, or continue with a provider that knows this address.',
  byProvider: 'Continue with a provider that knows this address.',
  leaves: 'You are logged in here with another account, which this logs out:',
  usernameHint: '3 to 30 letters, digits, _ or -. You can change it later.',
  button: 'Save and log in',
  notYours: 'Not your address? Then close this page: nothing happens.',
} as const
