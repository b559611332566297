import { type HtmlFragment, html } from '../lib/html.ts'
import type { Section } from './account-section.ts'
import { activityTexts as words } from './activity-texts.ts'
import type { ActivityView } from './activity-view.ts'
import { deviceName } from './device.ts'
import { texts } from './texts.ts'
import { agoOf } from './time-text.ts'

interface Shown {
  nowMs: number
  activity: readonly ActivityView[]
  /** The section where the password is changed or set; undefined where there are none. */
  passwordSection: Section | undefined
  appName: string
}

const originOf = ({ by, userAgent, address }: ActivityView, appName: string): string =>
  by === 'user' ? [deviceName(userAgent ?? ''), address].filter(Boolean).join(' · ') : words.by[by](appName)

const row = (activity: ActivityView, { nowMs, appName }: Shown): HtmlFragment => html`<li>
<div>
<p><b>${words.happened(activity)}</b>${activity.isCurrent && html` <span class="badge">${texts.thisSession}</span>`}</p>
<p class="about">${agoOf(activity.atMs, nowMs)} · ${originOf(activity, appName)}</p>
</div>
</li>
`

/** Where a user goes who finds something that they have not done. */
const notMe = ({ passwordSection }: Shown): HtmlFragment => html`<details>
<summary class="second">${words.notMe}</summary>
<div class="ways-in">
<p class="about">${passwordSection === undefined ? words.notMeByProvider : words.notMeByPassword}</p>
${
  passwordSection !== undefined &&
  html`<a class="second" href="#${passwordSection.id}">${passwordSection.title}</a>
`
}<a class="second" href="#sessions">${words.logOutOthers}</a>
</div>
</details>`

const list = (shown: Shown): HtmlFragment => html`<ul class="sessions">
${shown.activity.map((activity) => row(activity, shown))}</ul>
${notMe(shown)}`

/** What happened to the account lately, and what to do about it. */
export const activitySection = (shown: Shown): Section => ({
  id: 'activity',
  title: words.title,
  about: words.about,
  body: shown.activity.length === 0 ? html`<p>${words.none}</p>` : list(shown),
})
