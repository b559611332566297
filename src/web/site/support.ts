import { t } from '../../languages/texts.ts'
import { type HtmlFragment, html } from '../../lib/html.ts'
import { texts } from './texts.ts'

/** Users find help there, on every page that tells them to ask the people who run the service. */
export interface Support {
  /** Makes the sentence that tells people whom to ask. It stands last in texts, as `{support}`. */
  sentence(): HtmlFragment
  /** Makes HTML of a text. Its words for asking these people are a link, if the operator has set an address for it. */
  text(text: string): HtmlFragment
  /**
   * Makes the line with the request ID, with which an operator finds the line in the log. It says whom to ask too,
   * unless `above` does.
   */
  requestNote(requestId: string, above?: HtmlFragment): HtmlFragment
}

interface SupportSettings {
  appName: string
  /** This is an https or mailto URL. */
  supportUrl?: string | undefined
}

export const createSupport = ({ appName, supportUrl }: SupportSettings): Support => {
  const phrases = supportUrl === undefined ? [] : texts.askingForHelp(appName)

  const text = (words: string): HtmlFragment => {
    const phrase = phrases.find((one) => words.includes(one))
    if (supportUrl === undefined || phrase === undefined) return html`${words}`
    const at = words.indexOf(phrase)
    return html`${words.slice(0, at)}<a href="${supportUrl}">${phrase}</a>${words.slice(at + phrase.length)}`
  }

  const contact =
    supportUrl === undefined
      ? html`${t('support.contact_plain', { app: appName })}`
      : html`<a href="${supportUrl}">${t('support.contact')}</a>`

  return {
    sentence: () => contact,
    text,
    requestNote(requestId, above) {
      const reference = t.html('error.reference', { id: html`<code>${requestId}</code>` })
      const isLinked = supportUrl === undefined || above?.toString().includes(html`href="${supportUrl}"`.toString())
      return isLinked ? reference : html`<a href="${supportUrl}">${t('support.link')}</a> · ${reference}`
    },
  }
}

/** Folds away what developers and operators need, and nobody else does. */
export const operatorDetails = (body: HtmlFragment): HtmlFragment => html`<details>
<summary class="quiet">${t('error.details')}</summary>
<div class="about">
${body}
</div>
</details>`
