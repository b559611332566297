const counted = (count: number, one: string, many: string): string => `${count} ${count === 1 ? one : many}`

/** Rounds up: 90 → "2 minutes". The text is never shorter than the wait. */
const wait = (seconds: number): string => {
  if (seconds < 60) return counted(Math.max(1, Math.ceil(seconds)), 'second', 'seconds')
  if (seconds < 3600) return counted(Math.ceil(seconds / 60), 'minute', 'minutes')
  return counted(Math.ceil(seconds / 3600), 'hour', 'hours')
}

/** These are all texts of the pages. Another language would be another object of this type. */
export const texts = {
  email: 'Email',
  username: 'Username',
  password: 'Password',
  currentPassword: 'Current password',
  usernameHint: '3 to 30 letters, digits, _ or -. Left empty, it is made from your email.',
  usernameRule: '3 to 30 letters, digits, _ or -.',
  logIn: 'Log in',
  createAccount: 'Create an account',
  continueWith: (provider: string): string => `Continue with ${provider}`,
  logOut: 'Log out',
  logOutAs: 'You are logged in as',
  providerUnnamed: 'the other service',
  logInWith: (provider: string): string => `Log in with ${provider}`,
  tryAgainWith: (provider: string): string => `Try again with ${provider}`,
  logInOtherwise: 'Log in another way',
  connect: (provider: string): string => `Connect ${provider}`,
  connectToAccount: (provider: string): string => `Connect ${provider} to your account`,
  accountExists: 'There is already an account with',
  connectByProof: (provider: string): string => `To connect ${provider} to it, show that it is yours.`,
  connectBy: (provider: string, connected: readonly string[]): string =>
    connected.length === 1
      ? `To connect ${provider} to it, log in with ${connected[0]}: that is connected to it already.`
      : `To connect ${provider} to it, log in with one of these: they are connected to it already.`,
  passwordHere: (appName: string): string => `Your ${appName} password`,
  notYours: 'Not your account?',
  reclaimOpen: 'I don’t have that password, or I never made this account',
  reclaimOpenOther: 'That isn’t mine, or I never made this account',
  reclaimAbout: (provider: string): string =>
    `Nobody has shown yet that this email is theirs; ${provider} confirms that it is yours. So you can take the account over:`,
  reclaimEndsPassword: 'Its password stops working.',
  reclaimEndsSessions: 'All its sessions are logged out.',
  reclaimEndsConnections: 'Its other connections are removed.',
  reclaimEndsRoles: 'Any roles that it was given are taken away.',
  reclaimKeeps: 'What is in it stays, and is yours.',
  reclaimButton: 'Take over and end all other access',

  confirm: 'Confirm it’s you',
  confirmAbout: 'Log in once more, so that nobody else at this device can make this change.',
  confirmImpossible: (appName: string): string =>
    `There is nothing here by which you could log in once more. Ask whoever runs ${appName}.`,
  confirmButton: 'Confirm',
  confirmOtherwise: 'Confirm another way',
  backToAccount: 'Back to your account',

  account: 'Your account',
  onThisPage: 'On this page',
  connectedSince: 'Connected since',
  onlyWayIn: 'Your only way to log in, so it stays.',
  disconnect: 'Disconnect',
  disconnectOf: (provider: string, email: string | undefined): string =>
    email ? `Disconnect ${provider}, ${email}` : `Disconnect ${provider}`,

  errorStatus: (status: number): string => `Error ${status}`,
  tryAgainIn: (seconds: number): string => `Try again in ${wait(seconds)}.`,
  /** These words, in any text of the pages, become a link to the people who help. */
  askingForHelp: (appName: string): string[] => [
    `Ask whoever runs ${appName}`,
    `ask whoever runs ${appName}`,
    `tell whoever runs ${appName}`,
    `contact the people who run ${appName}`,
    'ask for help',
  ],
  home: (appName: string): string => `Go to ${appName}`,
}
