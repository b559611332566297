/** These are the sections of the account page, in its order. */
export type SectionId = 'profile' | 'signing-in' | 'two-step' | 'devices' | 'applications' | 'activity' | 'delete'

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
  | 'connected'
  | 'download-data'
  | 'delete-account'

/**
 * The account page says what was done if its address has `?done=NAME`, and the browser has just done it. Each name has
 * the section that says so, in the text `account.done.NAME`.
 */
export const accountDone = {
  email_requested: 'profile',
  email_cancelled: 'profile',
  email_verified: 'profile',
  verification_sent: 'profile',
  name: 'profile',
  username: 'profile',
  password: 'signing-in',
  password_set: 'signing-in',
  linked: 'signing-in',
  unlinked: 'signing-in',
  passkey_added: 'signing-in',
  passkey_renamed: 'signing-in',
  passkey_removed: 'signing-in',
  second_factor_set_up: 'two-step',
  second_factor_removed: 'two-step',
  recovery_codes_renewed: 'two-step',
  trusted_browsers_forgotten: 'two-step',
  session: 'devices',
  sessions: 'devices',
  client: 'applications',
  clients: 'applications',
  /** The address of the page says for which section it is. */
  confirmed: undefined,
} as const satisfies Record<string, SectionId | undefined>

export type AccountDone = keyof typeof accountDone

export const isAccountDone = (name: string | undefined): name is AccountDone =>
  name !== undefined && Object.hasOwn(accountDone, name)
