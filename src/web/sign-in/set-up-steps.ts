import { t } from '../../languages/texts.ts'
import { type HtmlFragment, html } from '../../lib/html.ts'
import type { FieldProblem } from '../../http/form-view.ts'
import { codeField } from '../site/code-field.ts'

/** A user needs this to set up an app. */
export interface SetUpView {
  /** It is written in Base32. */
  secret: string
  /** It begins with `otpauth://`. */
  uri: string
  /** These are rows of modules, true for the dark ones. */
  qrCode: readonly (readonly boolean[])[]
  /** It comes back with the first code. */
  sealed: string
  error?: FieldProblem | undefined
}

/** Splits a key into groups of four, as people read it. */
const inGroups = (secret: string): string => secret.replaceAll(/.{4}(?=.)/g, '$& ')

/** Shows the steps to set up an app, and the form for its first code. `hiddenInputs` has the CSRF token. */
export const setUpSteps = (
  { secret, uri, qrCode, sealed, error }: SetUpView,
  form: { action: string; hiddenInputs: HtmlFragment },
): HtmlFragment => html`<ol class="steps">
<li>${t('authenticator.step_open')}</li>
<li>${t('authenticator.step_scan')}
${qrCodeSvg(qrCode, t('authenticator.qr_code'))}
<p class="about">${t('authenticator.on_this_device')} <a href="${uri}">${t('authenticator.open')}</a></p>
<p class="about">${t.html('authenticator.cannot_scan', { key: html`<code>${inGroups(secret)}</code>` })}</p></li>
<li>${t('authenticator.step_code')}
<form method="post" action="${form.action}" novalidate>
${form.hiddenInputs}
<input type="hidden" name="set_up" value="${sealed}">
${codeField({ hint: t('field.code.hint_digits'), problem: error, focused: error !== undefined })}
<button class="svc-button first">${t('common.confirm')}</button>
</form></li>
</ol>`

/** Each run of dark modules of a row is one rectangle, one module high. */
const darkRuns = (row: readonly boolean[], y: number): string => {
  const runs: string[] = []
  for (let x = 0; x < row.length; x += 1) {
    if (!row[x] || row[x - 1]) continue
    const end = row.indexOf(false, x)
    const width = (end < 0 ? row.length : end) - x
    runs.push(`M${x} ${y}h${width}v1h-${width}z`)
  }
  return runs.join('')
}

/** Draws a QR code as SVG. Scanners want it dark on light, whatever the colours of the page are. */
const qrCodeSvg = (modules: readonly (readonly boolean[])[], label: string): HtmlFragment => {
  const size = modules.length
  const dark = modules.map(darkRuns).join('')
  return html`<svg class="qr" viewBox="0 0 ${size} ${size}" role="img" aria-label="${label}" shape-rendering="crispEdges"><path fill="#fff" d="M0 0h${size}v${size}H0z"/><path d="${dark}"/></svg>`
}
