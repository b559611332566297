import type { Message, Notice, NoticeContext } from '../mail/message.ts'

const AT_MS = Date.UTC(2026, 10, 22, 16, 53)
const HOUR_MS = 3_600_000
const TOKEN = 'q3Zr0yJm4wUo8sXb1TnVd6KfGhLaPcEiRz5x2tYkMvA'

/** The base URL in the links of the messages below. */
export const MAIL_BASE_URL = 'https://app.example.com'

const link = (path: string, hours: number) => ({
  url: `${MAIL_BASE_URL}/auth/${path}?token=${TOKEN}`,
  lifetimeMs: hours * HOUR_MS,
})

const about = {
  email: 'ada@example.com',
  occurredAtMs: AT_MS,
  device: { browser: 'Firefox', system: 'Linux' },
} as const
const byUser: NoticeContext = { ...about, by: 'user', address: '203.0.113.7' }
const byOperator: NoticeContext = { email: about.email, occurredAtMs: AT_MS, by: 'operator' }

const notMe = link('account/not-me', 72)

const NOTICES: Record<string, Notice> = {
  email_changed: { kind: 'email_changed', oldEmail: 'ada@old.example.com', newEmail: about.email },
  username_changed: { kind: 'username_changed', oldUsername: 'ada', newUsername: 'ada-lovelace' },
  name_changed: { kind: 'name_changed' },
  password_changed: { kind: 'password_changed', how: 'changed' },
  password_set: { kind: 'password_changed', how: 'set' },
  password_reset: { kind: 'password_changed', how: 'reset' },
  password_reset_with_applications: { kind: 'password_changed', how: 'reset', applicationsEnded: true },
  provider_connected: { kind: 'provider_connected', provider: 'Google', notMe },
  provider_removed: { kind: 'provider_removed', provider: 'Google' },
  passkey_added: { kind: 'passkey_added', notMe },
  passkey_removed: { kind: 'passkey_removed' },
  second_factor_set_up: { kind: 'second_factor_set_up', notMe },
  second_factor_removed: { kind: 'second_factor_removed' },
  second_factor_reset: { kind: 'second_factor_reset', codes: true, passkeys: 2 },
  second_factor_reset_with_applications: {
    kind: 'second_factor_reset',
    codes: true,
    passkeys: 0,
    applicationsEnded: true,
  },
  second_factor_reset_of_passkeys: { kind: 'second_factor_reset', codes: false, passkeys: 1 },
  recovery_code_used: { kind: 'recovery_code_used', left: 9 },
  last_recovery_code_used: { kind: 'recovery_code_used', left: 0 },
  recovery_codes_renewed: { kind: 'recovery_codes_renewed' },
  sign_in_link_created: { kind: 'sign_in_link_created' },
  wrong_codes: { kind: 'wrong_codes' },
  account_deleted: { kind: 'account_deleted' },
  account_exported: { kind: 'account_exported' },
  account_taken_over: { kind: 'account_taken_over' },
  account_taken_over_with_applications: { kind: 'account_taken_over', applicationsEnded: true },
  login_limited: { kind: 'login_limited', logins: 'in_network' },
  login_limited_anywhere: { kind: 'login_limited', logins: 'anywhere' },
  login_limited_in_known_browser: { kind: 'login_limited', logins: 'in_known_browser' },
  new_browser: { kind: 'new_browser', notMe },
  application_connected: { kind: 'application_connected', application: 'Notebook', host: 'notes.example.net', notMe },
  program_connected: { kind: 'application_connected', application: 'Notes CLI', notMe },
}

const administration = { kind: 'administration', administrator: 'grace', place: 'admin.example.com' } as const

const undo = { ...link('email/undo', 72), kind: 'undo', newEmail: 'eve@evil.example.com' } as const

const signIn = { ...link('login/email/link', 1 / 6), network: '203.0.113.0/24' }
const code = { code: '40517263' }

const LINKS: Record<string, Message> = {
  reset: { ...about, ...link('password/reset', 1), kind: 'reset', by: 'user' },
  reset_by_operator: { ...byOperator, ...link('password/reset', 1), kind: 'reset' },
  verify: { ...about, ...link('email/verify', 24), kind: 'verify' },
  new_email: { ...about, ...link('email/verify', 24), kind: 'new_email' },
  invite: { email: about.email, occurredAtMs: AT_MS, ...link('invite', 168), kind: 'invite' },
  first_factor: { ...about, ...link('account/first-factor', 0.5), kind: 'first_factor' },
  account_exists: { ...about, kind: 'account_exists', url: `${MAIL_BASE_URL}/auth/login?email=ada%40example.com` },
  email_taken: { ...about, kind: 'email_taken' },
  email_reserved: { ...about, kind: 'email_reserved' },
  email_left: { ...about, kind: 'email_left' },
  sign_in: { ...about, ...signIn, ...code, kind: 'sign_in' },
  sign_in_that_reclaims: { ...about, ...signIn, ...code, kind: 'sign_in', reclaims: true },
  sign_in_new: { ...about, ...signIn, ...code, kind: 'sign_in_new' },
  sign_in_by_passkey: { ...about, ...signIn, kind: 'sign_in_by_passkey' },
  confirm_code: { ...about, ...code, network: signIn.network, lifetimeMs: signIn.lifetimeMs, kind: 'confirm_code' },
  administration_signed_in: { ...about, ...administration, event: 'signed_in', address: '203.0.113.9' },
  administration_passkey_added: { ...about, ...administration, event: 'passkey_added' },
  administration_passkey_removed: { ...about, ...administration, event: 'passkey_removed' },
  administration_access_changed: {
    email: about.email,
    occurredAtMs: AT_MS,
    ...administration,
    event: 'access_changed',
  },
  test: { email: about.email, occurredAtMs: AT_MS, kind: 'test' },
  undo_requested: { ...byUser, ...undo, step: 'requested' },
  undo_changed: { ...byUser, ...undo, step: 'changed' },
  undo_by_operator: { ...byOperator, ...undo, step: 'changed' },
}

/** What operators can do to an account, by the command line or the API. */
const BY_OPERATOR = [
  'sign_in_link_created',
  'email_changed',
  'username_changed',
  'name_changed',
  'password_changed',
  'password_set',
  'provider_removed',
  'second_factor_reset',
  'second_factor_reset_with_applications',
  'second_factor_reset_of_passkeys',
  'account_deleted',
  'account_taken_over',
]

const withContext = (context: NoticeContext, suffix: string, names = Object.keys(NOTICES)): [string, Message][] =>
  Object.entries(NOTICES)
    .filter(([name]) => names.includes(name))
    .map(([name, notice]) => [`${name}${suffix}`, { ...notice, ...context }])

/** A message of every kind, and of every variant of its text, by name. */
export const MESSAGES: ReadonlyMap<string, Message> = new Map([
  ...Object.entries(LINKS),
  ...withContext(byUser, ''),
  ...withContext({ ...byUser, toFormerAddress: true }, '_to_former_address'),
  ['login_to_former_address', { ...byUser, kind: 'new_browser', toFormerAddress: true }],
  ...withContext(byOperator, '_by_operator', BY_OPERATOR),
])
