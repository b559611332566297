import { rmSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { AppError } from '../../lib/errors.ts'
import { print } from './output.ts'

/** Only its owner can read the file, which is written piece by piece. */
export interface NewFile {
  write(text: string): Promise<void>
  /** It can be called again. */
  close(): Promise<void>
}

/** Creates a file; `conflict` when there is one, `unavailable` when it cannot be written, then and later. */
export const openNewFile = async (name: string): Promise<NewFile> => {
  const refuse = (error: unknown): never => {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'EEXIST') throw new AppError('conflict', `${name} already exists`)
    throw new AppError('unavailable', `${name} cannot be written (${code})`)
  }
  const handle = await open(name, 'wx', 0o600).catch(refuse)
  return { write: (text) => handle.writeFile(text).catch(refuse), close: () => handle.close() }
}

/** Calls `work` with a function that writes to standard output, or to a new file, which an error removes again. */
export const writing = async <T>(
  name: string | undefined,
  work: (write: NewFile['write']) => Promise<T>,
): Promise<T> => {
  if (name === undefined) return work(print)
  const file = await openNewFile(name)
  try {
    return await work(file.write)
  } catch (error) {
    rmSync(name, { force: true })
    throw error
  } finally {
    await file.close()
  }
}
