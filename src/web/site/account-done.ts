import type { TextKey } from '../../languages/texts.ts'

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
  text: TextKey
  section: SectionId | undefined
}

const inSection = <Name extends string>(section: SectionId | undefined, said: Readonly<Record<Name, TextKey>>) =>
  Object.fromEntries(Object.entries<TextKey>(said).map(([name, text]) => [name, { text, section }])) as Record<
    Name,
    Done
  >

/** The account page says what was done if its address has `?done=NAME`, and the browser has just done it. */
export const accountDone = {
  ...inSection('profile', {
    email_requested: 'account.done.email_requested',
    email_cancelled: 'account.done.email_cancelled',
    email_verified: 'account.done.email_verified',
    verification_sent: 'account.done.verification_sent',
    name: 'account.done.name',
    username: 'account.done.username',
  }),
  ...inSection('signing-in', {
    password: 'account.done.password',
    password_set: 'account.done.password_set',
    linked: 'account.done.linked',
    unlinked: 'account.done.unlinked',
    passkey_added: 'account.done.passkey_added',
    passkey_renamed: 'account.done.passkey_renamed',
    passkey_removed: 'account.done.passkey_removed',
  }),
  ...inSection('two-step', {
    second_factor_set_up: 'account.done.app_set_up',
    trusted_browsers_forgotten: 'account.done.trust_ended',
    recovery_codes_renewed: 'account.done.codes_renewed',
    second_factor_removed: 'account.done.app_removed',
  }),
  ...inSection('devices', { session: 'account.done.device', sessions: 'account.done.devices' }),
  /** The address of the page says for which section it is. */
  ...inSection(undefined, { confirmed: 'account.done.confirmed' }),
}

export type AccountDone = keyof typeof accountDone

export const isAccountDone = (name: string | undefined): name is AccountDone =>
  name !== undefined && Object.hasOwn(accountDone, name)
