/** Lets work that spans several steps have a connection to itself, in order of arrival. */
export const createMutex = () => {
  let last: Promise<unknown> = Promise.resolve()
  let isLocked = 0

  return {
    /** Somebody has the connection or waits for it. */
    get taken(): boolean {
      return isLocked > 0
    },
    async runExclusive<T>(work: () => T | Promise<T>): Promise<T> {
      isLocked += 1
      const turn = last.then(work)
      last = turn.catch(() => {})
      try {
        return await turn
      } finally {
        isLocked -= 1
      }
    },
  }
}
