import { passkeyDone } from './passkey-texts.ts'
import { secondFactorDone } from './second-factor/texts.ts'

/** What was done, as the account page says it when its address has `?done=NAME`. */
export const accountDone = {
  username: 'Your username was changed.',
  password: 'Your password was changed, and every other session was logged out.',
  password_set: 'Your password was set, and every other session was logged out.',
  linked: 'Connected. You can log in with it from now on.',
  unlinked: 'Disconnected. It no longer logs you in here, and every other session was logged out.',
  confirmed: 'Thank you. You can make your changes now.',
  email_requested: 'We have sent a link to your new address. Open it to make the change.',
  email_cancelled: 'Your email address stays as it is.',
  email_verified: 'Your email address is confirmed.',
  verification_sent: 'We have sent you a message. Open the link in it to confirm your email address.',
  session: 'The session was logged out.',
  sessions: 'All other sessions were logged out.',
  ...passkeyDone,
  ...secondFactorDone,
}

export type AccountDone = keyof typeof accountDone

export const isAccountDone = (name: string | undefined): name is AccountDone =>
  name !== undefined && Object.hasOwn(accountDone, name)
