import { unavailable } from '../../lib/errors.ts'

/** While this many statements run, further keys wait for the next one. */
export const MAX_RUNNING = 2
const MAX_BATCH_SIZE = 200

export interface Waiter<Result> extends PromiseWithResolvers<Result> {
  sinceMs: number
}

/** These keys are asked for, each with its waiter. */
export type Batch<Key, Result> = Map<Key, Waiter<Result>>

interface BatchesDeps<Key, Result> {
  /** Runs one statement for the whole batch, and settles every waiter, or rejects for all of them. */
  send: (batch: Batch<Key, Result>) => Promise<void>
  /** A waiter that waits longer than this for a statement to start is rejected with `unavailable`. */
  timeoutMs: number
}

/**
 * Gathers the keys that are asked for in one turn of the event loop, or while other statements run, for one statement.
 * It starts after all of them were asked for.
 */
export const createBatches = <Key, Result>({ send, timeoutMs }: BatchesDeps<Key, Result>) => {
  const waiting: Batch<Key, Result> = new Map()
  let running = 0
  let isScheduled = false

  /** A database slower than its load would otherwise serve requests whose clients are gone, later and later. */
  const rejectExpired = (): void => {
    const expiredBeforeMs = performance.now() - timeoutMs
    for (const [key, waiter] of waiting) {
      if (waiter.sinceMs >= expiredBeforeMs) return
      waiting.delete(key)
      waiter.reject(unavailable('The database is overloaded.'))
    }
  }

  const takeBatch = (): Batch<Key, Result> => {
    const batch: Batch<Key, Result> = new Map()
    for (const [key, waiter] of waiting) {
      if (batch.size === MAX_BATCH_SIZE) break
      batch.set(key, waiter)
      waiting.delete(key)
    }
    return batch
  }

  const run = async (batch: Batch<Key, Result>): Promise<void> => {
    try {
      await send(batch)
    } catch (error) {
      // The waiters of the next statement would wait as long again, for the same error.
      for (const waiter of [...batch.values(), ...waiting.values()]) waiter.reject(error)
      waiting.clear()
    }
  }

  const runWaiting = (): void => {
    isScheduled = false
    rejectExpired()
    while (waiting.size > 0 && running < MAX_RUNNING) {
      running += 1
      void run(takeBatch()).finally(() => {
        running -= 1
        schedule()
      })
    }
  }

  const schedule = (): void => {
    if (isScheduled || waiting.size === 0 || running >= MAX_RUNNING) return
    isScheduled = true
    setImmediate(runWaiting)
  }

  return {
    /** Asks for a key; one that is waited for already has one promise for all. */
    ask(key: Key): Promise<Result> {
      const pending = waiting.get(key)
      if (pending) return pending.promise
      const waiter: Waiter<Result> = { ...Promise.withResolvers(), sinceMs: performance.now() }
      waiting.set(key, waiter)
      schedule()
      return waiter.promise
    },
  }
}
