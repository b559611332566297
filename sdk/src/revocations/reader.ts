import { reasonOf } from '../guard/outage.ts'
import { type Page, readEntry } from './entry.ts'
import type { StreamEvent } from './event-stream.ts'
import { askForPage, type FeedSource, Incomplete, NoStream, openStream, Refused } from './question.ts'

/** What the reader does with the feed. */
export interface FeedListener {
  entries(entries: Page['entries']): void
  /** The feed is read from its beginning again, since it cannot say what has ended since it was last read. */
  beginsAgain(): void
  /** All that was sent up to now was read. */
  upToDate(): void
}

export interface Reader {
  /** Begins to read, once. Throws a `TypeError` where a setting is missing. */
  begin(): void
  /** Whether all is known that has ended up to a few seconds ago. */
  isFresh(): boolean
  /** Why the feed could not be read last. */
  problem(): unknown
  /** Resolves when the feed was read to its end for the first time, or could not be; undefined once that has happened. */
  firstTry(): Promise<void> | undefined
}

const STALE_MS = 5000
/** In seconds, so that an answer comes before anything is stale. */
const POLL_WAIT = 4
/** How long polls take the place of a stream that does not arrive. */
const POLL_FOR_MS = 300_000
const SHORTEST_PAUSE_MS = 250
const LONGEST_PAUSE_MS = 10_000
/** Each try with a key that was revoked is a line in the log of svc. */
const LONGEST_PAUSE_REFUSED_MS = 60_000

// The jitter keeps the readers of a large application from coming all at once when svc is back.
const pause = (failures: number, problem: unknown): Promise<void> =>
  new Promise((resolve) => {
    const mostMs = problem instanceof Refused ? LONGEST_PAUSE_REFUSED_MS : LONGEST_PAUSE_MS
    const longestMs = Math.min(mostMs, SHORTEST_PAUSE_MS * 2 ** failures)
    const timer: { unref?: () => void } | number = setTimeout(resolve, longestMs * (0.5 + Math.random() / 2))
    if (typeof timer === 'object') timer.unref?.()
  })

/**
 * When the feed was last up to date, by two clocks: one stands still while the machine sleeps, and the other can be turned
 * back.
 */
const createFreshness = () => {
  let heard: { wallMs: number; steadyMs: number } | undefined
  return {
    note(): void {
      heard = { wallMs: Date.now(), steadyMs: performance.now() }
    },
    forget(): void {
      heard = undefined
    },
    holds: (): boolean =>
      heard !== undefined && performance.now() - heard.steadyMs < STALE_MS && Date.now() - heard.wallMs < STALE_MS,
  }
}

/** Why the feed cannot be read, printed once. */
const createProblem = (requireUrl: () => string, isFresh: () => boolean) => {
  let last: unknown
  let printed: string | undefined
  return {
    last: () => last,
    note(error: unknown): void {
      last = error
      const text = reasonOf(error)
      // A connection that ends, and is opened again in time, is no problem.
      if (text === printed || (isFresh() && !(error instanceof Refused))) return
      printed = text
      console.error(`@svc/sdk: the revocation feed of ${requireUrl()} cannot be read: ${text}`)
    },
    forget(): void {
      last = undefined
      printed = undefined
    },
  }
}

/**
 * Reads the feed in the background: all that matters, then what comes, as a stream, and by polls where none arrives. It
 * keeps no process alive.
 */
export const createReader = (source: FeedSource, listener: FeedListener): Reader => {
  let hasBegun = false
  let cursor: string | undefined
  /** Whether the feed was read up to its end since its beginning. */
  let isWhole = false
  let pollUntilMs = 0
  /** In a row, without a sign of life of the feed. */
  let failures = 0
  const freshness = createFreshness()
  const problem = createProblem(source.requireUrl, freshness.holds)
  let endFirstTry: (() => void) | undefined
  let firstTry: Promise<void> | undefined = new Promise((resolve) => {
    endFirstTry = resolve
  })

  const noteTry = (): void => {
    endFirstTry?.()
    firstTry = undefined
  }

  const noteUpToDate = (): void => {
    freshness.note()
    problem.forget()
    listener.upToDate()
    noteTry()
  }

  /** Resolves to whether there is more. */
  const readPage = async (wait: number): Promise<boolean> => {
    const { entries, cursor: next, more } = await askForPage(source, cursor, wait)
    listener.entries(entries)
    cursor = next
    if (!more) noteUpToDate()
    return more
  }

  const readWhole = async (): Promise<void> => {
    while (await readPage(0)) continue
    isWhole = true
  }

  const poll = async (): Promise<void> => {
    await readPage(0)
    while (performance.now() < pollUntilMs) {
      await readPage(POLL_WAIT)
      failures = 0
    }
  }

  const takeEvent = ({ name, data, id }: StreamEvent): void => {
    if (name === 'incomplete') throw new Incomplete()
    const entry = data === '' ? undefined : readEntry(JSON.parse(data))
    if (entry) listener.entries([entry])
    cursor = id ?? cursor
  }

  const stream = async (): Promise<void> => {
    for await (const event of openStream(source, cursor)) {
      if (event) takeEvent(event)
      else {
        noteUpToDate()
        failures = 0
      }
    }
  }

  const noteFailure = (error: unknown): void => {
    problem.note(error)
    noteTry()
    if (error instanceof NoStream) pollUntilMs = performance.now() + POLL_FOR_MS
    if (!(error instanceof Incomplete)) return
    cursor = undefined
    isWhole = false
    freshness.forget()
    listener.beginsAgain()
  }

  const follow = async (): Promise<void> => {
    try {
      if (!isWhole) await readWhole()
      if (performance.now() < pollUntilMs) await poll()
      else await stream()
    } catch (error) {
      noteFailure(error)
      // Polls come next, before anything is stale.
      if (error instanceof NoStream) return
    }
    await pause(failures, problem.last())
  }

  const run = async (): Promise<never> => {
    for (;;) {
      await follow()
      failures += 1
    }
  }

  return {
    begin() {
      if (hasBegun) return
      source.requireUrl()
      source.requireKey()
      hasBegun = true
      void run()
    },
    isFresh: freshness.holds,
    problem: problem.last,
    firstTry: () => firstTry,
  }
}
