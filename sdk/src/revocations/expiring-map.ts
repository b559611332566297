/** A map whose values say until when they matter. */
export interface ExpiringMap<Value> extends Map<string, Value> {
  /**
   * Drops what has expired among the next part of the values, about a sixtieth of all: a look at a million at once would
   * hold up the process. They come in no order that could be relied on, since settings of svc change.
   */
  sweep(nowS: number): void
}

const LEAST = 1000
const PARTS = 60

export const createExpiringMap = <Value>(expiryS: (value: Value) => number): ExpiringMap<Value> => {
  const map = new Map<string, Value>()
  let rest = map.entries()
  return Object.assign(map, {
    sweep(nowS: number): void {
      for (let left = Math.max(LEAST, map.size / PARTS); left > 0; left--) {
        const next = rest.next()
        if (next.done) {
          rest = map.entries()
          return
        }
        const [key, value] = next.value
        if (expiryS(value) < nowS) map.delete(key)
      }
    },
  })
}
