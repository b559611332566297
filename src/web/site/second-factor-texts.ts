/** The account page has these texts about codes of an app, and about recovery codes. */
export const secondFactorTexts = {
  setUpTitle: 'Set up codes from an app',
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
