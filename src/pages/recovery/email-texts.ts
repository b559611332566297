/** The texts of the pages of links that change an email address, or undo the change. */
export const emailTexts = {
  confirm: 'Confirm your new email address',
  confirmFor: 'The account',
  confirmChanges: 'changes its email address to',
  confirmNotYours: 'If this account is not yours, close this page: nothing changes then.',
  confirmButton: 'Use the new address',
  /** In another browser than the one that asked for the change. */
  confirmByPassword:
    'You have opened the link in another browser than the one that asked for it. To confirm, enter the password of this account.',
  confirmByLogin:
    'You have opened the link in another browser than the one that asked for it. To confirm, log in to this account here, and open the link again.',

  confirmed: 'Your email address was changed',
  confirmedIs: 'From now on you log in with',
  confirmedWithoutPassword: 'Your account has the address',
  toAccount: 'Go to your account',

  taken: 'This address is taken',
  takenAbout: 'Another account has this address by now:',
  takenLeaves: 'Nothing was changed. Your account still has',

  undo: 'Keep your email address',
  undoFor: 'This is for the account whose address is, or was,',
  undoOf: 'It undoes the change to',
  undoEnds: [
    'The account has your address again.',
    'Every device that is logged in is logged out.',
    'Whatever was connected to the account since the change was asked for is disconnected.',
    'Your new password replaces the old one, which someone else may know.',
  ],
  /** In place of the last one, where users have no passwords. */
  undoConnects: 'What you choose here gets you in from now on.',
  undoLeaves: 'You are logged in here with another account, which this logs out:',
  undoButton: 'Undo the change and log in',

  undoWaits: 'This account is disabled',
  undoWaitsFor: 'So nothing can be changed now, and nothing was. This is about the account whose address is, or was,',
  undoWaitsUntil: 'Once the account is enabled again, the link in your message works, until',
  undoWaitsAdvice: (appName: string): string => `To have it enabled, ask whoever runs ${appName}.`,
} as const
