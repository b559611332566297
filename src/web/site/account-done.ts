import { passkeyDone } from './passkey-texts.ts'
import { secondFactorDone } from './second-factor-texts.ts'

/** These are the sections of the account page, in its order. */
export type SectionId = 'profile' | 'signing-in' | 'two-step' | 'devices' | 'activity' | 'delete'

/**
 * These are parts of sections that an address leads to, such as that of a message, of a document or of the application
 * (CONTRACT.md 4.19). Some were sections once.
 */
export type RowId =
  | 'email-section'
  | 'name-section'
  | 'username-section'
  | 'change-password'
  | 'set-password'
  | 'ways-in'
  | 'passkeys'
  | 'connect'
  | 'second-factor'
  | 'sessions'
  | 'download-data'
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
  ...inSection('profile', {
    email_requested: 'We sent a link to your new address. Open it to make the change.',
    email_cancelled: 'Your email address stays as it is.',
    email_verified: 'Your email address is confirmed.',
    verification_sent: 'We sent you a message. Open the link in it to confirm your email address.',
    name: 'Your name was changed.',
    username: 'Your username was changed.',
  }),
  ...inSection('signing-in', {
    password: 'Your password was changed, and all other devices were logged out.',
    password_set: 'Your password was set, and all other devices were logged out.',
    linked: 'Connected. You can log in with it from now on.',
    unlinked: 'Disconnected. It no longer logs you in here, and all other devices were logged out.',
    ...passkeyDone,
  }),
  ...inSection('two-step', secondFactorDone),
  ...inSection('devices', {
    session: 'The device was logged out.',
    sessions: 'All other devices were logged out.',
  }),
  /** The address of the page says for which section it is. */
  ...inSection(undefined, { confirmed: 'Thank you. You can make your changes now.' }),
}

export type AccountDone = keyof typeof accountDone

export const isAccountDone = (name: string | undefined): name is AccountDone =>
  name !== undefined && Object.hasOwn(accountDone, name)
