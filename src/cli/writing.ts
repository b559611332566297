import { rmSync } from 'node:fs'
import { openNewFile } from './new-file.ts'
import { print } from './terminal/output.ts'

/** Writes text; resolves when more can be written. */
type Write = (text: string) => Promise<void>

/** Gives `work` what it writes with: standard output, or a file, which is removed if it does not get complete. */
export const writing = async <T>(name: string | undefined, work: (write: Write) => Promise<T>): Promise<T> => {
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
