interface Entry<Value> {
  value: Value
  /** Whether it was asked for since it was added, or since it was last spared. */
  isUsed: boolean
}

/** Values by their keys, of which those that nobody asks for are dropped. */
export interface BoundedCache<Value> {
  get(key: string): Value | undefined
  set(key: string, value: Value): void
  delete(key: string): void
  clear(): void
}

/**
 * A cache of at most `maxEntries`. To make room, it goes round the entries, oldest first, drops the first one that was
 * not used since the last round, and spares the others once ("second chance", or CLOCK). It finds as much as a cache
 * that drops the least recently used entry, and a lookup only sets a flag.
 */
export const createBoundedCache = <Value>(maxEntries: number): BoundedCache<Value> => {
  const entries = new Map<string, Entry<Value>>()
  // Kept from one eviction to the next. It also comes to the entries that are added during its round.
  let round = entries.entries()

  const evictOne = (): void => {
    for (;;) {
      for (const [key, entry] of round) {
        entries.delete(key)
        if (!entry.isUsed) return
        entry.isUsed = false
        entries.set(key, entry)
      }
      round = entries.entries()
    }
  }

  return {
    get(key) {
      const entry = entries.get(key)
      if (entry === undefined) return undefined
      entry.isUsed = true
      return entry.value
    },
    set(key, value) {
      const entry = entries.get(key)
      if (entry) {
        entry.value = value
        return
      }
      if (entries.size >= maxEntries) evictOne()
      entries.set(key, { value, isUsed: false })
    },
    delete: (key) => void entries.delete(key),
    clear: () => entries.clear(),
  }
}
