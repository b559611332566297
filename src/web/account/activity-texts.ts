import type { ActivityView } from './account-view.ts'

type Facts = Pick<ActivityView, 'method' | 'reason' | 'count'>

/** These texts say how the user logged in; a provider is shown by its label. */
const HOW: Record<string, string> = {
  password: 'with the password',
  passkey: 'with a passkey',
  code: 'with a code',
  link: 'by a link',
  invitation: 'by an invitation',
}

const how = ({ method = 'password' }: Facts): string => HOW[method] ?? `with ${method}`

const WRONG: Record<string, string> = {
  code_wrong: 'Wrong code at a login',
  passkey_wrong: 'A passkey was not accepted',
  passkey_unknown: 'A passkey was not accepted',
  account_disabled: 'Login refused, as the account was disabled',
  disabled: 'Login refused, as the account was disabled',
}

const wrong = ({ reason = '' }: Facts): string => WRONG[reason] ?? 'Wrong password'

const times = (text: string, count: number): string => (count > 1 ? `${text}, ${count} times` : text)

const provider = ({ method }: Facts): string => method ?? 'A provider'

/** These texts say what happened, by the name of its record. */
const happened: Record<string, string | ((facts: Facts) => string)> = {
  'login.succeeded': (facts) => `Logged in ${how(facts)}`,
  'login.failed': (facts) => times(wrong(facts), facts.count),
  'login.limited': ({ count }) => times('Too many attempts to log in', count),
  logout: 'Logged out',
  signup: 'Account created',
  'session.refreshed_reuse': 'We logged out a device: its login was used in two places',
  'session.ended': ({ count }) => (count > 1 ? `${count} devices were logged out` : 'A device was logged out'),
  'password.changed': 'Password changed',
  'password.set': 'Password set',
  'password.reset': 'New password chosen by a link',
  'password.reset_link_created': 'A link for a new password was made',
  'email.verified': 'Email address confirmed',
  'email.unverified': 'Email address no longer confirmed',
  'email.change_requested': 'Another email address was asked for',
  'email.change_cancelled': 'The change of the email address was cancelled',
  'email.changed': 'Email address changed',
  'email.change_undone': 'The change of the email address was undone',
  'username.changed': 'Username changed',
  'name.changed': 'Name changed',
  'account.exported': 'Your data was downloaded',
  'identity.linked': (facts) => `${provider(facts)} connected`,
  'identity.unlinked': (facts) => `${provider(facts)} disconnected`,
  'identity.taken_over': 'You showed that the email address is yours, and got the account',
  'passkey.added': 'Passkey added',
  'passkey.renamed': 'Passkey renamed',
  'passkey.removed': ({ count }) => (count > 1 ? `${count} passkeys removed` : 'Passkey removed'),
  'passkey.counter_went_back': 'A passkey may have been copied',
  'second_factor.added': 'Authenticator app set up',
  'second_factor.removed': 'Authenticator app or recovery codes removed',
  'second_factor.reset': 'Second factors removed',
  'second_factor.recovery_code_used': 'Recovery code used',
  'second_factor.recovery_codes_renewed': 'New recovery codes made',
  'second_factor.trust_ended': 'Trusted browsers ask for a code again',
  'user.created': 'Account created',
  'user.invited': 'Invitation made',
  'user.disabled': 'Account disabled',
  'user.enabled': 'Account enabled',
  'user.unlocked': 'Logging in was allowed again',
  'user.roles_changed': 'Roles changed',
}

/** These are the types of records that users see. They see nothing of the others. */
export const shownActivity: readonly string[] = Object.keys(happened)

export const happenedText = (activity: ActivityView): string => {
  const text = happened[activity.type]
  return typeof text === 'function' ? text(activity) : (text ?? activity.type)
}
