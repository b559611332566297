import { type HtmlFragment, html } from '../lib/html.ts'
import { csrfInput } from './form.ts'
import { secondFactorTexts as words } from './second-factor/texts.ts'
import type { SecondFactorSectionView } from './second-factor/views.ts'

const PAGE = '/auth/account/second-factor'

const trusted = ({ csrfToken, trustedBrowsers: count }: SecondFactorSectionView): HtmlFragment | undefined =>
  count === 0
    ? undefined
    : html`<form method="post" action="/auth/account/browsers">
${csrfInput(csrfToken)}
<p>${words.trusted(count)}</p>
<button class="second" name="forget_trusted" value="1">${words.forgetTrusted}</button>
</form>`

/** The body of the section about codes of an app and recovery codes. */
export const accountSecondFactor = (view: SecondFactorSectionView): HtmlFragment => {
  const { hasApp, recoveryCodes } = view
  return html`${
    hasApp !== undefined &&
    html`<p>${hasApp ? words.appOn : words.appOff}</p>
`
  }${
    recoveryCodes !== undefined &&
    html`<p>${words.recoveryLeft(recoveryCodes)}</p>
`
  }<a class="second" href="${PAGE}">${hasApp === false && recoveryCodes === undefined ? words.setUpTitle : words.manage}</a>
${trusted(view)}`
}
