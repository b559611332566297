import { type HtmlFragment, html } from '../../lib/html.ts'
import { deviceName } from '../site/device.ts'
import { agoOf } from '../site/time-text.ts'
import type { ActivityView } from './account-view.ts'
import { happenedText } from './activity-texts.ts'
import { deviceTexts } from './devices-section.ts'
import { badge, type Section } from './rows.ts'

interface Shown {
  nowMs: number
  activity: readonly ActivityView[]
  /** This tells whether the user has a password to change. */
  hasPassword: boolean
  appName: string
}

const originOf = ({ by, userAgent, address }: ActivityView, appName: string): string =>
  by === 'user' ? [deviceName(userAgent ?? ''), address].filter(Boolean).join(' · ') : activityTexts.by[by](appName)

export const activityItem = (
  activity: ActivityView,
  { nowMs, appName }: Pick<Shown, 'nowMs' | 'appName'>,
): HtmlFragment =>
  html`<li class="event"><span class="what"><b>${happenedText(activity)}</b>${activity.isCurrent && badge({ text: deviceTexts.current })}<span class="about">${originOf(activity, appName)}</span></span><span class="about">${agoOf(activity.atMs, nowMs)}</span></li>
`

/** This leads a user who finds an event that they did not cause. */
export const notMe = (hasPassword: boolean, page = ''): HtmlFragment => html`<details>
<summary class="link">${activityTexts.notMe}</summary>
<div class="more">
<p>${hasPassword ? activityTexts.notMeByPassword : activityTexts.notMeByProvider}</p>
<div class="ways">
${
  hasPassword &&
  html`<a class="second small" href="${page}#change-password">${activityTexts.changePassword}</a>
`
}<a class="second small" href="${page}#devices">${activityTexts.devices}</a>
</div>
</div>
</details>`

/** The section shows the latest events of the account, and what the user can do about them. */
export const activitySection = (shown: Shown): Section => ({
  id: 'activity',
  title: activityTexts.title,
  rows: [],
  items: shown.activity.map((one) => activityItem(one, shown)),
  foot:
    shown.activity.length === 0
      ? html`<p class="foot">${activityTexts.none}</p>`
      : html`<div class="foot">
<a href="/auth/account/activity">${deviceTexts.showMore}</a>
${notMe(shown.hasPassword)}
</div>`,
})

export const activityTexts = {
  title: 'Activity',
  about: 'What happened to your account, the latest first.',
  by: {
    operator: (appName: string): string => `By the people who run ${appName}`,
    service: (appName: string): string => `By ${appName}`,
  },
  none: 'Nothing happened lately.',
  notMe: 'Something here wasn’t me',
  notMeByPassword:
    'Change your password: that logs out all other devices, and links that we sent stop working. Then check how else your account can be signed in to, and remove what is not yours.',
  notMeByProvider:
    'Log out all other devices. Then change the password of what you log in with, and remove what is not yours from the ways to sign in.',
  changePassword: 'Change password',
  devices: 'See your devices',
} as const
