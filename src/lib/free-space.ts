import { statfsSync } from 'node:fs'
import { dirname, resolve } from 'node:path'

/** Where a file is or would be: the folder that is there, and the bytes that are left for it. */
export interface FreeSpace {
  folder: string
  bytes: number
}

/** Of the file system of a file, or of the nearest folder above it that exists; undefined where none says. */
export const findFreeSpace = (file: string): FreeSpace | undefined => {
  const folder = dirname(resolve(file))
  try {
    const { bavail, bsize } = statfsSync(folder)
    return { folder, bytes: bavail * bsize }
  } catch {
    return folder === dirname(folder) ? undefined : findFreeSpace(folder)
  }
}
