import { existsSync, realpathSync, rmSync, statSync } from 'node:fs'
import { rename } from 'node:fs/promises'
import { AppError } from '../../lib/errors.ts'
import { openNewFile } from '../new-file.ts'

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
  discard(): Promise<void>
}

const CHUNK_LENGTH = 65_536

/** `conflict` when it is the file that is imported, or no file. */
export const openIdsFile = async (name: string, source: string): Promise<IdsFile> => {
  if (existsSync(name) && existsSync(source) && realpathSync(name) === realpathSync(source)) {
    throw new AppError('conflict', `--ids ${name} is the file that is imported`)
  }
  if (existsSync(name) && !statSync(name).isFile()) throw new AppError('conflict', `--ids ${name} is no file`)
  const partial = `${name}.partial`
  // What a killed run has left.
  rmSync(partial, { force: true })
  const file = await openNewFile(partial)
  let text = ''
  return {
    async add({ number, sourceId, id }) {
      text += `${JSON.stringify({ line: number, source_id: sourceId ?? null, id })}\n`
      if (text.length < CHUNK_LENGTH) return
      await file.write(text)
      text = ''
    },
    async finish() {
      await file.write(text)
      await file.close()
      await rename(partial, name)
    },
    async discard() {
      await file.close()
      rmSync(partial, { force: true })
    },
  }
}
