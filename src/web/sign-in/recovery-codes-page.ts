import { t } from '../../languages/texts.ts'
import { type HtmlFragment, html } from '../../lib/html.ts'
import { csrfInput, notice } from '../site/form.ts'
import type { Layout } from '../site/layout.ts'
import { accountLinks } from '../site/providers.ts'

/** These are new recovery codes, which are shown once. */
export interface RecoveryCodesView {
  csrfToken: string
  email: string
  codes: readonly string[]
  /** The form that makes a file of the codes sends them in this sealed form. */
  sealed: string
  /** The user goes on there. */
  returnTo: string
  /** The codes come with this change; it is undefined if that was too long ago to say. */
  done: 'second_factor_set_up' | 'passkey_added' | 'recovery_codes_renewed' | undefined
}

const ACTION = '/auth/account/second-factor'

/** The script of the pages shows the button if the browser lets a page write to the clipboard. */
const copyButton = (): HtmlFragment =>
  html`<button class="svc-button second" type="button" hidden data-copies="codes" data-copied="${t('recovery.copied')}" aria-live="polite">${t('recovery.copy')}</button>`

/** Creates the page that shows new recovery codes, once. */
export const createRecoveryCodesPage =
  (layout: Layout) =>
  ({ csrfToken, email, codes, sealed, returnTo, done }: RecoveryCodesView): string =>
    layout.panel({
      title: t('recovery.codes_title'),
      below: accountLinks(),
      body: html`${notice(done && t(`account.done.${done}`))}<p>${t.html('recovery.codes_of', { email: html`<b>${email}</b>` })}</p>
<ul class="codes" id="codes">
${codes.map(
  (code) => html`<li><code>${code}</code></li>
`,
)}</ul>
<p>${t('recovery.codes_about')}</p>
<form class="beside" method="post" action="${ACTION}">
${csrfInput(csrfToken)}
${copyButton()}
<button class="svc-button second" name="download" value="${sealed}">${t('recovery.download')}</button>
</form>
<a class="svc-button first" href="${returnTo}">${t('recovery.kept')}</a>`,
    })

export const createRecoveryCodesFile =
  ({ appName: app }: Layout) =>
  ({ email, codes }: { email: string; codes: readonly string[] }): string =>
    `${t('recovery.file_title', { email, app })}\n\n${codes.join('\n')}\n\n${t('recovery.file_about')}\n`
