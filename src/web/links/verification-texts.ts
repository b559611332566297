/** These texts are shown on the pages on which an email is proved. */
export const verificationTexts = {
  backToLogin: 'Back to login',

  confirm: 'Confirm your email address',
  confirmAbout: 'Is this your email address?',
  confirmButton: 'Yes, it is mine',
  leaves: 'You are logged in here with another account, which this logs out:',

  proveAbout: 'You have opened the link in another browser than the one that asked for it. To confirm',
  proveByPassword: 'enter the password of the account.',
  proveBySession: 'log in to the account in this browser, and open the link again.',
  proveByReclaim: 'choose a password. The account is yours then.',
  proveButton: 'Confirm and log in',
  reclaimOpen: 'I don’t have that password, or I never made this account',
  reclaimAbout:
    'Nobody has shown yet that this email address is theirs, and you read its mail. So you can take the account over:',
  reclaimEnds: [
    'The old password stops working.',
    'All devices are logged out.',
    'Connections to other services are removed.',
    'Roles that were given to the account are taken away.',
    'What is in the account stays, and is yours.',
  ],
  reclaimButton: 'Take over and end all other access',

  finish: 'Finish your account',
  finishAbout: 'Your account will have the email address',
  finishChoose: 'You have opened the link in another browser than the one of the signup, so choose a password here.',
  finishButton: 'Create account',

  confirmed: 'Your email address is confirmed',
  confirmedAbout: 'There is nothing left to do here.',

  taken: 'This address has an account',
  takenAbout: 'An account was made since you signed up. It has the email address',
  takenAdvice: 'Log in to it. If you do not know its password, choose a new one.',
  forgot: 'Forgot your password?',
} as const
