import { passkeyDone } from './passkey-texts.ts'
import { secondFactorDone } from './second-factor-texts.ts'

/** These are the sections of the account page, in its order. */
export type SectionId =
  | 'email-section'
  | 'name-section'
  | 'username-section'
  | 'ways-in'
  | 'passkeys'
  | 'change-password'
  | 'set-password'
  | 'second-factor'
  | 'sessions'
  | 'activity'
  | 'delete-account'

/** These are the words for a change, and the section of the account page that shows them. */
interface Done {
  text: string
  section: SectionId | undefined
}

const inSection = <Name extends string>(section: SectionId | undefined, said: Readonly<Record<Name, string>>) =>
  Object.fromEntries(Object.entries<string>(said).map(([name, text]) => [name, { text, section }])) as Record<
    Name,
    Done
  >

/** The account page says what was done if its address has `?done=NAME`, and the browser has just done it. */
export const accountDone = {
  ...inSection('email-section', {
    email_requested: 'We have sent a link to your new address. Open it to make the change.',
    email_cancelled: 'Your email address stays as it is.',
    email_verified: 'Your email address is confirmed.',
    verification_sent: 'We have sent you a message. Open the link in it to confirm your email address.',
  }),
  ...inSection('name-section', { name: 'Your name was changed.' }),
  ...inSection('username-section', { username: 'Your username was changed.' }),
  ...inSection('ways-in', {
    linked: 'Connected. You can log in with it from now on.',
    unlinked: 'Disconnected. It no longer logs you in here, and every other session was logged out.',
  }),
  ...inSection('passkeys', passkeyDone),
  ...inSection('change-password', {
    password: 'Your password was changed, and every other session was logged out.',
    password_set: 'Your password was set, and every other session was logged out.',
  }),
  ...inSection('second-factor', secondFactorDone),
  ...inSection('sessions', {
    session: 'The session was logged out.',
    sessions: 'All other sessions were logged out.',
  }),
  /** The address of the page says for which section it is. */
  ...inSection(undefined, { confirmed: 'Thank you. You can make your changes now.' }),
}

export type AccountDone = keyof typeof accountDone

export const isAccountDone = (name: string | undefined): name is AccountDone =>
  name !== undefined && Object.hasOwn(accountDone, name)
