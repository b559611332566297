import { createExpiringMap, type ExpiringMap } from './expiring-map.ts'
import { createMemory, type Memory } from './memory.ts'
import type { FeedSource } from './question.ts'
import { createReader, type Reader } from './reader.ts'
import { createWatches } from './watches.ts'

/** What svc said about a token that was in doubt. */
interface Answer {
  /** The claims that are true now; null: the token is worth nothing. */
  claims: Promise<object | null>
  /** The number of the last entry when svc was asked. */
  number: number
  expiresAtS: number
}

/** The feed of one svc, read with one key. */
export interface Feed extends Pick<Reader, 'begin' | 'isFresh' | 'problem' | 'firstTry'> {
  memory: Pick<Memory, 'hasEnded' | 'doubtAbout' | 'count'>
  watches: Pick<ReturnType<typeof createWatches>, 'add' | 'addCallback'>
  /** By the claim `jti`. */
  answers: ExpiringMap<Answer>
}

const createFeed = (source: FeedSource): Feed => {
  const memory = createMemory()
  const watches = createWatches(memory)
  const answers = createExpiringMap<Answer>(({ expiresAtS }) => expiresAtS)
  const reader = createReader(source, {
    entries(entries) {
      for (const entry of entries) {
        memory.add(entry)
        if (entry.type === 'session-revoked') watches.noteEnds(entry)
        else if (entry.type === 'sessions-revoked') watches.noteAny()
      }
    },
    beginsAgain() {
      memory.beginAgain()
      watches.noteAny()
    },
    upToDate() {
      memory.complete()
      memory.sweep()
      answers.sweep(memory.svcTimeS())
    },
  })
  return { ...reader, memory, watches, answers }
}

/** The number changes with what other versions of the package, or other bundles, would find there. */
const FEEDS = Symbol.for('@svc/sdk feeds 1')

type Registry = { [FEEDS]?: Map<string, Feed> }

/**
 * The feed of an svc in this process: bundlers may load this file more than once. Throws a `TypeError` where a setting is
 * missing.
 */
export const requireFeed = (source: FeedSource): Feed => {
  const registry = globalThis as Registry
  registry[FEEDS] ??= new Map()
  const name = `${source.requireUrl()} ${source.requireKey()}`
  const feed = registry[FEEDS].get(name) ?? createFeed(source)
  registry[FEEDS].set(name, feed)
  feed.begin()
  return feed
}
