import type { DatabaseSync } from 'node:sqlite'
import { translateSqliteError } from './errors.ts'

/**
 * Where more than a thousand connections have requests, libuv asks the kernel for more of them up to 48 times before it
 * ends the turn of the event loop, which then takes half a second.
 */
const MAX_AGE_MS = 0.5

/**
 * Reads `PRAGMA data_version`, which changes when another connection commits, once in a turn of the event loop. That is
 * enough: requests that are read in one turn were sent before it, so that they see every commit that was acknowledged
 * before any of them was sent. In a long turn, it is read again.
 */
export const createDataVersionReader = (connection: DatabaseSync): (() => number) => {
  const dataVersion = connection.prepare('PRAGMA data_version')
  // An array takes half the time of an object.
  dataVersion.setReturnArrays(true)
  let version: number | undefined
  let readAtMs = 0
  const forget = (): void => {
    version = undefined
  }

  return () => {
    if (version !== undefined && performance.now() - readAtMs < MAX_AGE_MS) return version
    if (version === undefined) setImmediate(forget)
    try {
      version = (dataVersion.get() as unknown as [number])[0]
    } catch (error) {
      throw translateSqliteError(error)
    }
    readAtMs = performance.now()
    return version
  }
}
