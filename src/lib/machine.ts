import { statfsSync } from 'node:fs'
import { totalmem } from 'node:os'
import { dirname, resolve } from 'node:path'

/**
 * Finds the memory that this process may use, in bytes: that of its container, if it has a limit, otherwise all there
 * is.
 */
export const memoryOfMachine = (): number =>
  // If there is no limit, the constraint is 0 or more than there is.
  Math.min(process.constrainedMemory() || Number.POSITIVE_INFINITY, totalmem())

export const toMiB = (bytes: number): number => Math.ceil(bytes / 2 ** 20)

/** This is the folder of a file, or the nearest one that exists, and the bytes that are left in it. */
export interface FreeSpace {
  folder: string
  bytes: number
}

/** Asks the file system of a file, or of the nearest folder above it that exists; returns undefined if none says. */
export const findFreeSpace = (file: string): FreeSpace | undefined => {
  const folder = dirname(resolve(file))
  try {
    const { bavail, bsize } = statfsSync(folder)
    return { folder, bytes: bavail * bsize }
  } catch {
    return folder === dirname(folder) ? undefined : findFreeSpace(folder)
  }
}
