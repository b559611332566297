export const passkeyNameProblem = 'Use 1 to 64 characters, in one line.'

export const passkeyTexts = {
  passkeys: 'Passkeys',
  logIn: 'Log in with a passkey',
  confirm: 'Confirm with a passkey',
  use: 'Use a passkey',
  add: 'Add a passkey',
  addAndLogIn: 'Add a passkey and log in',

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
