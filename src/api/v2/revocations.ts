import type { AuthenticatedKey } from '../../api-keys/api-keys.ts'
import { unavailable } from '../../lib/errors.ts'
import type { FeedEntry, Page, RevocationFeed } from '../../revocations/revocations.ts'
import type { RequestContext } from '../../http/request-context.ts'
import { eventStream, type HttpResponse, json } from '../../http/response.ts'
import type { Documentation } from '../../http/route.ts'
import type { Services } from '../../http/services.ts'
import { failure } from '../schemas.ts'
import { createQueryReader, parameter } from './list-query.ts'
import { refToV2 } from './schemas.ts'

const EVENT_STREAM = 'text/event-stream'

const MAX_WAIT_SECONDS = 30

/** A part of a stream is about as long: a reader that takes nothing holds no more of it. */
const PART_LENGTH = 16_384

interface RevocationsDeps extends Pick<Services, 'apiKeys'> {
  feed: RevocationFeed
}

/** Answers `GET /auth/api/v2/revocations` (CONTRACT.md 10.8). */
export const createListRevocations = ({ apiKeys, feed }: RevocationsDeps) => {
  const looks = new Map<string, Promise<boolean>>()

  /** A stream ends when its key is revoked or expires. Those that go on in one turn of the event loop look at it once. */
  const isStillGood = (text: string, { id }: AuthenticatedKey): Promise<boolean> => {
    const known = looks.get(text)
    if (known) return known
    // While the database is away, nobody can tell; there is nothing to be sent then.
    const look = (async () => (await apiKeys.authenticate(text))?.id === id)().catch(() => true)
    looks.set(text, look)
    setImmediate(() => looks.delete(text))
    return look
  }

  const openStream = async (context: RequestContext, key: AuthenticatedKey): Promise<HttpResponse> => {
    const { signal, headers, query } = context
    // A browser that connects again sends the cursor of the address too, which is older.
    const cursor = headers['last-event-id']?.toString() ?? query.get('cursor')
    const keyText = headers.authorization?.split(' ').at(-1) ?? ''
    const pages = feed.follow(cursor, { signal, mayGoOn: () => isStillGood(keyText, key) })
    // What is wrong is said before the stream begins.
    const first = await pages.next()
    // An answer without a word would tell the reader that no stream comes through.
    if (!first.value) throw unavailable('The service stops.')
    return eventStream(partsOf(first.value, pages))
  }

  return {
    documentation: DOCUMENTATION,

    async handle(context: RequestContext, key: AuthenticatedKey): Promise<HttpResponse> {
      const { headers, method, query, signal } = context
      const seconds = createQueryReader(query)(
        'wait',
        parseWait,
        `a whole number of seconds from 0 to ${MAX_WAIT_SECONDS}`,
      )
      const isHead = method === 'HEAD'
      if (!isHead && acceptsStream(headers.accept)) return openStream(context, key)
      return json(200, toJson(await feed.read(query.get('cursor'), { ms: isHead ? 0 : (seconds ?? 0) * 1000, signal })))
    },
  }
}

const DOCUMENTATION = {
  operationId: 'listRevocations',
  summary: 'Sessions and grants that have ended, and users whose claims have changed',
  tag: 'Sessions',
  parameters: [
    parameter('cursor', '`next_cursor` of the answer before: only what came after it'),
    parameter('wait', 'With a cursor: how many seconds to wait for the first entry', {
      type: 'integer',
      minimum: 0,
      maximum: MAX_WAIT_SECONDS,
      default: 0,
    }),
    {
      name: 'Last-Event-ID',
      in: 'header',
      required: false,
      description: 'Of an event stream: the `id` that came last, in place of `cursor`',
      schema: { type: 'string' },
    },
  ],
  responses: {
    200: {
      description: 'Up to 1,000 entries; with `Accept: text/event-stream`, all that come, without an end',
      schema: refToV2('RevocationList'),
      stream: refToV2('RevocationStream'),
    },
    400: failure('`invalid_request`: a parameter is not accepted'),
  },
} satisfies Documentation

const parseWait = (text: string): number | undefined => {
  const seconds = /^\d{1,2}$/.test(text) ? Number(text) : MAX_WAIT_SECONDS + 1
  return seconds <= MAX_WAIT_SECONDS ? seconds : undefined
}

const acceptsStream = (accept = ''): boolean =>
  accept.split(',').some((range) => range.split(';', 1)[0]?.trim().toLowerCase() === EVENT_STREAM)

const toJson = ({ entries, cursor, hasMore, isComplete }: Page): string => {
  const events = entries.map(({ json: text }) => text).join(',')
  return `{"events":[${events}],"next_cursor":${JSON.stringify(cursor ?? null)},"more":${hasMore},"complete":${isComplete}}`
}

/** Writes pages as events (HTML standard, 9.2.5). A comment says that all up to now was sent. */
async function* partsOf(first: Page, pages: AsyncGenerator<Page, void>): AsyncGenerator<string> {
  let sent: string | undefined
  try {
    for (let page: Page | undefined = first; page; page = (await pages.next()).value ?? undefined) {
      for (const part of inParts(page.entries)) yield part
      sent = page.entries.at(-1)?.cursor ?? sent
      if (!page.isComplete) yield 'event: incomplete\ndata: {"complete":false}\n\n'
      else if (page.entries.length === 0) {
        const { cursor } = page
        yield cursor === sent ? ': up to date\n\n' : `: up to date\nid: ${cursor}\n\n`
        sent = cursor
      }
    }
  } finally {
    await pages.return()
  }
}

function* inParts(entries: readonly FeedEntry[]): Generator<string> {
  let part = ''
  for (const { cursor, json: data } of entries) {
    part += `id: ${cursor}\ndata: ${data}\n\n`
    if (part.length < PART_LENGTH) continue
    yield part
    part = ''
  }
  if (part) yield part
}
