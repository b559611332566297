import { randomBytes } from 'node:crypto'

const ID_BYTES = 10
const ID_LENGTH = 2 * ID_BYTES
/** One call for random bytes serves this many ids: a call for each would be most of the cost of an id. */
const IDS_AT_ONCE = 256

/** Makes random ids: they reveal neither other ids nor the number of requests. */
export const createRequestIds = (): (() => string) => {
  let pool = ''
  let used = 0
  return () => {
    if (used === pool.length) {
      pool = randomBytes(ID_BYTES * IDS_AT_ONCE).toString('hex')
      used = 0
    }
    used += ID_LENGTH
    return pool.slice(used - ID_LENGTH, used)
  }
}
