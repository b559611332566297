/** A page shows these; older ones are forgotten. */
const MOST = 1000

/** What has arrived, the oldest first. */
export interface Arrivals<T extends { id: string }> {
  all(): readonly T[]
  find(id: string): T | undefined
  /** The id of the last one; empty while there is none. */
  lastId(): string
  add(one: T): void
  clear(): void
}

export const createArrivals = <T extends { id: string }>(onAdd: (one: T) => void): Arrivals<T> => {
  let list: T[] = []
  return {
    all: () => list,
    find: (id) => list.find((one) => one.id === id),
    lastId: () => list.at(-1)?.id ?? '',
    add(one) {
      list = [...list.slice(1 - MOST), one]
      onAdd(one)
    },
    clear() {
      list = []
    },
  }
}
