import { COUNTED_TYPES } from '../../audit/audit-event.ts'
import { t, type TextKey } from '../../languages/texts.ts'
import type { ActivityView } from './account-view.ts'

type Facts = Pick<ActivityView, 'method' | 'application' | 'reason' | 'count'>

/** A user logs in by one of these, or by a provider, which is shown by its label. */
const METHODS = {
  password: 'activity.login.password',
  passkey: 'activity.login.passkey',
  code: 'activity.login.code',
  recovery_code: 'activity.login.recovery_code',
  email_code: 'activity.login.email_code',
  email_link: 'activity.login.email_link',
  link: 'activity.login.link',
  invitation: 'activity.login.invitation',
} as const

const isMethod = (method: string): method is keyof typeof METHODS => Object.hasOwn(METHODS, method)

const loggedIn = ({ method = 'password' }: Facts): string =>
  isMethod(method) ? t(METHODS[method]) : t('activity.login.provider', { provider: method })

const WRONG: ReadonlyMap<string | undefined, TextKey> = new Map([
  ['code_wrong', 'activity.failed.code'],
  ['mail_code_wrong', 'activity.failed.email_code'],
  ['passkey_wrong', 'activity.failed.passkey'],
  ['passkey_unknown', 'activity.failed.passkey'],
  ['account_disabled', 'activity.failed.disabled'],
  ['disabled', 'activity.failed.disabled'],
])

const ofProvider = (key: 'activity.linked' | 'activity.unlinked', { method }: Facts): string =>
  method === undefined ? t(`${key}_unknown`) : t(key, { provider: method })

const ofApplication = (key: 'activity.grant_created' | 'activity.grant_ended', { application }: Facts): string =>
  // A name that is written from right to left turns no other word.
  application === undefined ? t(`${key}_unknown`) : t(key, { application: `\u2068${application}\u2069` })

/** These texts say what happened, by the name of its record. */
const happened: Readonly<Record<string, TextKey | ((facts: Facts) => string)>> = {
  'login.succeeded': loggedIn,
  'login.failed': ({ reason }) => t(WRONG.get(reason) ?? 'activity.failed.password'),
  'login.limited': 'activity.limited',
  'login.email_requested': 'activity.email_code_requested',
  'login.link_created': 'activity.login_link',
  logout: 'activity.logout',
  signup: 'activity.signup',
  'session.refreshed_reuse': 'activity.reuse',
  'session.ended': ({ count }) => t.plural('activity.ended', count),
  'password.changed': 'activity.password_changed',
  'password.set': 'activity.password_set',
  'password.reset': 'activity.password_reset',
  'password.reset_link_created': 'activity.reset_link',
  'email.verified': 'activity.email_verified',
  'email.unverified': 'activity.email_unverified',
  'email.change_requested': 'activity.email_requested',
  'email.change_cancelled': 'activity.email_cancelled',
  'email.changed': 'activity.email_changed',
  'email.change_undone': 'activity.email_undone',
  'username.changed': 'activity.username_changed',
  'name.changed': 'activity.name_changed',
  'language.changed': 'activity.language_changed',
  'account.exported': 'activity.exported',
  'identity.linked': (facts) => ofProvider('activity.linked', facts),
  'identity.unlinked': (facts) => ofProvider('activity.unlinked', facts),
  'identity.taken_over': 'activity.taken_over',
  'passkey.added': 'activity.passkey_added',
  'passkey.renamed': 'activity.passkey_renamed',
  'passkey.removed': ({ count }) => t.plural('activity.passkeys_removed', count),
  'passkey.counter_went_back': 'activity.passkey_copied',
  'second_factor.added': 'activity.app_added',
  'second_factor.removed': 'activity.app_removed',
  'second_factor.reset': 'activity.two_step_reset',
  'second_factor.recovery_code_used': 'activity.recovery_used',
  'second_factor.recovery_codes_renewed': 'activity.recovery_renewed',
  'second_factor.trust_ended': 'activity.trust_ended',
  'grant.created': (facts) => ofApplication('activity.grant_created', facts),
  'grant.ended': (facts) => ofApplication('activity.grant_ended', facts),
  'grant.refresh_reused': 'activity.grant_reused',
  'code.reused': 'activity.code_reused',
  'user.created': 'activity.signup',
  'user.invited': 'activity.invited',
  'user.disabled': 'activity.disabled',
  'user.enabled': 'activity.enabled',
  'user.unlocked': 'activity.unlocked',
  'user.roles_changed': 'activity.roles',
}

/** These are the types of records that users see. They see nothing of the others. */
export const shownActivity: readonly string[] = Object.keys(happened)

export const happenedText = (activity: ActivityView): string => {
  const text = happened[activity.type]
  if (text === undefined) return activity.type
  return typeof text === 'function' ? text(activity) : t(text)
}

const COUNTED: readonly string[] = COUNTED_TYPES

/** Equal events of which there can be a flood are one record with their number. */
export const timesText = ({ type, count }: ActivityView): string | undefined =>
  count > 1 && COUNTED.includes(type) ? t.plural('activity.times', count) : undefined
