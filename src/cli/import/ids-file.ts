import { once } from 'node:events'
import { createWriteStream, existsSync, realpathSync, renameSync, rmSync } from 'node:fs'
import { finished } from 'node:stream/promises'
import { AppError } from '../../lib/errors.ts'

interface Entry {
  number: number
  sourceId: string | undefined
  id: string
}

/** The file that tells which id each user has got. It replaces an earlier one when it is complete. */
export interface IdsFile {
  add(entry: Entry): Promise<void>
  finish(): Promise<void>
  /** Leaves the earlier file as it is, unless this one is finished. */
  discard(): void
}

/** `conflict` when it is the file that is imported. */
export const openIdsFile = async (name: string, source: string): Promise<IdsFile> => {
  if (existsSync(name) && existsSync(source) && realpathSync(name) === realpathSync(source)) {
    throw new AppError('conflict', `--ids ${name} is the file that is imported`)
  }
  const partial = `${name}.partial`
  const stream = createWriteStream(partial, { mode: 0o600 })
  try {
    await once(stream, 'open')
  } catch (error) {
    throw new AppError('not_found', `--ids ${name} cannot be written (${(error as NodeJS.ErrnoException).code})`)
  }
  return {
    async add({ number, sourceId, id }) {
      const line = `${JSON.stringify({ line: number, source_id: sourceId ?? null, id })}\n`
      if (!stream.write(line)) await once(stream, 'drain')
    },
    async finish() {
      stream.end()
      await finished(stream)
      renameSync(partial, name)
    },
    discard() {
      stream.destroy()
      rmSync(partial, { force: true })
    },
  }
}
