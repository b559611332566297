/** The texts where the page of a link asks for a second factor. */
export const askedFactorTexts = {
  about: 'Your mail alone does not get into this account, so we ask for more:',
  saveByPasskey: 'Use a passkey, and save',
  /** Where users have no passwords, and the account has no recovery codes. */
  passkeyAlone: 'Your account has a passkey: log in with it. Then choose on your account page what else gets you in.',
  lost: (appName: string): string => `Lost all of that? Ask whoever runs ${appName}.`,
} as const
