import { type Page, readPage } from './entry.ts'
import { readEventStream, readText, type StreamEvent } from './event-stream.ts'
import { type Answer, get } from './transport.ts'

/** How the feed is reached. */
export interface FeedSource {
  /** Throws a `TypeError` where it is missing; so does the next one. */
  requireUrl(): string
  requireKey(): string
  timeoutMs: number
}

/** The feed does not go on where it was left: the cursor is too old, or of another state of the database. */
export class Incomplete extends Error {
  override message = 'it does not go on where it was left'
}

/** A mistake in the settings, which no waiting mends. */
export class Refused extends Error {}

/** svc, or a proxy before it, sends no stream that arrives. */
export class NoStream extends Error {
  override message = 'it does not arrive as a stream'
}

const PATH = '/auth/api/v2/revocations'
/** Comments come every two seconds. */
const LONGEST_SILENCE_MS = 4000

const tooLong = (ms: number): Error => new Error(`nothing came for ${ms / 1000} s`)

const failureOf = (status: number, cursor: string | undefined): Error => {
  if (status === 400 && cursor !== undefined) return new Incomplete()
  if (status === 401) return new Refused('its key is wrong, or was revoked')
  if (status === 403) return new Refused('its key needs the scope revocations:read')
  if (status === 404) return new Refused('svc answered 404: is this its address?')
  return new Error(`svc answered ${status}`)
}

/** Aborts when it was not fed for a while. It keeps no process alive. */
const createPatience = (ms: number) => {
  const end = new AbortController()
  let timer: ReturnType<typeof setTimeout> | undefined
  let fedAtMs = Date.now()
  const wait = (): void => {
    clearTimeout(timer)
    timer = setTimeout(() => end.abort(tooLong(ms)), ms)
    // It is a number in browsers.
    ;(timer as { unref?: () => void }).unref?.()
  }
  wait()
  return {
    signal: end.signal,
    /** Throws where the machine has slept, which stops timers: what arrives then may be as old as the sleep. */
    feed(): void {
      if (Date.now() - fedAtMs > ms) throw tooLong(ms)
      fedAtMs = Date.now()
      wait()
    },
    stop(): void {
      clearTimeout(timer)
      end.abort()
    },
  }
}

type Patience = ReturnType<typeof createPatience>

// What the transport throws then says less.
const causeOf = ({ signal }: Patience, error: unknown): unknown => (signal.aborted ? signal.reason : error)

const open = async (
  { requireUrl, requireKey }: FeedSource,
  query: { cursor: string | undefined; wait?: string },
  { accept, signal }: { accept: string; signal: AbortSignal },
): Promise<Answer> => {
  const url = new URL(PATH, requireUrl())
  for (const [name, value] of Object.entries(query)) if (value !== undefined) url.searchParams.set(name, value)
  const headers = { authorization: `Bearer ${requireKey()}`, accept, 'accept-encoding': 'identity' }
  const answer = await get(url.href, { headers, signal })
  if (answer.status === 200) return answer
  throw failureOf(answer.status, query.cursor)
}

/** Asks for what comes after the cursor, and waits so many seconds for the first of it. */
export const askForPage = async (source: FeedSource, cursor: string | undefined, wait: number): Promise<Page> => {
  const patience = createPatience(wait * 1000 + source.timeoutMs)
  try {
    const options = { accept: 'application/json', signal: patience.signal }
    const answer = await open(source, { cursor, wait: String(wait) }, options)
    const page = readPage(JSON.parse(await readText(answer.chunks)))
    patience.feed()
    if (page.complete) return page
  } catch (error) {
    throw causeOf(patience, error)
  } finally {
    patience.stop()
  }
  throw new Incomplete()
}

/** Yields the events after the cursor until the stream ends, and undefined for each comment. */
export async function* openStream(
  source: FeedSource,
  cursor: string | undefined,
): AsyncGenerator<StreamEvent | undefined> {
  const patience = createPatience(LONGEST_SILENCE_MS)
  let heard = false
  try {
    const { header, chunks } = await open(source, { cursor }, { accept: 'text/event-stream', signal: patience.signal })
    if (!/^text\/event-stream\b/i.test(header('content-type') ?? '')) throw new NoStream()
    for await (const event of readEventStream(chunks)) {
      heard = true
      patience.feed()
      yield event
    }
    if (!heard) throw new NoStream()
  } catch (error) {
    if (patience.signal.aborted && !heard) throw new NoStream()
    throw causeOf(patience, error)
  } finally {
    patience.stop()
  }
}
