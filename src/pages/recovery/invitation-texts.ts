/** The texts of the page of an invitation. */
export const invitationTexts = {
  title: (appName: string): string => `Join ${appName}`,
  invited: (appName: string): string => `You are invited to ${appName}. The email address of your account is`,
  /** Before the ways, of which the last one follows `or`. */
  from: 'To log in from now on,',
  password: 'choose a password',
  passkey: 'add a passkey',
  provider: 'continue with a provider that knows this address',
  or: ' or ',
  leaves: 'You are logged in here with another account, which this logs out:',
  usernameHint: '3 to 30 letters, digits, _ or -. You can change it later.',
  button: 'Save and log in',
  notYours: 'Not your address? Then close this page: nothing happens.',
} as const
