import { AUDIT_TYPES } from '../../audit/audit-event.ts'
import type { HttpResponse } from '../../http/response.ts'
import { type HtmlFragment, html } from '../../lib/html.ts'
import type { AdminContext } from '../http/context.ts'
import type { AdminServices } from '../services.ts'
import { selectField, textField } from '../site/ask.ts'
import { actLink, pager, queryOf, things } from '../site/parts.ts'
import { type EventFilter, isFiltered, readFilter, toQuery } from './event-filter.ts'
import { happened } from './event-text.ts'
import { eventThings } from './event-things.ts'

const LIMIT = 50

type Services = Pick<AdminServices, 'audit' | 'clock' | 'loadDirectory' | 'site' | 'users'>

/** Shows all records, the newest first. */
export const createEventList = (services: Services) => ({
  async handle(context: AdminContext): Promise<HttpResponse> {
    const { audit, clock, loadDirectory, site } = services
    const filter = readFilter(context.query)
    const cursor = context.query.get('cursor')
    const { events, nextCursor } = await audit.list({ ...(await toQuery(services, filter)), cursor, limit: LIMIT })
    const ids = [...new Set(events.flatMap(({ userId }) => userId ?? []))]
    const users = await (await loadDirectory()).findAll(ids)
    const emails = new Map(users.map(({ id, email }) => [id, email]))
    const shown = { nowMs: clock.now(), isOfUser: false, emailOf: (id: string) => emails.get(id) }
    const isCut = nextCursor !== undefined && events.length < LIMIT
    const exported = actLink(context, {
      does: 'events.export',
      path: `/events/export${queryOf({ ...filter })}`,
      text: 'Export',
    })
    const body = html`<div class="head"><h1>Events</h1>${exported}</div>
<p class="about">${isFiltered(filter) ? 'Only what the filter leaves.' : 'What happened to accounts, keys and clients, and who did it.'} The newest first.</p>
${filterForm(context, filter)}${isCut && html`<p class="box note">Not all records were looked at yet. Look further, or be more exact.</p>`}${things(eventThings(context, events, shown), 'There are no such records.')}${pager(context, { isLater: cursor !== undefined, next: nextCursor, words: isCut ? 'Look further' : 'Older' })}`
    return site.page(context, { title: 'Events', tab: 'Events', body })
  },
})

const TYPES: readonly (readonly [string, string])[] = [
  ['', 'Any'],
  ...AUDIT_TYPES.toSorted().map((type) => [type, happened(type)] as const),
]

const filterForm = (context: AdminContext, filter: EventFilter): HtmlFragment =>
  html`<details${isFiltered(filter) && html` open`}><summary class="quiet">Filter</summary>
<form class="filter" action="${context.at('/events')}">
${selectField('type', 'What happened', TYPES, filter.type)}${textField({ name: 'user', label: 'User', value: filter.user, isOptional: true, hint: 'An id, email address or username.' })}${textField({ name: 'actor', label: 'Who did it', value: filter.actor, isOptional: true, hint: 'cli, system, admin:NAME or api:NAME.' })}${textField({ name: 'address', label: 'Network address', value: filter.address, isOptional: true })}${textField({ name: 'request', label: 'Request', value: filter.request, isOptional: true, hint: 'The reference on an error page.' })}${textField({ name: 'since', label: 'Since (UTC)', type: 'datetime-local', value: filter.since, isOptional: true })}${textField({ name: 'until', label: 'Until (UTC)', type: 'datetime-local', value: filter.until, isOptional: true })}
<div class="acts"><button class="svc-button second small">Filter</button> <a href="${context.at('/events')}">All</a></div>
</form></details>
`
