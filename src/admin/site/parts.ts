import { type HtmlFragment, type HtmlValue, html } from '../../lib/html.ts'
import { agoOf, momentOf } from '../../web/site/time-text.ts'
import type { AdminAction } from '../policy.ts'
import type { AdminContext } from '../http/context.ts'

export const mark = (text: string, tone: 'good' | 'plain' | 'bad' = 'plain'): HtmlFragment =>
  html` <span class="badge ${tone}">${text}</span>`

/** A link that looks like a button, to a page on which something can be done. It is left out where the role forbids it. */
export const actLink = (
  context: AdminContext,
  {
    does,
    path,
    text,
    label,
    isDanger = false,
  }: { does: AdminAction; path: string; text: string; label?: string; isDanger?: boolean },
): HtmlFragment | undefined =>
  context.may(does)
    ? html`<a class="svc-button second small${isDanger && ' danger'}" href="${context.at(path)}"${label !== undefined && html` aria-label="${label}"`}>${text}</a>
`
    : undefined

interface Fact {
  name: HtmlValue
  value: HtmlValue
  acts?: HtmlValue
}

/** Shows facts in rows: a name, a value and perhaps a button. */
export const facts = (
  list: readonly (Fact | undefined | false)[],
  { isWide = false }: { isWide?: boolean } = {},
): HtmlFragment => html`<dl class="svc-card panel facts${isWide && ' wide'}">
${list.map(
  (fact) =>
    fact &&
    html`<div><dt>${fact.name}</dt><dd>${fact.value}</dd>${fact.acts !== undefined && html`<dd class="acts">${fact.acts}</dd>`}</div>
`,
)}</dl>
`

interface Thing {
  title: HtmlValue
  about?: HtmlValue
  more?: HtmlValue
  when?: HtmlValue
  acts?: HtmlValue
}

/** Shows a list in a panel, or says that it is empty. */
export const things = (list: readonly Thing[], empty: string, foot?: HtmlFragment): HtmlFragment =>
  html`<div class="svc-card panel">
${
  list.length > 0
    ? html`<ul class="things">
${list.map(
  ({
    title,
    about,
    more,
    when,
    acts,
  }) => html`<li><div class="what"><span>${title}</span>${about !== undefined && html`<span class="about">${about}</span>`}${more !== undefined && html`<span class="about">${more}</span>`}</div>${when !== undefined && html`<span class="when">${when}</span>`}${acts !== undefined && html`<div class="acts">${acts}</div>`}</li>
`,
)}</ul>`
    : html`<p class="none">${empty}</p>`
}${foot && html`<div class="foot">${foot}</div>`}
</div>
`

export const panelSection = (id: string, title: HtmlValue, body: HtmlFragment): HtmlFragment =>
  html`<section id="${id}" aria-labelledby="${id}-title">
<h2 id="${id}-title">${title}</h2>
${body}</section>
`

/** Links to further pages of a list, which goes on in one direction. */
export const pager = (
  context: AdminContext,
  { isLater, next, words = 'Older' }: { isLater: boolean; next: string | undefined; words?: string },
): HtmlFragment | undefined =>
  isLater || next !== undefined
    ? html`<nav class="acts" aria-label="Pages">
${
  isLater &&
  html`<a class="svc-button second small" href="${context.at(context.path)}${queryOf(without(context, 'cursor'))}">Newest</a>
`
}${
  next !== undefined &&
  html`<a class="svc-button second small" rel="next" href="${context.at(context.path)}${queryOf({ ...without(context, 'cursor'), cursor: next })}">${words}</a>
`
}</nav>
`
    : undefined

type Query = Record<string, string | undefined>

const without = ({ query }: AdminContext, name: string): Query =>
  Object.fromEntries([...query.names].filter((each) => each !== name).map((each) => [each, query.get(each)]))

/** Writes a query; what is undefined or empty is left out. */
export const queryOf = (query: Query): string => {
  const given = Object.entries(query).filter((entry): entry is [string, string] => Boolean(entry[1]))
  return given.length > 0 ? `?${new URLSearchParams(given).toString()}` : ''
}

interface Chip {
  text: string
  query: Query
  isCurrent: boolean
}

/** Links that narrow a list down. */
export const chips = (context: AdminContext, label: string, list: readonly Chip[]): HtmlFragment =>
  html`<nav class="chips" aria-label="${label}">
${list.map(
  ({ text, query, isCurrent }) =>
    html`<a href="${context.at(context.path)}${queryOf(query)}"${isCurrent && html` aria-current="true"`}>${text}</a>
`,
)}</nav>
`

/** Writes a time as "3 minutes ago", and names the moment for those who look closer. */
export const ago = (atMs: number | undefined | null, nowMs: number, never = 'never'): HtmlFragment | string =>
  atMs === undefined || atMs === null ? never : agoOf(atMs, nowMs)

/** Writes "used 3 minutes ago", or "never used". */
export const used = (atMs: number | undefined | null, nowMs: number, verb = 'used'): HtmlFragment | string =>
  atMs === undefined || atMs === null ? `never ${verb}` : html`${verb} ${agoOf(atMs, nowMs)}`

export const moment = momentOf

export const plural = (count: number, one: string, many = `${one}s`): string =>
  `${count.toLocaleString('en-GB')} ${count === 1 ? one : many}`

/** "password, passkey and Google" */
export const wordList = (words: readonly string[], last = 'and'): string =>
  words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} ${last} ${words.at(-1)}`
