import { LinkedList } from './fair-queue.ts'

/** Lets a few callers go on in each turn of the event loop. */
export interface Turns {
  /**
   * Resolves in this turn, or in a later one: the callers that came first go on first. Returns undefined if the caller
   * may go on.
   */
  join(): Promise<void> | undefined
}

export const createTurns = (size: number): Turns => {
  const waiting = new LinkedList<() => void>()
  let places = size
  let isScheduled = false

  const beginTurn = (): void => {
    isScheduled = false
    places = size
    for (let next = waiting.first; next && places > 0; next = waiting.first) {
      places -= 1
      waiting.remove(next)
      next.value()
    }
    if (waiting.first) schedule()
  }

  const schedule = (): void => {
    if (!isScheduled) setImmediate(beginTurn)
    isScheduled = true
  }

  return {
    join() {
      schedule()
      if (places > 0 && !waiting.first) {
        places -= 1
        return undefined
      }
      return new Promise((resolve) => void waiting.push(resolve))
    },
  }
}

interface GroupLimits {
  /** A group of this size goes on. */
  size: number
  /** The first of a group waits at most this long for the others. */
  maxWaitMs: number
}

export interface Groups {
  /** Resolves together with the others of its group. */
  join(): Promise<void>
  /** Lets a group go on that is not complete. */
  release(): void
}

/** Lets work that arrives bit by bit go on in groups. */
export const createGroups = ({ size, maxWaitMs }: GroupLimits): Groups => {
  let group: (() => void)[] = []
  let timer: NodeJS.Timeout | undefined

  const release = (): void => {
    clearTimeout(timer)
    timer = undefined
    const released = group
    group = []
    for (const resolve of released) resolve()
  }

  return {
    release,
    join: () =>
      new Promise((resolve) => {
        group.push(resolve)
        if (group.length >= size) release()
        else timer ??= setTimeout(release, maxWaitMs)
      }),
  }
}

/**
 * Lets callers share the runs of a function. Each caller gets the result of a run that began after the call, and one
 * run is in progress at a time.
 */
export const coalesce = <T>(run: () => Promise<T>): (() => Promise<T>) => {
  let current: Promise<unknown> | undefined
  let next: Promise<T> | undefined

  const runNext = async (): Promise<T> => {
    await current?.catch(() => {})
    const result = run()
    current = result
    next = undefined
    return result
  }

  return () => {
    next ??= runNext()
    return next
  }
}
