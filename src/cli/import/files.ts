import { existsSync, realpathSync, rmSync, statSync } from 'node:fs'
import { open, rename } from 'node:fs/promises'
import { AppError } from '../../lib/errors.ts'
import { openNewFile } from '../terminal/output-file.ts'

const STANDARD_INPUT = '-'

/** Opens a file; `not_found` when it cannot be read. `-` is standard input, whose `bytes` nobody knows before the end. */
export const openImportFile = async (name: string) => {
  if (name === STANDARD_INPUT) return sourceOf(process.stdin, undefined, 'standard input')
  try {
    const handle = await open(name)
    const { size } = await handle.stat()
    return sourceOf(handle.createReadStream(), size, name)
  } catch (error) {
    throw unreadable(name, error)
  }
}

const sourceOf = (stream: AsyncIterable<Buffer>, bytes: number | undefined, name: string) => {
  let read = 0
  async function* counted(): AsyncGenerator<Buffer> {
    for await (const chunk of orUnreadable(stream, name)) {
      if (read === 0) requireText(chunk, name)
      read += chunk.length
      yield chunk
    }
  }
  return { chunks: counted(), bytes, bytesRead: () => read }
}

async function* orUnreadable(stream: AsyncIterable<Buffer>, name: string): AsyncGenerator<Buffer> {
  try {
    yield* stream
  } catch (error) {
    throw unreadable(name, error)
  }
}

const unreadable = (name: string, error: unknown): AppError =>
  new AppError('not_found', `${name} cannot be read (${(error as NodeJS.ErrnoException).code})`)

/** Refuses a file that would give one error for each line. */
const requireText = (start: Buffer, name: string): void => {
  const [first, second] = start
  if (first === 0x1f && second === 0x8b) {
    throw new AppError('invalid_request', `${name} is compressed: use gunzip -c FILE | svc users import -`)
  }
  if ((first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff)) {
    throw new AppError('invalid_request', `${name} is UTF-16: save it as UTF-8`)
  }
}

/** The file tells which id each user has got. It replaces an earlier one when it is complete. */
export interface IdsFile {
  add(entry: { number: number; sourceId: string | undefined; id: string }): Promise<void>
  finish(): Promise<void>
  /** Leaves the earlier file as it is, unless this one is finished. */
  discard(): Promise<void>
}

const CHUNK_LENGTH = 65_536

/** Throws `conflict` when the name is that of the imported file, or of no file. */
export const openIdsFile = async (name: string, source: string): Promise<IdsFile> => {
  if (existsSync(name) && existsSync(source) && realpathSync(name) === realpathSync(source)) {
    throw new AppError('conflict', `--ids ${name} is the file that is imported`)
  }
  if (existsSync(name) && !statSync(name).isFile()) throw new AppError('conflict', `--ids ${name} is no file`)
  const partial = `${name}.partial`
  // A killed run may have left one.
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
