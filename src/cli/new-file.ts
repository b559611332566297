import { type FileHandle, open } from 'node:fs/promises'
import { AppError } from '../lib/errors.ts'

/** A file that only its owner can read, written piece by piece. */
export interface NewFile {
  write(text: string): Promise<void>
  /** Can be called again. */
  close(): Promise<void>
}

/** Creates a file; `conflict` when there is one, `unavailable` when it cannot be written, then and later. */
export const openNewFile = async (name: string): Promise<NewFile> => {
  const unwritable = (error: unknown): AppError => {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'EEXIST') return new AppError('conflict', `${name} already exists`)
    return new AppError('unavailable', `${name} cannot be written (${code})`)
  }
  let handle: FileHandle | undefined = await open(name, 'wx', 0o600).catch((error: unknown) => {
    throw unwritable(error)
  })
  return {
    async write(text) {
      await handle?.writeFile(text).catch((error: unknown) => {
        throw unwritable(error)
      })
    },
    async close() {
      const closing = handle
      handle = undefined
      await closing?.close()
    },
  }
}
