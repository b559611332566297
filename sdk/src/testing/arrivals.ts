import { setTimeout as wait } from 'node:timers/promises'

const DEFAULT_PATIENCE_MS = 10_000
const LOOK_AGAIN_AFTER_MS = 5

/** Everything that has arrived so far, in order; it grows, and `reset` empties it. */
export interface Arrivals<T> extends ReadonlyArray<T> {
  /**
   * Resolves to the first one, of those from before too, that the condition is true for. Rejects after `timeoutMs`
   * (10,000 by default).
   */
  waitFor(condition?: (one: T) => boolean, options?: { timeoutMs?: number }): Promise<T>
}

interface Growing<T> {
  list: Arrivals<T>
  add(one: T): void
  clear(): void
}

/** An empty list, and the functions that change it. */
export const createArrivals = <T extends object>(what: string): Growing<T> => {
  const list: T[] = []
  const waitFor: Arrivals<T>['waitFor'] = async (condition = () => true, { timeoutMs = DEFAULT_PATIENCE_MS } = {}) => {
    const deadlineMs = performance.now() + timeoutMs
    for (;;) {
      const found = list.find(condition)
      if (found) return found
      if (performance.now() > deadlineMs)
        throw new Error(`no such ${what} within ${timeoutMs} ms; ${list.length} arrived`)
      await wait(LOOK_AGAIN_AFTER_MS)
    }
  }
  // Not enumerable, so that a comparison of the whole list sees its elements alone.
  Object.defineProperty(list, 'waitFor', { value: waitFor })
  return {
    list: list as unknown as Arrivals<T>,
    add: (one) => void list.push(one),
    clear: () => void list.splice(0),
  }
}
