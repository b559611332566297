import { t } from '../../languages/texts.ts'
import { type HtmlFragment, html } from '../../lib/html.ts'
import { bold } from './bold.ts'

/** Lists what else the button of a page does. */
export const consequences = (lines: readonly (string | undefined)[]): HtmlFragment => html`<ul class="ends">
${lines.map(
  (line) =>
    line !== undefined &&
    html`<li>${line}</li>
`,
)}</ul>`

/** Lists what happens to an account that the owner of its address takes over. */
export const reclaimConsequences = (): HtmlFragment =>
  consequences([t('reclaim.ends_ways'), t('reclaim.ends_devices'), t('reclaim.ends_roles'), t('reclaim.keeps')])

/** Says that another account, which is signed in in this browser, is logged out. */
export const leavesLine = (otherEmail: string | undefined): HtmlFragment | undefined =>
  otherEmail === undefined ? undefined : html`<p>${t.html('link.leaves', { email: bold(otherEmail) })}</p>`
