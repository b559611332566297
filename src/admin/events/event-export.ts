import { type AuditRow, toAuditJson } from '../../audit/audit-row.ts'
import type { AuditQuery } from '../../audit/audit.ts'
import type { HttpResponse } from '../../http/response.ts'
import { toJsonText } from '../../lib/control-characters.ts'
import { html } from '../../lib/html.ts'
import type { AdminForm } from '../http/context.ts'
import type { AdminServices } from '../services.ts'
import { askPage, selectField, readReason } from '../site/ask.ts'
import { isFiltered, readFilter, toQuery } from './event-filter.ts'
import { toCsvLine } from './csv.ts'

/** So many records are in memory at once. */
const AT_ONCE = 500

const TITLE = 'Export records'

type Services = Pick<AdminServices, 'audit' | 'db' | 'site' | 'users'>

/** Exports the records that a filter leaves, as CSV or JSON Lines. The export is a record too. */
export const createEventExport = (services: Services): AdminForm => ({
  show(context, refusal) {
    const isPart = isFiltered(readFilter(context.query))
    const fields = html`${selectField(
      'format',
      'Format',
      [
        ['csv', 'CSV, for spreadsheets'],
        ['jsonl', 'JSON Lines, for programs'],
      ],
      context.form.get('format'),
    )}`
    const ends = [
      isPart
        ? 'The file has the records that the filter leaves, the newest first.'
        : 'The file has all records, the newest first.',
      'It has network addresses of people: keep it as you would keep a password.',
      'That you export them is recorded.',
    ]
    return askPage(
      services.site,
      context,
      { tab: 'Events', title: TITLE, back: '/events', ends, fields, button: 'Export' },
      refusal,
    )
  },

  async act(context): Promise<HttpResponse> {
    const { audit, db } = services
    const query = await toQuery(services, readFilter(context.query))
    const caller = context.caller(readReason(context))
    const isCsv = context.form.get('format') !== 'jsonl'
    await db.inTransaction((transaction) => audit.record(transaction, { type: 'audit.exported' }, caller))
    const name = isCsv ? 'records.csv' : 'records.jsonl'
    return {
      status: 200,
      contentType: isCsv ? 'text/csv; charset=utf-8' : 'application/jsonl; charset=utf-8',
      headers: ['content-disposition', `attachment; filename="${name}"`],
      parts: partsOf(audit, query, isCsv),
    }
  },
})

/** No transaction lasts as long as a slow client. */
async function* partsOf(audit: Services['audit'], query: AuditQuery, isCsv: boolean): AsyncGenerator<string> {
  const toLine = isCsv
    ? (row: AuditRow) => toCsvLine(cellsOf(row))
    : (row: AuditRow) => `${toJsonText(toAuditJson(row))}\n`
  if (isCsv) yield toCsvLine(COLUMNS)
  for (let cursor: string | undefined, isFirst = true; isFirst || cursor !== undefined; isFirst = false) {
    const { events, nextCursor } = await audit.list({ ...query, cursor, limit: AT_ONCE })
    if (events.length > 0) yield events.map(toLine).join('')
    cursor = nextCursor
  }
}

const COLUMNS = [
  'id',
  'at',
  'type',
  'user_id',
  'actor',
  'address',
  'user_agent',
  'request_id',
  'session_id',
  'details',
] as const

const cellsOf = (row: AuditRow): string[] => {
  const json = toAuditJson(row)
  return COLUMNS.map((name) => (name === 'details' ? toJsonText(json.details) : (json[name] ?? '')))
}
