import { t } from '../../languages/texts.ts'
import { type HtmlFragment, html } from '../../lib/html.ts'

/** Users find help there, on every page that tells them to ask the people who run the service. */
export interface Support {
  /** Makes the sentence that tells people whom to ask. It stands last in texts, as `{support}`. */
  sentence(): HtmlFragment
}

interface SupportSettings {
  appName: string
  /** This is an https or mailto URL. */
  supportUrl?: string | undefined
}

export const createSupport = ({ appName, supportUrl }: SupportSettings): Support => ({
  sentence: () =>
    supportUrl === undefined
      ? html`${t('support.contact_plain', { app: appName })}`
      : html`<a href="${supportUrl}">${t('support.contact')}</a>`,
})

/** Makes the line with the request ID, with which an operator finds the line in the log. */
export const requestNote = (requestId: string): HtmlFragment =>
  t.html('error.reference', { id: html`<code>${requestId}</code>` })

/** Folds away what developers and operators need, and nobody else does. */
export const operatorDetails = (body: HtmlFragment): HtmlFragment => html`<details>
<summary class="quiet">${t('error.details')}</summary>
<div class="about">
${body}
</div>
</details>`
