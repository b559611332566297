/** The script of passkeys may show these texts. `passkeys.js` uses the names of the members. */
export const passkeyScriptTexts = {
  waiting: 'Go on in the dialog of your browser …',
  notUsed:
    'Nothing was done. Either it was cancelled, or there is no passkey for this site here. Try again, or use another way.',
  notAdded: 'No passkey was added: it was cancelled, or this device could not make one. You can try again.',
  timedOut: 'That took too long, so nothing was done. Try again.',
  alreadyAdded: 'This device or security key already has a passkey for your account. You can log in with it.',
  noAuthenticator:
    'This device can’t do that: a passkey needs a screen lock, a fingerprint, a face or a PIN. Set one up, or use your phone or a security key.',
  otherAddress: 'Passkeys don’t work under this address. Open the site under its usual address, and try again.',
  unsupported: 'This browser can’t use passkeys. Update it, or use another one.',
  unknown: 'This passkey does not log you in here: it may have been removed. Use another one, or another way.',
  outdated: 'This page was out of date, so nothing was done. Load it again, and try once more.',
  tooMany: 'Too many attempts. Wait a minute, then try again.',
  networkAway: 'The network did not answer. Check your connection, then try again.',
  unavailable: 'That did not work, and it is not your fault. Try again in a moment.',
  failed: 'Your browser could not do that. Try again, or use another way.',
}

/** These texts say on the account page what was done. */
export const passkeyDone = {
  passkey_added: 'Your passkey was added. You can log in with it from now on. Every other session was logged out.',
  passkey_renamed: 'The passkey has its new name.',
  passkey_removed: 'The passkey was removed. It no longer logs you in here, and every other session was logged out.',
}

export const passkeyNameProblem = 'Use 1 to 64 characters, in one line.'

export const passkeyTexts = {
  passkeys: 'Passkeys',
  logIn: 'Log in with a passkey',
  confirm: 'Confirm with a passkey',
  use: 'Use a passkey',
  add: 'Add a passkey',
  addAndLogIn: 'Add a passkey and log in',
  withoutScripts: {
    'log-in': 'To log in with a passkey, allow scripts for this site (JavaScript), and load the page again.',
    confirm: 'To confirm with a passkey, allow scripts for this site (JavaScript), and load the page again.',
    fill: 'To use a passkey, allow scripts for this site (JavaScript), and load the page again.',
    add: 'To add a passkey, allow scripts for this site (JavaScript), and load the page again.',
  },

  what: [
    'A passkey logs you in, and there is nothing to remember or to type.',
    'It is kept on your phone, your computer or a security key, and often synced between your devices.',
    'To use it, you unlock it as you unlock the device: with a fingerprint, your face or a PIN.',
    'What you unlock it with stays on the device: this site never gets to see it.',
    'A passkey works on this site only, so nobody can trick you into giving it to another.',
  ],
  offer: 'Log in without your password from now on?',
  about: 'Log in with your fingerprint, your face or a PIN.',
  whatOpen: 'What is a passkey?',
  added: 'Added',
  lastUsed: 'last used',
  neverUsed: 'not used yet',
  synced: 'Synced between your devices',
  bound: 'Kept on one device',
  rename: 'Rename',
  name: 'Name',
  saveName: 'Save name',
  remove: 'Remove',
  removeOf: (name: string): string => `Remove the passkey ${name}`,
  /** This comes before a name, if no heading says what it is of. */
  passkey: 'Passkey',
  removeAbout: 'It no longer logs you in here, and every other session is logged out.',
  onlyWayIn: 'Your only way to log in, so it stays.',
  confirmFirst: 'To add, rename or remove a passkey, first confirm that it’s you.',
}
