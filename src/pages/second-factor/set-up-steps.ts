import { type HtmlFragment, html } from '../../lib/html.ts'
import { codeField } from './code-field.ts'
import { qrCodeSvg } from './qr-code.ts'
import { secondFactorTexts as words } from './texts.ts'
import type { SetUpView } from './views.ts'

/** A key in groups of four, as people read it. */
const inGroups = (secret: string): string => secret.replaceAll(/.{4}(?=.)/g, '$& ')

/** The steps to set up an app, and the form for its first code. `hiddenInputs` has the CSRF token. */
export const setUpSteps = (
  { secret, uri, qrCode, sealed, error }: SetUpView,
  form: { action: string; hiddenInputs: HtmlFragment },
): HtmlFragment => html`<ol class="steps">
<li>${words.getApp}</li>
<li>${words.scan}
${qrCodeSvg(qrCode, words.qrCode)}
<p class="about">${words.onThisPhone} <a href="${uri}">${words.openApp}</a></p>
<p class="about">${words.cannotScan} <code>${inGroups(secret)}</code></p></li>
<li>${words.enterCode}
<form method="post" action="${form.action}" novalidate>
${form.hiddenInputs}
<input type="hidden" name="set_up" value="${sealed}">
${codeField({ hint: words.sixDigits, problem: error, focused: error !== undefined })}
<button class="first">${words.confirm}</button>
</form></li>
</ol>`
