import { type HtmlFragment, html } from '../../lib/html.ts'
import type { SectionId } from '../site/account-done.ts'
import { texts } from '../site/texts.ts'

/** The ID of a section is the target of the link above the sections. */
export interface Section {
  id: SectionId
  title: string
  about?: string | undefined
  body: HtmlFragment
  /** This says what was done here, or what is wrong. */
  message?: HtmlFragment | undefined
}

export const section = ({ id, title, about, body, message }: Section): HtmlFragment =>
  html`<section aria-labelledby="${id}">
${message}<div>
<h2 id="${id}">${title}</h2>
${about && html`<p class="about">${about}</p>`}
</div>
<div>
${body}
</div>
</section>
`

/** Makes the links above the sections. */
export const contents = (
  sections: readonly Section[],
): HtmlFragment => html`<nav class="ways" aria-label="${texts.onThisPage}">
${sections.map(
  ({ id, title }) => html`<a href="#${id}">${title}</a>
`,
)}</nav>
`
