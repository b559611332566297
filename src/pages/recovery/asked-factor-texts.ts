/** The texts where the page of a link asks for a second factor. */
export const askedFactorTexts = {
  about: 'Your mail alone does not get into this account, so we ask for more:',
  code: 'Code from your authenticator app',
  recoveryCode: 'Recovery code',
  orRecoveryCode: 'Or one of your recovery codes.',
  lost: (appName: string): string => `Lost all of that? Ask whoever runs ${appName}.`,
} as const
