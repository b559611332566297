import { randomFillSync } from 'node:crypto'

const ID_BYTES = 10
/** How many ids one call for random bytes serves: a call for each would be most of the cost of an id. */
const IDS_AT_ONCE = 256

/** Random ids: they reveal neither other ids nor the number of requests. */
export const createRequestIds = (): (() => string) => {
  const pool = Buffer.alloc(ID_BYTES * IDS_AT_ONCE)
  let used = pool.length
  return () => {
    if (used === pool.length) {
      randomFillSync(pool)
      used = 0
    }
    used += ID_BYTES
    return pool.toString('hex', used - ID_BYTES, used)
  }
}
