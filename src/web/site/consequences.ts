import { t } from '../../languages/texts.ts'
import { type HtmlFragment, html } from '../../lib/html.ts'
import { bold, sentences } from './bold.ts'
import type { Layout } from './layout.ts'

/** Lists what else the button of a page does. */
export const consequences = (lines: readonly (string | false | undefined)[]): HtmlFragment => html`<ul class="ends">
${lines.map(
  (line) =>
    line &&
    html`<li>${line}</li>
`,
)}</ul>`

/** All that has access to the account without a way to log in. */
export const accessEnds = ({ clients }: Layout): (string | false)[] => [
  t('reclaim.ends_devices'),
  clients && t('reclaim.ends_applications'),
]

/** Lists what happens to an account that the owner of its address takes over. */
export const reclaimConsequences = (layout: Layout): HtmlFragment =>
  consequences([t('reclaim.ends_ways'), ...accessEnds(layout), t('reclaim.ends_roles'), t('reclaim.keeps')])

/** Adds to a sentence about other devices what happens to applications. */
export const withApplications = ({ clients }: Layout, devices: HtmlFragment | string): HtmlFragment | string =>
  clients ? sentences(devices, t('common.applications_end')) : devices

/** Says that another account, which is signed in in this browser, is logged out. */
export const leavesLine = (otherEmail: string | undefined): HtmlFragment | undefined =>
  otherEmail === undefined ? undefined : html`<p>${t.html('link.leaves', { email: bold(otherEmail) })}</p>`
