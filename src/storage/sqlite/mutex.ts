export interface Mutex {
  /** This tells whether any work holds the mutex or waits for it. */
  readonly isLocked: boolean
  /** Runs the work when all work that was handed in before has ended. */
  runExclusive<T>(work: () => T | Promise<T>): Promise<T>
}

/** Gives work that takes several steps exclusive use of a connection, first come, first served. */
export const createMutex = (): Mutex => {
  let last: Promise<unknown> = Promise.resolve()
  let holders = 0

  return {
    get isLocked() {
      return holders > 0
    },
    async runExclusive(work) {
      holders += 1
      const result = last.then(work)
      last = result.catch(() => {})
      try {
        return await result
      } finally {
        holders -= 1
      }
    },
  }
}
