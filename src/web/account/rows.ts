import { t } from '../../languages/texts.ts'
import { type HtmlFragment, type HtmlValue, html } from '../../lib/html.ts'
import { withReturnTo } from '../../http/return-to.ts'
import type { RowId, SectionId } from '../site/account-done.ts'

/** This is what the one button of a row does. */
type RowAction =
  /** The row opens, and this is shown below. It works without scripts, and the browser opens it for an address too. */
  | { kind: 'opens'; label: string; body: HtmlFragment; isOpen?: boolean | undefined; isDanger?: boolean }
  /** `name` says what `label` leads to, since several rows have the same button. It begins with the same word. */
  | { kind: 'leads'; label: string; name?: string; href: string }
  /** The form has the button alone. */
  | { kind: 'sends'; form: HtmlFragment }

/** Each thing of an account is a row: an icon, a name, its state and one button. */
export interface AccountRow {
  /** An address leads to the row, and opens it: `/auth/account#change-password`. */
  id?: RowId | undefined
  icon: HtmlFragment
  title: string
  badge?: Badge | undefined
  state?: HtmlValue
  action?: RowAction | undefined
}

interface Badge {
  text: string
  /** The state is neither good nor bad. */
  isPlain?: boolean
}

export interface Section {
  id: SectionId
  title: string
  /** It is the target of addresses from before the page had these sections. */
  formerId?: RowId | undefined
  rows: readonly AccountRow[]
  /** These stand in the panel in place of rows, each in an item of the list. */
  items?: readonly HtmlFragment[]
  /** This is the last part of the panel. */
  foot?: HtmlFragment | undefined
  /** These attributes of the section are for a script. */
  data?: HtmlFragment | undefined
  /** This says what was done here, or what is wrong. */
  message?: HtmlFragment | undefined
}

/** The button leads to re-authentication, and from there back to the row, which is open then. */
export const confirmFirst = (id: RowId, label: string, name: string): AccountRow['action'] => ({
  kind: 'leads',
  label,
  name,
  href: withReturnTo('/auth/account/confirm', `/auth/account#${id}`),
})

export const badge = ({ text, isPlain }: Badge): HtmlFragment =>
  html` <span class="badge${isPlain === true && ' plain'}">${text}</span>`

/** The parts of the row come before its button. A summary may hold no other blocks than these. */
const facts = ({ icon, title, badge: shown, state }: AccountRow): HtmlFragment =>
  html`${icon}<span class="what"><b>${title}</b>${shown && badge(shown)}${state !== undefined && html`<span class="about">${state}</span>`}</span>`

const opening = (row: AccountRow, action: Extract<RowAction, { kind: 'opens' }>): HtmlFragment =>
  html`<li><details${Boolean(action.isOpen) && html` open`}>
<summary class="row">${facts(row)}<span class="svc-button second small${action.isDanger === true && ' danger'}"><span>${action.label}</span><span>${t('account.row.close')}</span></span></summary>
<div class="more"${row.id && html` id="${row.id}"`}>
${action.body}
</div>
</details></li>
`

const buttonOf = (row: AccountRow): HtmlFragment | undefined => {
  if (row.action?.kind === 'sends') return row.action.form
  if (row.action?.kind !== 'leads') return undefined
  const { href, label, name } = row.action
  return html`<a class="svc-button second small" href="${href}"${name !== undefined && html` aria-label="${name}"`}>${label}</a>`
}

export const rowItem = (row: AccountRow): HtmlFragment =>
  row.action?.kind === 'opens'
    ? opening(row, row.action)
    : html`<li class="row"${row.id && html` id="${row.id}"`}>${facts(row)}${buttonOf(row)}</li>
`

/**
 * An address leads to the section (`#devices`), or if it has a message, to that, which gets the focus: a screen reader
 * reads it out.
 */
export const section = ({ id, title, formerId, rows, items = [], foot, data, message }: Section): HtmlFragment =>
  html`<section aria-labelledby="${id}-title"${!message && html` id="${id}"`}${data}>
<h2 id="${id}-title">${title}</h2>
${message && html`<div id="${id}" class="message" tabindex="-1">${message}</div>`}<div class="svc-card panel"${formerId && html` id="${formerId}"`}>
${
  rows.length + items.length > 0 &&
  html`<ul class="rows">
${rows.map(rowItem)}${items}</ul>
`
}${foot}</div>
</section>
`

/** Makes the links to the sections: a column on wide screens, and a strip on phones. */
export const contents = (sections: readonly Section[]): HtmlFragment =>
  html`<nav class="sections" aria-label="${t('account.on_this_page')}">
${sections.map(
  ({ id, title }) => html`<a href="#${id}">${title}</a>
`,
)}</nav>
`
