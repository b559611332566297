import { t } from '../../languages/texts.ts'
import { type HtmlFragment, html } from '../../lib/html.ts'
import { deviceName } from '../site/device.ts'
import { agoOf } from '../site/time-text.ts'
import type { ActivityView } from './account-view.ts'
import { happenedText, timesText } from './activity-texts.ts'
import { badge, type Section } from './rows.ts'

interface Shown {
  nowMs: number
  activity: readonly ActivityView[]
  /** This tells whether the user has a password to change. */
  hasPassword: boolean
}

const originOf = ({ by, userAgent, address }: ActivityView): string =>
  by === 'user' ? [deviceName(userAgent ?? ''), address].filter(Boolean).join(' · ') : t(`account.activity.by_${by}`)

const timesOf = (activity: ActivityView): HtmlFragment | undefined => {
  const times = timesText(activity)
  return times === undefined ? undefined : html` · ${times}`
}

export const activityItem = (activity: ActivityView, nowMs: number): HtmlFragment =>
  html`<li class="event"><span class="what"><b>${happenedText(activity)}${timesOf(activity)}</b>${activity.isCurrent && badge({ text: t('account.devices.this') })}<span class="about">${originOf(activity)}</span></span><span class="about">${agoOf(activity.atMs, nowMs)}</span></li>
`

/** This leads a user who finds an event that they did not cause. */
export const notMe = (hasPassword: boolean, page = ''): HtmlFragment => html`<details>
<summary class="link">${t('account.activity.not_me')}</summary>
<div class="more">
<p>${t(hasPassword ? 'account.activity.not_me_password' : 'account.activity.not_me_passwordless')}</p>
<div class="ways">
${
  hasPassword &&
  html`<a class="svc-button second small" href="${page}#change-password">${t('account.password.change')}</a>
`
}<a class="svc-button second small" href="${page}#devices">${t('account.activity.see_devices')}</a>
</div>
</div>
</details>`

/** The section shows the latest events of the account, and what the user can do about them. */
export const activitySection = (shown: Shown): Section => ({
  id: 'activity',
  title: t('account.activity.title'),
  rows: [],
  items: shown.activity.map((one) => activityItem(one, shown.nowMs)),
  foot:
    shown.activity.length === 0
      ? html`<p class="foot">${t('account.activity.none')}</p>`
      : html`<div class="foot">
<a href="/auth/account/activity">${t('account.activity.show_more')}</a>
${notMe(shown.hasPassword)}
</div>`,
})
