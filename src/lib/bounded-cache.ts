/** The cache holds values by their keys, and drops the ones that nobody asks for. */
export interface BoundedCache<Value> {
  get(key: string): Value | undefined
  set(key: string, value: Value): void
  delete(key: string): void
  clear(): void
}

/**
 * Creates a cache that keeps the `keptEntries` entries that were used last, and holds at most twice as many: an older
 * and a younger generation. An entry that is used joins the younger one. When that one is full, it becomes the older
 * one, and the entries that nobody has used since the last time are dropped at once.
 */
export const createBoundedCache = <Value>(keptEntries: number): BoundedCache<Value> => {
  let younger = new Map<string, Value>()
  let older = new Map<string, Value>()

  const add = (key: string, value: Value): void => {
    if (younger.size >= keptEntries && !younger.has(key)) {
      older = younger
      younger = new Map()
    }
    younger.set(key, value)
  }

  return {
    get(key) {
      const value = younger.get(key)
      if (value !== undefined) return value
      const spared = older.get(key)
      if (spared !== undefined) add(key, spared)
      return spared
    },
    set: add,
    delete(key) {
      younger.delete(key)
      older.delete(key)
    },
    clear() {
      younger = new Map()
      older = new Map()
    },
  }
}
