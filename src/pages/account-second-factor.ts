import { type HtmlFragment, html } from '../lib/html.ts'
import { secondFactorTexts as words } from './second-factor/texts.ts'
import type { SecondFactorSectionView } from './second-factor/views.ts'

const PAGE = '/auth/account/second-factor'

/** The body of the section about codes of an app and recovery codes. */
export const accountSecondFactor = ({ hasApp, recoveryCodes }: SecondFactorSectionView): HtmlFragment =>
  html`${
    hasApp !== undefined &&
    html`<p>${hasApp ? words.appOn : words.appOff}</p>
`
  }${
    recoveryCodes !== undefined &&
    html`<p>${words.recoveryLeft(recoveryCodes)}</p>
`
  }<a class="second" href="${PAGE}">${hasApp === false && recoveryCodes === undefined ? words.setUpTitle : words.manage}</a>`
