import { LinkedList } from './linked-list.ts'

/** Lets a few callers go on in each turn of the event loop. */
export interface Turns {
  /** Resolves in this turn, or in a later one: those who came first go on first. Undefined: the caller may go on. */
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
