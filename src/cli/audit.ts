import type { AuditQuery, AuditRow, AuditType } from '../audit/audit.ts'
import { parser } from '../config/parsers.ts'
import { toJsonText } from '../lib/control-characters.ts'
import { MAX_DATE_MS, parseDuration, readTimestamp } from '../lib/time.ts'
import { isUuid } from '../lib/uuid.ts'
import { type Call, command, group, LIST_LIMIT, option, type ValuesOf } from './command/command.ts'
import { type Core, EXPORT_TIMEOUT_MS, requireUser } from './command/with-core.ts'
import { writing } from './terminal/output-file.ts'
import { printNotice } from './terminal/output.ts'
import type { Column } from './terminal/table.ts'
import { countText, toSecond } from './terminal/text.ts'

type Since = { agoMs: number } | { atMs: number }

const since = parser(
  'a duration such as 30m, 24h or 2160h, or a time such as 2026-11-22T00:00:00Z',
  (text): Since | undefined => {
    const agoMs = parseDuration(text)
    if (agoMs !== undefined && agoMs >= 1 && agoMs <= MAX_DATE_MS) return { agoMs }
    const atMs = readTimestamp(text)
    return atMs === undefined ? undefined : { atMs }
  },
)

const SELECTION = {
  user: option.text('--user <user>', 'only those of this user: id, email or username; of a deleted user, the id'),
  type: option.text('--type <type>', 'only those of this type, such as login.failed'),
  since: option.parsed('--since <time>', 'only those since then: 24h for the last day, or 2026-11-22T00:00:00Z', since),
}

type Selection = ValuesOf<typeof SELECTION>

/** Refuses an unknown type: a misspelt one would find nothing. */
const requireType = async ({ options: { type }, usageError }: Call<Selection>): Promise<AuditType | undefined> => {
  if (type === undefined) return undefined
  const { AUDIT_TYPES } = await import('../audit/audit-event.ts')
  const known = AUDIT_TYPES.find((it) => it === type)
  return known ?? usageError(`there is no type ${JSON.stringify(type)}: the types are ${AUDIT_TYPES.join(', ')}`)
}

const toQuery = async (core: Core, { user, since }: Selection, type: AuditType | undefined): Promise<AuditQuery> => ({
  userId: await findUserId(core, user),
  type,
  sinceMs: since && ('atMs' in since ? since.atMs : Math.max(0, core.clock.now() - since.agoMs)),
})

/** Accepts any id, because records keep the id of a deleted user. */
const findUserId = async (core: Core, user: string | undefined): Promise<string | undefined> => {
  if (user === undefined) return undefined
  const id = user.toLowerCase()
  return isUuid(id) ? id : (await requireUser(core, user)).id
}

const DEFAULT_LIMIT = 50

const list = command({
  text: 'list what happened, the newest first',
  examples: [
    'svc audit list --user ada@example.com',
    'svc audit list --type login.failed --since 24h --json | jq "map(.details.count) | add"',
  ],
  options: {
    ...SELECTION,
    limit: option.parsed(
      '--limit <count>',
      `maximum number of records; ${DEFAULT_LIMIT}, and with --since all, if left out`,
      LIST_LIMIT,
    ),
  },
  async run(call) {
    const { options, json } = call
    const type = await requireType(call)
    await call.withCore(async ({ core }) => {
      const { toAuditJson } = await import('../audit/audit-row.ts')
      const max = options.limit ?? (options.since ? Number.POSITIVE_INFINITY : DEFAULT_LIMIT)
      const pages = readPages(core, await toQuery(core, options, type), max)
      // The JSON is that of the server API, with ids alone.
      const shown = json ? pages : withEmails(core, pages)
      await call.list(shown, { columns: COLUMNS, toJson: toAuditJson, empty: 'there are no records' })
    })
  },
})

const PAGE = 500

/** Yields the newest records, page by page, up to a number of them. */
async function* readPages({ audit: records }: Core, query: AuditQuery, max: number): AsyncGenerator<AuditRow[]> {
  let cursor: string | undefined
  let left = max
  do {
    const page = await records.list({ ...query, limit: Math.min(PAGE, left), cursor })
    yield page.events
    left -= page.events.length
    cursor = page.nextCursor
  } while (cursor !== undefined && left > 0)
}

/** The user of a record may be gone. */
type ShownRecord = AuditRow & { email?: string | undefined }

async function* withEmails({ users }: Core, pages: AsyncIterable<AuditRow[]>): AsyncGenerator<ShownRecord[]> {
  for await (const page of pages) {
    const ids = [...new Set(page.flatMap(({ userId }) => userId ?? []))]
    const found = await Promise.all(ids.map((id) => users.find(id)))
    const emails = new Map(found.map((user) => [user?.id, user?.email]))
    yield page.map((row) => ({ ...row, email: emails.get(row.userId) }))
  }
}

const RED: readonly string[] = ['login.failed', 'login.limited', 'session.refreshed_reuse', 'webhook.given_up']

/** `count=3 reason=credentials_wrong` */
const detailsText = ({ details }: AuditRow): string =>
  Object.entries(JSON.parse(details) as Record<string, unknown>)
    .map(([name, detail]) => `${name}=${Array.isArray(detail) ? detail.join(',') : String(detail)}`)
    .join(' ')

const COLUMNS: Column<ShownRecord>[] = [
  { title: 'at (UTC)', value: ({ atMs }) => toSecond(atMs) },
  { title: 'type', value: ({ type }) => type, tone: ({ type }) => (RED.includes(type) ? 'red' : undefined) },
  { title: 'actor', value: ({ actor }) => actor, minWidth: 6 },
  { title: 'user', value: ({ email, userId }) => email ?? userId ?? '', minWidth: 16 },
  { title: 'address', value: ({ address }) => address ?? '', minWidth: 9 },
  { title: 'details', value: detailsText, minWidth: 12, optional: true },
]

const exportRecords = command({
  text: 'print records, one JSON object a line, the oldest first',
  examples: ['svc audit export --output audit.jsonl', 'svc audit export --user ada@example.com'],
  notes: 'With --user, this is what svc has recorded about a person who asks for it.',
  options: { ...SELECTION, output: option.text('--output <file>', 'write to a new file that only its owner can read') },
  json: false,
  async run(call) {
    const type = await requireType(call)
    const count = await call.withCore(
      async ({ core }) => {
        const { toAuditJson } = await import('../audit/audit-row.ts')
        const query = await toQuery(core, call.options, type)
        const toLine = (row: AuditRow): string => `${toJsonText(toAuditJson(row))}\n`
        return writing(call.options.output, (write) =>
          core.audit.exportAll(query, (rows) => write(rows.map(toLine).join(''))),
        )
      },
      { ...call.loadConfig(), databaseTimeoutMs: EXPORT_TIMEOUT_MS },
    )
    printNotice(`exported ${countText(count, 'record')}`)
  },
})

export const audit = group({
  text: 'show what happened, and who did it',
  examples: ['svc audit list --user ada@example.com', 'svc audit export --since 24h'],
  commands: { list, export: exportRecords },
})
