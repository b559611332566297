import type { Command } from 'commander'
import type { AuditQuery, AuditRow } from '../audit/audit.ts'
import { AUDIT_COLUMNS, type ShownRecord } from './audit-output.ts'
import { type AuditSelection, readSelection, requireType, withSelection } from './audit-query.ts'
import { addCommand, type JsonOption, withJson } from './command.ts'
import type { CommandContext } from './command-context.ts'
import { parseLimit } from './parse-limit.ts'
import { printList } from './terminal/output.ts'
import { type Core, withCore } from './with-core.ts'

const DEFAULT_LIMIT = 50
const PAGE = 500

interface ListOptions extends JsonOption, AuditSelection {
  limit?: number
}

/** `svc audit list` */
export const addAuditList = (audit: Command, { loadConfig }: CommandContext): void => {
  const list = addCommand(audit, 'list', 'list what happened, the newest first', [
    'svc audit list --user ada@example.com',
    'svc audit list --type login.failed --since 24h --json | jq "map(.details.count) | add"',
  ])
  withSelection(list).option(
    '--limit <count>',
    `maximum number of records; ${DEFAULT_LIMIT}, and with --since all, if left out`,
    parseLimit,
  )
  withJson(list).action(async (options: ListOptions) => {
    const type = await requireType(list, options.type)
    await withCore(loadConfig(), async (core) => {
      const { toAuditJson } = await import('../audit/audit-row.ts')
      const limit = options.limit ?? (options.since ? Number.POSITIVE_INFINITY : DEFAULT_LIMIT)
      const pages = readPages(core, await readSelection(core, options, type), limit)
      // JSON is that of the server API, with ids alone.
      const shown = options.json ? pages : withEmails(core, pages)
      const listing = { columns: AUDIT_COLUMNS, toJson: toAuditJson, empty: 'there are no records' }
      await printList(shown, listing, options.json)
    })
  })
}

/** The newest records, page by page, up to a number of them. */
async function* readPages({ audit }: Core, query: AuditQuery, limit: number): AsyncGenerator<AuditRow[]> {
  let cursor: string | undefined
  let left = limit
  do {
    const page = await audit.list({ ...query, limit: Math.min(PAGE, left), cursor })
    yield page.events
    left -= page.events.length
    cursor = page.nextCursor
  } while (cursor !== undefined && left > 0)
}

const emailsOf = async ({ users }: Core, page: AuditRow[]): Promise<Map<string | undefined, string | undefined>> => {
  const ids = [...new Set(page.flatMap(({ userId }) => userId ?? []))]
  const found = await Promise.all(ids.map((id) => users.find(id)))
  return new Map(found.map((user) => [user?.id, user?.email]))
}

/** Users are looked up page by page. */
async function* withEmails(core: Core, pages: AsyncIterable<AuditRow[]>): AsyncGenerator<ShownRecord[]> {
  for await (const page of pages) {
    const emails = await emailsOf(core, page)
    yield page.map((row) => ({ ...row, email: emails.get(row.userId) }))
  }
}
