/** The texts of the account page about the email address. */
export const accountEmailTexts = {
  confirmed: 'Confirmed',
  notConfirmed: 'Not confirmed',
  sendAbout: 'Open the link in our message to confirm it.',
  sendButton: 'Send the message again',

  waiting: 'Waiting for your confirmation:',
  waitingAbout: 'We have sent a link there. Until you open it, nothing changes.',
  cancel: 'Keep the current address',

  newEmail: 'New email address',
  newEmailHint: 'We send a link there. Your address changes once you open it.',
  changeButton: 'Change email address',
  confirmFirst: 'Confirm it’s you to change your email address',
  /** While no mail is sent. */
  withoutMail: (appName: string): string => `To change your email address, ask whoever runs ${appName}.`,
} as const
