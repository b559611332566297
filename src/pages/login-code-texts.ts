/** The texts of the page that asks for a code at a login. */
export const loginCodeTexts = {
  title: 'Enter your code',
  titlePasskey: 'One more step',
  loggingInAs: 'You are logging in as',
  confirmingAs: 'You are confirming that you are',
  connecting: (provider: string): string => `${provider} is connected to this account once the code is right.`,
  passkeyAbout: 'This account has a passkey. Use it now, or enter a recovery code.',
  passkeyAlone: 'This account has a passkey. Use it now.',
  trust: (duration: string): string => `Trust this browser for ${duration}`,
  trustAbout: 'No code is asked for in it until then.',
  button: 'Log in',
  buttonConfirm: 'Confirm',
  helpTitle: 'Lost your phone or your passkey?',
  help: (appName: string): string =>
    `Use a recovery code: you were shown ten of them when you set this up. If none is left, ask whoever runs ${appName} to remove this step from your account.`,
  helpWithoutCodes: (appName: string): string =>
    `No recovery code is left on this account, so ask whoever runs ${appName} to remove this step from it.`,
  other: 'Log in as someone else',
}

/** Those of the page that has a user set up a second factor. */
export const enrolTexts = {
  title: 'Set up a second step',
  about: (appName: string): string =>
    `${appName} asks for more than a password. Set this up now; from the next time on, it takes a moment.`,
  loggingInAs: 'You are logging in as',
  byPasskey: 'With this device',
  byPasskeyAbout: 'A passkey logs you in with a fingerprint, your face or a PIN.',
  byApp: 'With an app on your phone',
  helpTitle: 'No phone at hand?',
  help: (appName: string): string =>
    `An app on this computer will do as well, and so do most password managers. Or come back when you have your phone: nothing is lost, and you log in with your password then. If neither is possible, ask whoever runs ${appName}.`,
  other: 'Log in as someone else',
}
