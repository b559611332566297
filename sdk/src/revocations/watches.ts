import type { SessionsEnded } from './entry.ts'
import type { Memory } from './memory.ts'

/** Whose connection it is: the claims `sid` and `sub`, or `sid` and `id` of a user. */
export interface SessionIdentity {
  sid: string | undefined
  sub: string | undefined
}

/** What an application is told of a session that has ended. */
export interface SessionEnd {
  /** The session, or the grant of a client. Undefined: any may have ended, and the feed cannot say which. */
  sid: string | undefined
  /** The ID of the user. */
  sub: string | undefined
  /** Why, as svc says it, such as `logout`; undefined where any may have ended. */
  reason: string | undefined
  /** The session that goes on in its place, after a step-up. */
  replacedBy: string | undefined
}

interface Watch {
  sid: string
  userId: string
  end(): void
}

const ANY: SessionEnd = { sid: undefined, sub: undefined, reason: undefined, replacedBy: undefined }

/** Runs what an application has given; a mistake there ends neither the feed nor the process. */
const attempt = async (act: () => unknown): Promise<void> => {
  try {
    await act()
  } catch (error) {
    console.error('@svc/sdk: a callback for the end of a session has failed:', error)
  }
}

/** What waits for the ends of sessions. */
export const createWatches = (memory: Pick<Memory, 'hasEnded' | 'replacementOf'>) => {
  const bySession = new Map<string, Set<Watch>>()
  const callbacks = new Set<(end: SessionEnd) => unknown>()

  const tell = (end: SessionEnd): void => {
    for (const callback of callbacks) void attempt(() => callback(end))
  }

  /** Goes on with the session that took the place, of the same user, as often as that happened. */
  const attach = (watch: Watch): void => {
    const passed = new Set<string>()
    for (;;) {
      const next = memory.replacementOf(watch.sid)
      passed.add(watch.sid)
      if (!next || next.userId !== watch.userId || passed.has(next.sid)) break
      watch.sid = next.sid
    }
    if (memory.hasEnded(watch.sid)) return void attempt(watch.end)
    const watches = bySession.get(watch.sid) ?? new Set()
    bySession.set(watch.sid, watches.add(watch))
  }

  const detach = (watch: Watch): void => {
    const watches = bySession.get(watch.sid)
    if (watches?.delete(watch) && watches.size === 0) bySession.delete(watch.sid)
  }

  return {
    /** Calls `end` when the session has ended, at once where that is known. The returned function ends the watch. */
    add({ sid, sub }: SessionIdentity, end: () => void): () => void {
      if (typeof sid !== 'string' || typeof sub !== 'string')
        throw new TypeError(
          'a session is named by its sid and the ID of its user, as in { sid: user.sid, sub: user.id }',
        )
      const watch = { sid, userId: sub, end }
      attach(watch)
      return () => detach(watch)
    },
    /** Calls back with every session that ends. The returned function ends that. */
    addCallback(callback: (end: SessionEnd) => unknown): () => void {
      if (typeof callback !== 'function') throw new TypeError('onSessionEnded takes a function')
      // The same function may be given twice.
      const own = (end: SessionEnd): unknown => callback(end)
      callbacks.add(own)
      return () => void callbacks.delete(own)
    },
    /** Some sessions have ended, which the memory knows already. */
    noteEnds({ sessionIds, userId, reason, replacedBy }: SessionsEnded): void {
      for (const sid of sessionIds) {
        const watches = bySession.get(sid)
        bySession.delete(sid)
        for (const watch of watches ?? []) attach(watch)
        tell({ sid, sub: userId, reason, replacedBy })
      }
    },
    /** Any may have ended: the connections are closed, and the pages open them again, where that is allowed. */
    noteAny(): void {
      const all = [...bySession.values()].flatMap((watches) => [...watches])
      bySession.clear()
      for (const watch of all) void attempt(watch.end)
      tell(ANY)
    },
  }
}
