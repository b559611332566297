import type { HttpResponse } from '../../http/response.ts'
import { AppError } from '../../lib/errors.ts'
import { html } from '../../lib/html.ts'
import { isUuid } from '../../lib/uuid.ts'
import type { OutboxState } from '../../storage/outbox/outbox.ts'
import type { AdminContext } from '../http/context.ts'
import type { AdminServices } from '../services.ts'
import { actLink, chips, pager, things } from '../site/parts.ts'
import { eventThing, messageThing } from './delivery-things.ts'

const LIMIT = 50

const STATES: readonly OutboxState[] = ['waiting', 'failed', 'done']

const WORDS: Record<OutboxState, string> = { waiting: 'Waiting', failed: 'Failed', done: 'Delivered' }

type Services = Pick<AdminServices, 'clock' | 'mail' | 'site' | 'webhooks'>

/** Shows webhooks or messages, the newest first. */
export const createDeliveryList = ({ clock, mail, site, webhooks }: Services) => ({
  async handle(context: AdminContext): Promise<HttpResponse> {
    const { query } = context
    const kind = query.get('kind') === 'messages' ? 'messages' : 'webhooks'
    const state = STATES.find((each) => each === query.get('state'))
    const before = readCursor(query.get('cursor'))
    const request = { state, before, limit: LIMIT + 1 }
    const nowMs = clock.now()
    const rows = kind === 'messages' ? await mail.listPage(request) : await webhooks.listPage(request)
    const shown = rows.slice(0, LIMIT)
    const list = shown.map((row) =>
      'purpose' in row ? messageThing(context, row, nowMs) : eventThing(context, row, nowMs),
    )
    const load = await (kind === 'messages' ? mail : webhooks).load()
    const again = actLink(context, {
      does: 'delivery.send',
      path: `/deliveries/again?kind=${kind}`,
      text: 'Send failed ones again',
    })
    const body = html`<div class="head"><h1>Deliveries</h1>${load && again}</div>
<p class="state">${stateText(kind, load)}</p>
${chips(context, 'What is delivered', [
  { text: 'Webhooks', query: {}, isCurrent: kind === 'webhooks' },
  { text: 'Messages', query: { kind: 'messages' }, isCurrent: kind === 'messages' },
])}${chips(context, 'In which state', [
  { text: 'All', query: { kind }, isCurrent: state === undefined },
  ...STATES.map((each) => ({ text: WORDS[each], query: { kind, state: each }, isCurrent: state === each })),
])}${things(list, 'There are none.')}${pager(context, { isLater: before !== undefined, next: rows.length > LIMIT ? shown.at(-1)?.id : undefined })}`
    return site.page(context, { title: 'Deliveries', tab: 'Deliveries', body })
  },
})

const readCursor = (cursor: string | undefined): string | undefined => {
  if (cursor === undefined || isUuid(cursor)) return cursor
  throw new AppError('invalid_request', 'The query parameter "cursor" must be that of a link to the next page.')
}

const LATE_MS = 60_000

/** Says how it is with a kind of deliveries. */
const stateText = (kind: 'webhooks' | 'messages', load: { open: number; overdueMs: number } | undefined): string => {
  const what = kind === 'webhooks' ? 'Webhooks' : 'Messages'
  if (!load) return `${what} are off (${kind === 'webhooks' ? 'SVC_WEBHOOK_URL' : 'SVC_SMTP_URL'}).`
  if (load.open === 0) return `${what} are on, and none waits.`
  const late = load.overdueMs > LATE_MS ? ` The oldest is late by ${Math.floor(load.overdueMs / LATE_MS)} minutes.` : ''
  return `${what} are on, and ${load.open >= 10_000 ? '10,000 or more wait' : load.open === 1 ? 'one waits' : `${load.open} wait`}.${late}`
}
