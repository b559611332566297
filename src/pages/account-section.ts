import { type HtmlFragment, html } from '../lib/html.ts'
import { texts } from './texts.ts'

/** One subject of the page. Its ID is the target of the link above the sections. */
export interface Section {
  id: string
  title: string
  about?: string | undefined
  body: HtmlFragment
}

export const section = ({ id, title, about, body }: Section): HtmlFragment =>
  html`<section aria-labelledby="${id}">
<div>
<h2 id="${id}">${title}</h2>
${about && html`<p class="about">${about}</p>`}
</div>
<div>
${body}
</div>
</section>
`

/** The links above the sections. */
export const contents = (
  sections: readonly Section[],
): HtmlFragment => html`<nav class="ways" aria-label="${texts.onThisPage}">
${sections.map(
  ({ id, title }) => html`<a href="#${id}">${title}</a>
`,
)}</nav>
`
