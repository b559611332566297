import { type HtmlFragment, html } from '../../lib/html.ts'
import { deviceName } from '../site/device.ts'
import { texts } from '../site/texts.ts'
import { agoOf } from '../site/time-text.ts'
import type { Section } from './account-section.ts'

/** The account page shows an event of a user's account in this form. */
export interface ActivityView {
  /** This is the name of the record (docs/audit.md). */
  type: string
  atMs: number
  by: 'user' | 'operator' | 'service'
  /** It is undefined if the user did not do it, or if it is not known. */
  userAgent: string | undefined
  address: string | undefined
  /** This is `password`, `passkey`, `code`, `recovery_code`, `link`, `invitation`, or the label of a provider. */
  method: string | undefined
  /** This says why a proof was refused. */
  reason: string | undefined
  /** This counts equal events; it is 1 for most. */
  count: number
  /** This tells whether it is the session of the request. */
  isCurrent: boolean
}

interface Shown {
  nowMs: number
  activity: readonly ActivityView[]
  /** This is the section where the password is changed or set; it is undefined if users have no passwords. */
  passwordSection: Section | undefined
  appName: string
}

const originOf = ({ by, userAgent, address }: ActivityView, appName: string): string =>
  by === 'user' ? [deviceName(userAgent ?? ''), address].filter(Boolean).join(' · ') : activityTexts.by[by](appName)

const row = (activity: ActivityView, { nowMs, appName }: Shown): HtmlFragment => html`<li>
<div>
<p><b>${activityTexts.happened(activity)}</b>${activity.isCurrent && html` <span class="badge">${texts.thisSession}</span>`}</p>
<p class="about">${agoOf(activity.atMs, nowMs)} · ${originOf(activity, appName)}</p>
</div>
</li>
`

/** This leads a user who finds an event that they did not cause. */
const notMe = ({ passwordSection }: Shown): HtmlFragment => html`<details>
<summary class="second">${activityTexts.notMe}</summary>
<div class="ways-in">
<p class="about">${passwordSection === undefined ? activityTexts.notMeByProvider : activityTexts.notMeByPassword}</p>
${
  passwordSection !== undefined &&
  html`<a class="second" href="#${passwordSection.id}">${passwordSection.title}</a>
`
}<a class="second" href="#sessions">${activityTexts.logOutOthers}</a>
</div>
</details>`

const list = (shown: Shown): HtmlFragment => html`<ul class="sessions">
${shown.activity.map((activity) => row(activity, shown))}</ul>
${notMe(shown)}`

/** The section shows the latest events of the account, and what the user can do about them. */
export const activitySection = (shown: Shown): Section => ({
  id: 'activity',
  title: activityTexts.title,
  about: activityTexts.about,
  body: shown.activity.length === 0 ? html`<p>${activityTexts.none}</p>` : list(shown),
})

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
  'session.refreshed_reuse': 'A session was logged out, because its cookie was copied',
  'session.ended': ({ count }) => (count > 1 ? `${count} sessions were logged out` : 'A session was logged out'),
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

const activityTexts = {
  title: 'Recent activity',
  about: 'What happened to your account lately. If something was not you, act at once.',
  happened(activity: ActivityView): string {
    const text = happened[activity.type]
    return typeof text === 'function' ? text(activity) : (text ?? activity.type)
  },
  by: {
    operator: (appName: string): string => `By the people who run ${appName}`,
    service: (appName: string): string => `By ${appName}`,
  },
  none: 'Nothing was recorded lately.',
  notMe: 'This wasn’t me',
  notMeByPassword:
    'Change your password: every other session is logged out then, and links that we sent stop working. Then look at what else gets into your account, and remove what is not yours.',
  notMeByProvider:
    'Log out other sessions. Then change the password of what you log in with, and remove what is not yours from the ways to log in.',
  logOutOthers: 'Log out other sessions',
} as const
