import type { DirectoryUser } from '../../accounts/directory/directory.ts'
import type { Fields } from '../../http/body/form.ts'
import { type HttpResponse, redirect } from '../../http/response.ts'
import { AppError } from '../../lib/errors.ts'
import { type HtmlFragment, html } from '../../lib/html.ts'
import { readTimestamp, toTimestamp } from '../../lib/time.ts'
import type { AdminContext } from '../http/context.ts'
import type { AdminServices } from '../services.ts'
import { textField } from '../site/ask.ts'
import { ago, actLink, chips, wordList, pager, queryOf, things } from '../site/parts.ts'
import { findPage, type FindServices } from './find-anything.ts'
import { badgesOf, waysIn } from './user-state.ts'
import { createLabels } from './user-page.ts'

const LIMIT = 50

/** An index finds any part of so many letters. */
const LEAST_LETTERS = 3

type Services = FindServices & Pick<AdminServices, 'clock' | 'loadDirectory' | 'oauth' | 'site' | 'verifiesEmails'>

/** Shows one box that finds whatever is pasted, and the newest users below it. */
export const createUserList = (services: Services) => ({
  async handle(context: AdminContext): Promise<HttpResponse> {
    const text = context.query.get('q')?.trim() ?? ''
    const target = text === '' ? undefined : await findPage(services, text)
    if (target !== undefined) return redirect(context.at(target))
    const filter = readFilter(context.query)
    const isTooShort = text !== '' && Array.from(text).length < LEAST_LETTERS
    const { users, next, isCut } = isTooShort ? NOTHING : await find(services, text, filter)
    const body = html`<div class="head"><h1>Users</h1>${actLink(context, { does: 'user.invite', path: '/invite', text: 'Invite a user' })}</div>
${searchForm(context, text)}${filters(context, filter, text)}${hint({ isTooShort, isCut, next })}${userThings(services, context, users, isCut ? 'None was found so far.' : emptyText(text, filter))}${pager(context, { isLater: filter.cursor !== undefined, next, words: isCut ? 'Look further' : 'Older' })}`
    return services.site.page(context, { title: 'Users', tab: 'Users', body })
  },
})

interface Filter {
  disabled: true | undefined
  unverified: true | undefined
  neverSignedIn: true | undefined
  role: string | undefined
  createdSinceMs: number | undefined
  cursor: string | undefined
}

const readFilter = (query: Fields): Filter => {
  const created = query.get('created')
  return {
    disabled: query.get('show') === 'disabled' || undefined,
    unverified: query.get('show') === 'unverified' || undefined,
    neverSignedIn: query.get('show') === 'never' || undefined,
    role: query.get('role') || undefined,
    createdSinceMs: created ? readTimestamp(`${created}T00:00:00Z`) : undefined,
    cursor: query.get('cursor'),
  }
}

interface Found {
  users: DirectoryUser[]
  next: string | undefined
  /** True: it took too long to look at all users. */
  isCut: boolean
}

const NOTHING: Found = { users: [], next: undefined, isCut: false }

const find = async (services: Services, text: string, filter: Filter): Promise<Found> => {
  const directory = await services.loadDirectory()
  const search = text === '' ? undefined : text
  try {
    const { users, nextCursor: next } = await directory.list({ ...filter, search, newestFirst: true, limit: LIMIT })
    return { users, next, isCut: next !== undefined && users.length < LIMIT }
  } catch (error) {
    if (error instanceof AppError && error.reason === 'search_too_broad') return { ...NOTHING, isCut: true }
    throw error
  }
}

const searchForm = ({ at }: AdminContext, text: string): HtmlFragment =>
  html`<form class="find" action="${at('/')}" role="search">
<input id="q" name="q" type="search" value="${text}" autocomplete="off" autocapitalize="none" spellcheck="false" aria-label="Find a user, or anything by its id" placeholder="Email, username, id or address">
<button class="svc-button first">Find</button>
</form>
`

const filters = (context: AdminContext, filter: Filter, text: string): HtmlFragment => {
  const { query } = context
  const show = query.get('show')
  const rest = { q: text, role: query.get('role'), created: query.get('created') }
  const chip = (words: string, value: string | undefined) => ({
    text: words,
    query: { ...rest, show: value },
    isCurrent: (show ?? '') === (value ?? ''),
  })
  const isOpen = filter.role !== undefined || filter.createdSinceMs !== undefined
  return html`${chips(context, 'Which users', [chip('All', undefined), chip('Disabled', 'disabled'), chip('Not verified', 'unverified'), chip('Never signed in', 'never')])}<details${isOpen && html` open`}><summary class="quiet">By role or date</summary>
<form class="filter" action="${context.at('/')}">
${text !== '' && html`<input type="hidden" name="q" value="${text}">`}${show !== undefined && html`<input type="hidden" name="show" value="${show}">`}
${textField({ name: 'role', label: 'Role', value: filter.role, isOptional: true })}${textField({ name: 'created', label: 'Created since', type: 'date', value: filter.createdSinceMs === undefined ? undefined : toTimestamp(filter.createdSinceMs).slice(0, 10), isOptional: true })}
<div class="acts"><button class="svc-button second small">Filter</button> <a href="${context.at('/')}${queryOf({ q: text })}">All</a></div>
</form></details>
`
}

const hint = (about: Pick<Found, 'isCut' | 'next'> & { isTooShort: boolean }): HtmlFragment | undefined => {
  if (about.isTooShort)
    return html`<p class="box note">Enter ${LEAST_LETTERS} letters or more of an email address, a username or a name.</p>`
  if (about.isCut)
    return html`<p class="box note">Not all users were looked at${about.next === undefined ? '. Be' : ' yet. Look further, or be'} more exact.</p>`
  return undefined
}

const emptyText = (text: string, filter: Filter): string => {
  const isAll = text === '' && Object.values(filter).every((value) => value === undefined)
  return isAll ? 'There are no users yet.' : 'There are no such users.'
}

const userThings = (services: Services, context: AdminContext, users: readonly DirectoryUser[], empty: string) => {
  const nowMs = services.clock.now()
  const labelOf = createLabels(services)
  const list = users.map((user) => {
    const { id, email, username, name, roles, disabled, lastSeenAtMs, invitedAtMs } = user
    const ways = waysIn(user, labelOf)
    const signsIn = ways.length > 0 ? `signs in by ${wordList(ways, 'or')}` : 'has no way to sign in'
    const isIn = !disabled && invitedAtMs === undefined
    return {
      title: html`<a href="${context.at(`/users/${id}`)}">${email}</a>${badgesOf(user, services.verifiesEmails)}`,
      about: html`${username}${typeof name === 'string' && html` · <bdi>${name}</bdi>`}${isIn && ` · ${signsIn}`}${roles.length > 0 && ` · ${roles.join(', ')}`}`,
      when: lastSeenAtMs === undefined ? 'never signed in' : html`seen ${ago(lastSeenAtMs, nowMs)}`,
    }
  })
  return things(list, empty)
}
