/** Lets work that spans several steps have a connection to itself, in order of arrival. */
export const createTurns = () => {
  let last: Promise<unknown> = Promise.resolve()
  let taken = 0

  return {
    /** Somebody has the connection or waits for it. */
    get taken(): boolean {
      return taken > 0
    },
    async take<T>(work: () => T | Promise<T>): Promise<T> {
      taken += 1
      const turn = last.then(work)
      last = turn.catch(() => {})
      try {
        return await turn
      } finally {
        taken -= 1
      }
    },
  }
}
