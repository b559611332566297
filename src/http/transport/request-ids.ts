import { randomFillSync } from 'node:crypto'

const ID_BYTES = 10
/** Random bytes are taken for so many ids at once: asking the system for each would be most of what an id costs. */
const IDS_AT_ONCE = 256

/** Random ids: one tells nothing about another, nor how many requests there were. */
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
