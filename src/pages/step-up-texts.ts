/** The texts of the page on which a user authenticates again, and of those around it. */
export const stepUpTexts = {
  aboutSite: (appName: string): string => `${appName} wants to be sure that it’s you. Log in once more to go on.`,
  setsUpNext:
    'What comes next needs more than one proof that it’s you, and your account has only one so far. Log in once more, then set up the second.',
  lost: 'I have no code',
  lostAbout: (appName: string): string =>
    `Use one of your recovery codes: you were asked to keep them when you set this up. If you have none left, ask whoever runs ${appName}.`,
  lostAll: (appName: string): string => `No recovery code is left on your account, so ask whoever runs ${appName}.`,
  codeAfterProvider: 'You are asked for a code afterwards.',

  /** Before the first second factor or passkey, in a browser that is new to the account. */
  firstFactor: {
    titles: {
      ask: 'First, a message to you',
      sent: 'Check your mail',
      prove: 'Was it you?',
      other_browser: 'Open the link in the other browser',
    },
    askAbout: 'Before you set this up, we send a link to',
    askThen: 'Open it in this browser, and you can go on here.',
    askWhy:
      'From then on, what you set up is asked for. So that nobody else sets it up who only knows your password, the link comes first in a browser that you have used for less than three days.',
    send: 'Send me the link',
    sentTo: 'We have sent a link to',
    sentAbout: 'Open it in this browser, within half an hour, and you can go on.',
    sentAdvice: (appName: string): string =>
      `Nothing there after a few minutes? Look among the spam. If that does not help, ask whoever runs ${appName}.`,
    sendAgain: 'Send it again',
    proveAbout: 'You opened the link in our message. Go on if it was you who asked for it.',
    proveButton: 'It was me, go on',
    otherBrowserAbout:
      'This link works only in the browser in which it was asked for. Copy its address from the message, and open it there.',
    notYou: (appName: string): string =>
      `If you did not ask for it, someone else is logged in to your account: change your password at once, or ask whoever runs ${appName}.`,
  },

  impossible: 'This can’t be done here',
  impossibleAbout: (appName: string): string =>
    `What you wanted needs more than one proof that it’s you, such as a code from your phone. ${appName} has that switched off at the moment, so it can’t ask you.`,
  impossibleAdvice: (appName: string): string => `Ask whoever runs ${appName}.`,
}
