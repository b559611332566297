/** These texts are about codes of an app, and about recovery codes. */
export const secondFactorTexts = {
  title: 'Codes from an app',
  code: 'Code',
  sixDigits: 'Six digits',
  codeHint: 'The 6 digits that your authenticator app shows now.',
  recoveryCode: 'Recovery code',
  recoveryCodeHint: 'One of those that you have kept.',
  useRecoveryCode: 'Use a recovery code instead',
  useCode: 'Use a code from your app instead',

  setUpTitle: 'Set up codes from an app',
  replaceTitle: 'Set up another app',
  setUpAbout:
    'When you log in, you are then asked for a code from an app on your phone as well. A thief of your password doesn’t have it.',
  replaceAbout: 'Codes from your present app work until you have entered one from the new app here.',
  getApp:
    'Open an authenticator app on your phone. Any will do: your phone’s own password app, or one of your app store.',
  scan: 'Scan this picture with it.',
  qrCode: 'QR code for your authenticator app',
  onThisPhone: 'Is the app on this device?',
  openApp: 'Open it',
  cannotScan: 'If it can’t scan, enter this key there:',
  enterCode: 'Enter the code that the app shows.',
  confirm: 'Confirm',

  on: 'On',
  onAbout: 'When you log in, you are asked for a code from your app as well.',
  replace: 'Set up another app',
  removeOpen: 'Remove the app …',
  removeAbout: 'From then on you are asked for no code when you log in. Every other session is logged out.',
  removeRequired:
    'A second step is required here: when you log in with your password, you will be asked to set one up again.',
  remove: 'Remove the app',

  recoveryCodes: 'Recovery codes',
  recoveryAbout: 'For the day your phone or passkey is lost: each of them stands in for it once.',
  left: (count: number): string => {
    if (count === 0) return 'None are left.'
    return count === 1 ? '1 of 10 is left.' : `${count} of 10 are left.`
  },
  renewAbout: 'New ones replace those that you have.',
  renew: 'Make new recovery codes',

  codesTitle: 'Your recovery codes',
  codesOf: 'For the day your phone or passkey is lost. They are good for',
  codesAbout:
    'This is the only time you see them. Print them, save them in a password manager, or write them down, and keep them apart from your phone. Each works once, in place of a code or passkey.',
  copy: 'Copy all',
  copied: 'Copied',
  download: 'Download',
  kept: 'I have kept them, go on',
  file: (appName: string, email: string, codes: readonly string[]): string => `Recovery codes of ${email}
for ${appName}

${codes.join('\n')}

Each works once, in place of a code or passkey. New ones replace all of them.
`,

  section: 'Second step',
  sectionAbout: 'A code that is asked for when you log in.',
  appOff: 'Codes from an app are not set up.',
  appOn: 'Codes from an app are set up.',
  recoveryLeft: (count: number): string => {
    if (count === 0) return 'No recovery codes are left: make new ones.'
    return count === 1 ? 'One recovery code is left.' : `${count} recovery codes are left.`
  },
  manage: 'Change this',
  trusted: (count: number): string =>
    count === 1 ? 'One browser is not asked for a code.' : `${count} browsers are not asked for a code.`,
  forgetTrusted: 'Forget all trusted browsers',
} as const

/** These texts say what is wrong with a field. */
export const codeProblems = {
  code_missing: 'Enter a code.',
  passkey_challenge: 'That took too long, or was begun in another browser. Use your passkey once more.',
  passkey_unreadable: 'What the browser sent of your passkey cannot be read. Use it once more.',
  passkey_unknown: 'This passkey is not one of your account: it may have been removed. Try another.',
  passkey_wrong: 'This passkey could not be checked. Try once more, or another one.',
  code_wrong: 'That code is wrong, or was used already. Wait for the next one.',
  recovery_code_wrong: 'That recovery code is wrong, or was used already. Check it, or use another one.',
  first_code_wrong:
    'That code is wrong. Enter the one that the app shows now, and check that the clock of your phone sets itself.',
  set_up_expired: 'That took more than ten minutes. Scan the new picture; the entry in your app can go.',
}
