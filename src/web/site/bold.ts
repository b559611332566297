import { type HtmlFragment, html } from '../../lib/html.ts'

/** Marks what a sentence is about, such as an address. */
export const bold = (text: string): HtmlFragment => html`<b>${text}</b>`
