/** The texts of the page that asks for a code at a login. */
export const loginCodeTexts = {
  title: 'Enter your code',
  titlePasskey: 'One more step',
  loggingInAs: 'You are logging in as',
  confirmingAs: 'You are confirming that you are',
  connecting: (provider: string): string => `${provider} is connected to this account once the code is right.`,
  codeHint: 'The 6 digits that your authenticator app shows now, or one of your recovery codes.',
  recoveryCode: 'Recovery code',
  recoveryCodeHint: 'One of those that you have kept.',
  passkeyAbout: 'This account has a passkey, and a password alone is not enough here. Use the passkey.',
  passkeyInstead: 'Or use a passkey of this account.',
  trust: (days: number): string =>
    days === 1 ? 'Don’t ask again on this browser for a day' : `Don’t ask again on this browser for ${days} days`,
  trustShortly: 'Don’t ask again on this browser for some hours',
  button: 'Log in',
  buttonConfirm: 'Confirm',
  helpTitle: 'No code at hand?',
  help: (appName: string): string =>
    `Enter a recovery code: you were shown ten of them when you set this up. If you have none left, ask whoever runs ${appName} to switch the codes off for your account.`,
  other: 'Log in as someone else',
}
