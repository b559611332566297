import type { CountedRow } from './counter-store.ts'

/**
 * What the tries of this process are about to change. Of tries under way most succeed, and then count no longer: who is
 * refused because of them may come back soon.
 */
export interface UnderWay {
  /**
   * Looks, before the counts of the database are read, and gives what tells after it how many tries that counted there
   * were under way while they were read: those that end in between are in the one count or in the other.
   */
  watch(): (id: string) => number
  enter(rows: readonly CountedRow[]): void
  /**
   * What takes the try back, if anything, is waited for by the next tries that count there; the try is under way until
   * then.
   */
  leave(rows: readonly CountedRow[], takenBack: Promise<void> | undefined): void
  /** Resolves when everything that counts in any of these rows, and is to be taken back, has been. */
  settled(ids: readonly string[]): Promise<unknown> | undefined
}

export const createUnderWay = (): UnderWay => {
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
    watch() {
      const before = new Map(counts)
      return (id) => Math.max(before.get(id) ?? 0, counts.get(id) ?? 0)
    },
    enter(rows) {
      for (const { id } of rows) add(id, 1)
    },
    leave(rows, done) {
      const end = (): void => {
        for (const { id } of rows) add(id, -1)
      }
      if (!done) return end()
      const ended = done.finally(end)
      for (const { id } of rows) waitFor(id, ended)
    },
    settled(ids) {
      if (takenBack.size === 0) return undefined
      const awaited = ids.flatMap((id) => takenBack.get(id) ?? [])
      return awaited.length === 0 ? undefined : Promise.all(awaited)
    },
  }
}
