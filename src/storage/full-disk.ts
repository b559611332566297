import { AppError } from '../lib/errors.ts'
import { findFreeSpace } from '../lib/machine.ts'

/** With less, SQLite cannot even begin a log; it then says that the disk cannot be read. */
const FULL_BYTES = 2 ** 20

/** Does work with a database file; `unavailable` with the name of the disk where it fails because that is full. */
export const orNameDisk = async <T>(file: string, work: () => Promise<T>): Promise<T> => {
  try {
    return await work()
  } catch (error) {
    if (error instanceof AppError && error.code !== 'unavailable') throw error
    const space = findFreeSpace(file)
    if (space === undefined || space.bytes >= FULL_BYTES) throw error
    const left = `${Math.floor(space.bytes / 1024)} KB are left in ${space.folder}`
    throw new AppError('unavailable', `The disk is full: ${left}. Free some space.`, { cause: error })
  }
}
