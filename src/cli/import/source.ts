import { open } from 'node:fs/promises'
import { AppError } from '../../lib/errors.ts'

/** The file of an import, or standard input. */
export interface Source {
  chunks: AsyncIterable<Buffer>
  /** Undefined where nobody knows it before the end. */
  bytes: number | undefined
  /** How much of it was read so far. */
  bytesRead(): number
}

const STANDARD_INPUT = '-'

/** Opens a file; `not_found` when it cannot be read. `-` is standard input. */
export const openImportFile = async (name: string): Promise<Source> => {
  if (name === STANDARD_INPUT) return sourceOf(process.stdin, undefined, 'standard input')
  try {
    const handle = await open(name)
    const { size } = await handle.stat()
    return sourceOf(handle.createReadStream(), size, name)
  } catch (error) {
    throw unreadable(name, error)
  }
}

const sourceOf = (stream: AsyncIterable<Buffer>, bytes: number | undefined, name: string): Source => {
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

/** Refuses what would be one error for each line. */
const requireText = (start: Buffer, name: string): void => {
  const [first, second] = start
  if (first === 0x1f && second === 0x8b) {
    throw new AppError('invalid_request', `${name} is compressed: use gunzip -c FILE | svc users import -`)
  }
  if ((first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff)) {
    throw new AppError('invalid_request', `${name} is UTF-16: save it as UTF-8`)
  }
}
