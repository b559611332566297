import { t } from '../../languages/texts.ts'
import { type HtmlFragment, html } from '../../lib/html.ts'

/** Marks what a sentence is about, such as an address. */
export const bold = (text: string): HtmlFragment => html`<b>${text}</b>`

/** Puts one sentence behind another, with a space between them in the languages that have one there. */
export const sentences = (first: HtmlFragment | string, second: HtmlFragment | string): HtmlFragment =>
  t.html('common.sentences', { first, second })
