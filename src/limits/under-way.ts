import type { CountedRow } from './counter-store.ts'

/**
 * Knows the tries of this process that are under way. Most of them succeed, and then count no longer: a client that is
 * refused because of them may come back soon.
 */
export const createUnderWay = () => {
  const counts = new Map<string, number>()
  const takenBack = new Map<string, Promise<unknown>>()

  const add = (id: string, change: 1 | -1): void => {
    const count = (counts.get(id) ?? 0) + change
    if (count > 0) counts.set(id, count)
    else counts.delete(id)
  }

  const waitFor = (id: string, done: Promise<void>): void => {
    const all = Promise.all([takenBack.get(id), done]).finally(() => {
      if (takenBack.get(id) === all) takenBack.delete(id)
    })
    takenBack.set(id, all)
  }

  return {
    /**
     * Counts the tries under way before the counts of the database are read. The function that it returns tells
     * afterwards how many were under way in between: a try that has ended since is in one of the two counts.
     */
    watch(): (id: string) => number {
      const before = new Map(counts)
      return (id) => Math.max(before.get(id) ?? 0, counts.get(id) ?? 0)
    },
    enter(rows: readonly CountedRow[]): void {
      for (const { id } of rows) add(id, 1)
    },
    /**
     * Ends a try. If it is being taken back, it stays under way until then, and the next tries that count there wait.
     */
    leave(rows: readonly CountedRow[], done: Promise<void> | undefined): void {
      const end = (): void => {
        for (const { id } of rows) add(id, -1)
      }
      if (!done) return end()
      const ended = done.finally(end)
      for (const { id } of rows) waitFor(id, ended)
    },
    /** Resolves when every try in these rows that is being taken back has been. */
    settled(ids: readonly string[]): Promise<unknown> | undefined {
      if (takenBack.size === 0) return undefined
      const awaited = ids.flatMap((id) => takenBack.get(id) ?? [])
      return awaited.length === 0 ? undefined : Promise.all(awaited)
    },
  }
}
