/** The texts of the page on which a user authenticates again, and of those around it. */
export const stepUpTexts = {
  aboutSite: (appName: string): string => `${appName} wants to be sure that it’s you. Log in once more to go on.`,
  setsUpNext:
    'What comes next needs more than one proof that it’s you, and your account has only one so far. Log in once more, then set up the second.',
  code: 'Code',
  codeHint: 'The 6 digits in your authenticator app, or one of your recovery codes.',
  recoveryCode: 'Recovery code',
  recoveryCodeHint: 'One of the codes that you kept when you added your first passkey.',
  lost: 'I have no code',
  lostAbout: (appName: string): string =>
    `Use one of your recovery codes: you were asked to keep them when you set this up. If you have none left, ask whoever runs ${appName}.`,
  codeAfterProvider: 'You are asked for a code afterwards.',

  impossible: 'This can’t be done here',
  impossibleAbout: (appName: string): string =>
    `What you wanted needs more than one proof that it’s you, such as a code from your phone. ${appName} has that switched off at the moment, so it can’t ask you.`,
  impossibleAdvice: (appName: string): string => `Ask whoever runs ${appName}.`,
}
